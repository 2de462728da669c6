//! How much work a trace offers for its length, and traces that offer more or less.

use dfrs_core::{Span, Time};

use crate::trace::{MAX_SECONDS, Trace};

/// Why a trace cannot have this load.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum LoadError {
    /// The load is none.
    #[error("the load is {0}, allowed are numbers above 0, for example 0.7")]
    NoLoad(f64),
    /// There are no gaps that could be changed.
    #[error("all jobs are submitted at once or run for 0 s; such a trace has no load to change")]
    NoGaps,
    /// The last submission is beyond what traces may name.
    #[error(
        "at a load of {load:?} the last job would be submitted after {seconds} s; use a higher load"
    )]
    TooLong {
        /// The load requested.
        load: f64,
        /// What is allowed.
        seconds: i64,
    },
}

/// The offered load: run times times numbers of tasks, over the number of nodes times the time from
/// the first to the last submission. As usual for batch schedulers, a task counts as a node whatever
/// CPU it needs. `None` if all jobs are submitted at once.
pub fn offered_load(trace: &Trace, nodes: u32) -> Option<f64> {
    let span = length(trace);
    if span <= Span::ZERO {
        return None;
    }
    let seconds: f64 = trace
        .jobs
        .iter()
        .map(|job| job.runtime.seconds() * f64::from(job.tasks))
        .sum();
    Some(seconds / (f64::from(nodes) * span.seconds()))
}

/// Multiplies the time between any two submissions by the same number, so that the trace offers this load
/// (TPDS 2012, Section 5: the scaled synthetic traces). The first submission stays where it is. Times are
/// rounded to the microsecond.
///
/// # Errors
///
/// See [`LoadError`].
pub fn scale_to_load(trace: &mut Trace, nodes: u32, load: f64) -> Result<(), LoadError> {
    if !(load.is_finite() && load > 0.0) {
        return Err(LoadError::NoLoad(load));
    }
    let now = offered_load(trace, nodes).filter(|now| *now > 0.0);
    let factor = now.ok_or(LoadError::NoGaps)? / load;
    let first = trace.jobs.first().map_or(Time::default(), |job| job.submit);
    // Precise enough: microseconds of a trace.
    let scaled = |time: Time| (time.since(first).0 as f64 * factor).round() + first.0 as f64;
    let last = trace.jobs.last().map_or(first, |job| job.submit);
    if scaled(last) > MAX_SECONDS as f64 * 1e6 {
        let seconds = MAX_SECONDS;
        return Err(LoadError::TooLong { load, seconds });
    }
    for job in &mut trace.jobs {
        #[allow(clippy::cast_possible_truncation)] // in range, as just checked
        let submit = scaled(job.submit) as i64;
        job.submit = Time(submit);
    }
    Ok(())
}

fn length(trace: &Trace) -> Span {
    match (trace.jobs.first(), trace.jobs.last()) {
        (Some(first), Some(last)) => last.submit.since(first.submit),
        _ => Span::ZERO,
    }
}
