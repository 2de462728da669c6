//! What a pause or a move costs a job, apart from the papers' flat penalty.

use std::fmt;
use std::str::FromStr;

use dfrs_core::{Bytes, Job, Mapping, Span};

use crate::metrics::NODE_GB;
use crate::trace::{MAX_SECONDS, NODE_MEMORY, scaled};

/// Time in which a job that came back or moved makes no progress: a fixed part, and one that grows
/// with the memory that has to be written and read on each of its nodes (which work side by side).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cost {
    /// Whatever its memory is. Not negative.
    pub fixed: Span,
    /// For each GB of memory on the node that has the most of the job, [`NODE_GB`] being a whole
    /// node's. Not negative.
    pub per_gigabyte: Span,
}

impl Cost {
    /// A cost that is the same for all jobs, as the papers' penalty.
    pub const fn flat(fixed: Span) -> Self {
        Self {
            fixed,
            per_gigabyte: Span::ZERO,
        }
    }

    /// The cost of bringing this job to these nodes, rounded up to a microsecond. O(runs).
    pub fn of(&self, job: &Job, mapping: &Mapping) -> Span {
        if self.per_gigabyte == Span::ZERO {
            return self.fixed;
        }
        let max_memory = mapping
            .iter()
            .map(|run| job.memory_of(run))
            .max()
            .unwrap_or(Bytes::ZERO);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 8
        let gigabytes = u128::from(max_memory.0) * NODE_GB as u128;
        let time = gigabytes * u128::from(self.per_gigabyte.0.unsigned_abs());
        let time = time.div_ceil(u128::from(NODE_MEMORY.0));
        self.fixed + Span(i64::try_from(time).unwrap_or(i64::MAX))
    }
}

impl FromStr for Cost {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let seconds = |part: &str| {
            scaled(part.trim().as_bytes(), 6)
                .filter(|time| (0..=MAX_SECONDS * 1_000_000).contains(time))
                .map(Span)
        };
        let per_gigabyte = |part: &str| {
            let (rate, unit) = part.split_once('/')?;
            unit.trim().eq_ignore_ascii_case("GB").then_some(())?;
            seconds(rate)
        };
        let found = match text.split_once('+') {
            Some((fixed, rate)) => seconds(fixed).zip(per_gigabyte(rate)),
            None => seconds(text)
                .map(|fixed| (fixed, Span::ZERO))
                .or_else(|| Some((Span::ZERO, per_gigabyte(text)?))),
        };
        let (fixed, per_gigabyte) = found.ok_or_else(|| {
            format!(
                "{text:?} is no cost; allowed are seconds (30), seconds for each GB of memory on a node (2/GB), \
                 or both (30+2/GB), each from 0 to {MAX_SECONDS}"
            )
        })?;
        Ok(Self {
            fixed,
            per_gigabyte,
        })
    }
}

impl fmt::Display for Cost {
    /// Writes the cost in the form in which it is read.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.fixed.seconds())?;
        if self.per_gigabyte != Span::ZERO {
            write!(formatter, "+{}/GB", self.per_gigabyte.seconds())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dfrs_core::{JobId, NodeIndex, Time};

    #[test]
    fn costs_are_read_and_printed() {
        for text in ["0", "300", "0.5", "30+2/GB", "0+1.5/GB"] {
            assert_eq!(text.parse::<Cost>().expect("a cost").to_string(), text);
        }
        assert_eq!("2/gb".parse(), "0 + 2 / GB".parse::<Cost>());
        for text in [
            "", "-1", "x", "1/MB", "2/GB+30", "1+", "+1", "1+2", "1e300", "1/GB/GB",
        ] {
            let error = text.parse::<Cost>().unwrap_err().to_string();
            assert!(
                error.contains("30+2/GB") && !error.contains('\n'),
                "{error}"
            );
        }
    }

    #[test]
    fn cost_is_that_of_the_node_with_the_largest_memory() {
        // A quarter of a node, 2 GB, for each task.
        let memory = Bytes(NODE_MEMORY.0 / 4);
        let job = Job::new(JobId(1), Time(0), 4, dfrs_core::Cores(1), memory);
        let cost: Cost = "30+10/GB".parse().expect("a cost");
        let on = |nodes: [u32; 4]| cost.of(&job, &Mapping::from_tasks(nodes.map(NodeIndex)));
        assert_eq!(on([0, 1, 2, 3]), Span::from_seconds(30 + 20));
        assert_eq!(on([0, 1, 1, 1]), Span::from_seconds(30 + 60));
        assert_eq!(Cost::flat(Span(7)).of(&job, &Mapping::default()), Span(7));
    }
}
