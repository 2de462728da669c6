//! Time limits that users gave their jobs, and which of them are invalid.

use std::fmt::Display;

use dfrs_core::Span;

use super::TraceJob;
use super::bad_line::BadLine;
use super::decimal::scaled;
use super::values::seconds_of;

/// A job as its line has it.
pub(super) struct JobLine {
    pub job: TraceJob,
    /// Why its limit is invalid, if there is one and it is taken as unknown.
    pub invalid_limit: Option<String>,
}

impl From<TraceJob> for JobLine {
    fn from(job: TraceJob) -> Self {
        Self {
            job,
            invalid_limit: None,
        }
    }
}

impl JobLine {
    /// The job with what its line says of its limit. Few schedulers use limits, so an invalid one
    /// costs no job.
    pub fn with_limit(job: TraceJob, limit: Result<Option<Span>, String>) -> Self {
        let (estimate, invalid_limit) = match limit {
            Ok(estimate) => (estimate, None),
            Err(what) => (None, Some(what)),
        };
        Self {
            job: TraceJob { estimate, ..job },
            invalid_limit,
        }
    }
}

/// A limit in seconds; 0 and less is unknown.
pub(super) fn estimate_of(text: &[u8], what: impl Display) -> Result<Option<Span>, String> {
    match scaled(text, 6) {
        Some(microseconds) if microseconds <= 0 => Ok(None),
        _ => seconds_of(text, what).map(|microseconds| Some(Span(microseconds))),
    }
}

/// Invalid limits. Their jobs are there, without a limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InvalidLimits {
    /// How many.
    pub count: usize,
    /// The first of them.
    pub first: Option<BadLine>,
}

impl InvalidLimits {
    /// Counts one.
    pub(super) fn add(&mut self, bad: BadLine) {
        self.count += 1;
        self.first.get_or_insert(bad);
    }

    /// What people should know about them; none if there are none.
    pub fn note(&self) -> Option<String> {
        let first = self.first.as_ref()?;
        let count = self.count;
        Some(format!(
            "time limits that make no sense, taken as unknown: {count}; the first: {first}"
        ))
    }
}
