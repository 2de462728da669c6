//! What a simulation returns.

use std::time::Duration;

use dfrs_core::{Span, Time};

/// What became of one job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobRecord {
    /// When it started first.
    pub start: Time,
    /// When it completed.
    pub finish: Time,
    /// How often it gave up its place.
    pub pauses: u32,
    /// How often it changed its place while it ran.
    pub migrations: u32,
    /// How many tasks changed nodes in these migrations.
    pub migrated_tasks: u64,
    /// Dedicated run time that it could have done with the CPU that it held while it made no progress,
    /// after pauses and migrations.
    pub stalled: Span,
    /// How long it was held back while it was taken to need less than it requested, how often, and
    /// how long at most.
    pub held_back: Span,
    /// See `held_back`.
    pub times_held_back: u32,
    /// See `held_back`.
    pub longest_held_back: Span,
}

/// How long decisions took on this machine: those of one instant together, and the yields that follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DecisionTimes {
    /// How many instants had one or more.
    pub count: u64,
    /// All together.
    pub sum: Duration,
    /// The longest.
    pub longest: Duration,
}

impl DecisionTimes {
    /// One more.
    pub fn add(&mut self, time: Duration) {
        self.count += 1;
        self.sum += time;
        self.longest = self.longest.max(time);
    }
}

/// What a simulation returns: all of it follows from the input, but for the time that decisions took.
#[derive(Clone, Debug, Default)]
pub struct SimOutcome {
    /// One record for each job of the trace, in its order.
    pub jobs: Vec<JobRecord>,
    /// How long decisions took.
    pub decisions: DecisionTimes,
}

impl SimOutcome {
    /// Of a trace of so many jobs, before the first is submitted.
    pub(crate) fn of_jobs(count: usize) -> Self {
        Self {
            jobs: vec![JobRecord::default(); count],
            ..Self::default()
        }
    }
}
