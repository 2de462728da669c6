//! What runs on a machine, and until when.

use std::collections::BTreeSet;

use dfrs_core::{Mapping, Span, Time};

use crate::settings::Estimates;
use crate::trace::TraceJob;

/// The least time that a job is expected to take: with less, several jobs could seem to be on one
/// node at one instant.
const MIN_DURATION: Span = Span(1);

/// What a scheduler knows about the time that jobs take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Durations {
    /// The exact times, or the scheduler uses none: what is expected is not kept apart from what
    /// happens.
    Known,
    /// What these estimates say, at least a microsecond. Jobs can end earlier or later.
    Expected(Estimates),
}

/// The machine and the jobs that run on it.
pub(super) struct Machine<'a> {
    pub jobs: &'a [TraceJob],
    /// The jobs started in this pass, and where they are; `None`: each task on a node of its own,
    /// no matter which.
    pub started: Vec<(usize, Option<Mapping>)>,
    durations: Durations,
    /// Running jobs by their end.
    ends: BTreeSet<(Time, usize)>,
    /// Running jobs by the end that is expected, if that is kept apart; all are later than now.
    expected: BTreeSet<(Time, usize)>,
    /// The start and the expected end of each job that runs and whose end is kept apart.
    times: Vec<(Time, Time)>,
}

impl<'a> Machine<'a> {
    pub fn new(jobs: &'a [TraceJob], durations: Durations) -> Self {
        let kept = match durations {
            Durations::Known => 0,
            Durations::Expected(_) => jobs.len(),
        };
        Self {
            jobs,
            started: Vec::new(),
            durations,
            ends: BTreeSet::new(),
            expected: BTreeSet::new(),
            times: vec![(Time::ZERO, Time::ZERO); kept],
        }
    }

    /// How long the job is expected to run if it starts now.
    pub fn duration(&self, job: usize) -> Span {
        let job = &self.jobs[job];
        match (self.durations, job.estimate) {
            (Durations::Known, _) => job.runtime,
            (Durations::Expected(Estimates::User), Some(estimate)) => estimate.max(MIN_DURATION),
            (Durations::Expected(_), _) => job.runtime.max(MIN_DURATION),
        }
    }

    /// When a job ends, or does not although that was expected.
    pub fn next(&self) -> Option<Time> {
        let ends = [self.ends.first(), self.expected.first()].into_iter();
        ends.flatten().map(|(time, _)| *time).min()
    }

    /// Takes one job that ends now, and when that was expected.
    pub fn take_ended(&mut self, now: Time) -> Option<(usize, Time)> {
        let (_, job) = *self.ends.first().filter(|(end, _)| *end == now)?;
        self.ends.pop_first();
        let expected = match self.durations {
            Durations::Known => now,
            Durations::Expected(_) => self.times[job].1,
        };
        self.expected.remove(&(expected, job));
        Some((job, expected))
    }

    /// Jobs that do not end as expected are taken to need twice the time, from their start. Whether
    /// there are some.
    pub fn extend_overdue(&mut self, now: Time) -> bool {
        let mut any = false;
        while let Some(&(end, job)) = self.expected.first().filter(|(end, _)| *end <= now) {
            self.expected.pop_first();
            let start = self.times[job].0;
            let later = end + (end - start);
            self.times[job].1 = later;
            self.expected.insert((later, job));
            any = true;
        }
        any
    }

    /// Running jobs by the end that is expected.
    pub fn by_expected_end(&self) -> impl Iterator<Item = (Time, usize)> + '_ {
        let jobs = match self.durations {
            Durations::Known => &self.ends,
            Durations::Expected(_) => &self.expected,
        };
        jobs.iter().copied()
    }

    /// The job runs from now on.
    pub fn start(&mut self, now: Time, job: usize, mapping: Option<Mapping>) {
        self.ends.insert((now + self.jobs[job].runtime, job));
        if let Durations::Expected(_) = self.durations {
            let end = now + self.duration(job);
            self.times[job] = (now, end);
            self.expected.insert((end, job));
        }
        self.started.push((job, mapping));
    }
}
