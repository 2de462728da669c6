//! Writing traces, so that [`read()`](super::read()) gives the same jobs back.

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};
use std::io::{self, Write};

use super::{Trace, TraceJob, csv};

/// Writes the trace as CSV, with its header: `limit`, `mobility` and `gpus` are there if some job says them. Nothing is
/// rounded.
///
/// # Errors
///
/// The errors of `output`.
pub fn write_csv(trace: &Trace, output: &mut impl Write) -> io::Result<()> {
    let has = |is_given: fn(&TraceJob) -> bool| trace.jobs.iter().any(is_given);
    let limits = has(|job| job.estimate.is_some());
    let mobilities = has(|job| job.declared_mobility.is_some());
    let gpus = trace.has_gpus();
    writeln!(output, "{}", csv::header_with([limits, mobilities, gpus]))?;
    for job in &trace.jobs {
        let submit = Decimal::new(job.submit.0.unsigned_abs(), 6);
        let runtime = Decimal::new(job.runtime.0.unsigned_abs(), 6);
        let (cpu, memory) = (Decimal::new(job.cpu.0, 6), Decimal::new(job.memory.0, 12));
        let (id, tasks) = (quoted(&job.id), job.tasks);
        write!(output, "{id},{submit},{tasks},{cpu},{memory},{runtime}")?;
        if limits {
            let limit = job
                .estimate
                .map(|limit| Decimal::new(limit.0.unsigned_abs(), 6));
            write!(output, ",{}", or_nothing(limit))?;
        }
        if mobilities {
            write!(output, ",{}", or_nothing(job.declared_mobility))?;
        }
        if gpus {
            write!(output, ",{}", Decimal::new(job.gpus.0, 6))?;
        }
        writeln!(output)?;
    }
    Ok(())
}

fn or_nothing(value: Option<impl Display>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

/// An id as it is read again: one that would make its line a comment is in quotes.
fn quoted(id: &str) -> Cow<'_, str> {
    match id.starts_with(['#', ';']) {
        true => format!("\"{id}\"").into(),
        false => id.into(),
    }
}

/// A number of parts, ten to the power of `digits` to one, as the shortest decimal.
struct Decimal {
    parts: u64,
    digits: usize,
}

impl Decimal {
    fn new(parts: u64, digits: usize) -> Self {
        Self { parts, digits }
    }
}

impl Display for Decimal {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let one = 10u64.pow(u32::try_from(self.digits).unwrap_or(0));
        write!(formatter, "{}", self.parts / one)?;
        match self.parts % one {
            0 => Ok(()),
            rest => {
                let text = format!("{rest:0digits$}", digits = self.digits);
                write!(formatter, ".{}", text.trim_end_matches('0'))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Decimal;

    #[test]
    fn decimals_are_exact_and_short() {
        let shown = |parts, digits| Decimal::new(parts, digits).to_string();
        assert_eq!(shown(0, 6), "0");
        assert_eq!(shown(12_000_000, 6), "12");
        assert_eq!(shown(250_000, 6), "0.25");
        assert_eq!(shown(1_000_001, 6), "1.000001");
        assert_eq!(shown(100_000_000_000, 12), "0.1");
        assert_eq!(shown(u64::MAX, 12), "18446744.073709551615");
    }
}
