//! Time limits as users give them, for traces that have none.

use dfrs_core::Span;

use crate::mobility::{WHOLE, drawn};
use crate::trace::Trace;

/// The least and the most times its run time that a user takes a job to need.
const MIN_FACTOR: i64 = 1;
const MAX_FACTOR: i64 = 5;

/// What users write, in minutes: a quarter of an hour, an hour, four hours, a day, a week.
const ROUND: [i64; 5] = [15, 60, 4 * 60, 24 * 60, 7 * 24 * 60];

/// Gives each job without an estimate one: its run time times a number from 1 to 5, drawn from the seed and
/// its id alone, and then the next of 15 minutes, 1 hour, 4 hours, 1 day and 1 week; beyond a week what was
/// drawn. O(n).
pub fn round_limits(seed: u64, trace: &mut Trace) {
    for job in &mut trace.jobs {
        if job.estimate.is_some() {
            continue;
        }
        // A stream of its own, apart from that of mobilities.
        let place = i128::from(drawn(seed ^ 0x6c69_6d69_7473, &job.id));
        let whole = i128::from(WHOLE);
        let times = i128::from(MIN_FACTOR) * whole + i128::from(MAX_FACTOR - MIN_FACTOR) * place;
        let wanted = i128::from(job.runtime.0) * times / whole;
        let wanted = Span(i64::try_from(wanted).unwrap_or(i64::MAX));
        let rounded = ROUND
            .into_iter()
            .map(|minutes| Span::from_seconds(60 * minutes));
        let limit = rounded.into_iter().find(|limit| *limit >= wanted);
        job.estimate = Some(limit.unwrap_or(wanted));
    }
}

/// The time limit of a user who does not think about it.
const A_DAY: Span = Span::from_seconds(24 * 3600);

/// Gives such a share of jobs, 0 to 1, a time limit of a day, whatever they need. Which ones
/// follows from the seed and their ids; a job that has it at one share has it at every larger one.
/// O(n).
pub fn false_limits(seed: u64, share: f64, trace: &mut Trace) {
    for job in &mut trace.jobs {
        // A stream of its own, too.
        let place = f64::from(drawn(seed ^ 0x6661_6c73_6500, &job.id));
        if place < share * f64::from(WHOLE) {
            job.estimate = Some(A_DAY);
        }
    }
}
