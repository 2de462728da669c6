//! What jobs use of the CPU that they requested: traces do not say, so it is drawn.

use dfrs_core::Span;

use crate::mobility::{WHOLE, drawn};
use crate::trace::Trace;

/// A job has at most so many phases.
const MAX_PHASES: u32 = 4;

/// The shortest phase: shorter ones are not measured.
const MIN_PHASE: Span = Span::from_seconds(1);

/// Gives each job one to four phases, equal parts of its run time, in each of which it can use a part of its
/// CPU need between so many hundredths (1 to 100) and all of it, evenly drawn. It depends on the seed and the job's
/// id alone. With 100, or less than a second to run, a job uses all. O(jobs).
pub fn use_less(seed: u64, least: u8, trace: &mut Trace) {
    let least = u32::from(least.clamp(1, 100));
    for job in &mut trace.jobs {
        job.uses.clear();
        if least == 100 || job.runtime < MIN_PHASE {
            continue;
        }
        // A stream of its own for each number, apart from those of mobilities and limits.
        let drawn =
            |number: u32| drawn(seed ^ (0x0075_7365_0000_0000 + u64::from(number)), &job.id);
        let phases = 1 + part(drawn(0), MAX_PHASES);
        let uses = (1..=phases).map(|phase| least + part(drawn(phase), 101 - least));
        job.uses = uses
            .map(|hundredths| u8::try_from(hundredths).unwrap_or(100))
            .collect();
    }
}

/// One of so many numbers from 0 on, by what was drawn of all.
fn part(drawn: u32, of: u32) -> u32 {
    let place = u64::from(drawn) * u64::from(of) / u64::from(WHOLE);
    u32::try_from(place).unwrap_or(0) // less than `of`
}

#[cfg(test)]
mod tests {
    use dfrs_core::{Bytes, Cores, Time};

    use super::*;
    use crate::trace::TraceJob;

    fn trace(jobs: usize, seconds: i64) -> Trace {
        let job = |id: usize| {
            TraceJob::new(
                id.to_string(),
                Time::ZERO,
                1,
                Cores::from_cores(1),
                Bytes::ZERO,
                Span::from_seconds(seconds),
            )
        };
        Trace {
            jobs: (0..jobs).map(job).collect(),
            ..Trace::default()
        }
    }

    #[test]
    fn phases_and_uses_are_spread_evenly_and_follow_from_the_seed() {
        let mut one = trace(4000, 100);
        use_less(7, 20, &mut one);
        let mut again = trace(4000, 100);
        use_less(7, 20, &mut again);
        assert_eq!(one, again);
        use_less(8, 20, &mut again);
        assert_ne!(one, again);
        for phases in 1..=4 {
            let count = one
                .jobs
                .iter()
                .filter(|job| job.uses.len() == phases)
                .count();
            assert!((850..1150).contains(&count), "{phases}: {count}");
        }
        let all: Vec<f64> = one
            .jobs
            .iter()
            .flat_map(|job| &job.uses)
            .map(|part| f64::from(*part))
            .collect();
        assert!(all.iter().all(|part| (20.0..=100.0).contains(part)));
        // Precise enough: a few thousand.
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        assert!((mean - 60.0).abs() < 1.5, "{mean}");
    }

    #[test]
    fn jobs_are_unchanged_when_use_is_full_or_run_time_zero() {
        let mut all = trace(10, 100);
        use_less(7, 100, &mut all);
        assert_eq!(all, trace(10, 100));
        let mut short = trace(10, 0);
        use_less(7, 1, &mut short);
        assert_eq!(short, trace(10, 0));
    }
}
