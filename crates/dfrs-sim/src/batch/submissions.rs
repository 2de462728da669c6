//! The jobs of a trace at their times of submission. Of jobs that follow on others
//! (`TraceJob::follows`) that time counts, too.

use std::ops::Range;

use dfrs_core::Time;

use super::id;
use crate::error::SimulationError;
use crate::journal::TraceJournal;
use crate::trace::TraceJob;

/// Those that were not submitted yet.
pub(super) struct TraceSubmissions<'a> {
    jobs: &'a [TraceJob],
    next: usize,
}

impl<'a> TraceSubmissions<'a> {
    /// All of these, which are in the order of their submission.
    pub fn of(jobs: &'a [TraceJob]) -> Self {
        Self { jobs, next: 0 }
    }

    /// When the next one is submitted.
    pub fn next(&self) -> Option<Time> {
        self.jobs.get(self.next).map(|job| job.submit)
    }

    /// Takes those that are submitted now, by their positions, and writes them into the journal.
    pub fn take(
        &mut self,
        now: Time,
        journal: &mut TraceJournal<'_>,
    ) -> Result<Range<usize>, SimulationError> {
        let first = self.next;
        while self.next() == Some(now) {
            journal.submit(id(self.next))?;
            self.next += 1;
        }
        Ok(first..self.next)
    }
}
