//! CPU demanded and used over time, from the events of a journal.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::{Span, Time};
use dfrs_proto::journal::{EventKind, JournalEvent};

/// From this time on until the next step, in nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UtilizationStep {
    /// Since when.
    pub time: Time,
    /// The sum of the CPU needs of the jobs in the system, at most all nodes (TPDS, Section 5.3.1).
    pub demand: f64,
    /// What they use to make progress. Jobs that hold their place and stall use nothing.
    pub used: f64,
    /// What is allocated to jobs that stall: they came back or moved, and make no progress yet.
    pub stalled: f64,
}

/// What of a job matters.
#[derive(Debug, Default)]
struct JobLoad {
    need: f64,
    share: f64,
    runs: bool,
    stalled_until: Option<Time>,
}

/// Takes the events of a simulation and returns one step after the other. The area between demand and
/// use is the underutilization of the papers.
#[derive(Debug, Default)]
pub struct Utilization {
    capacity: f64,
    jobs: BTreeMap<String, JobLoad>,
    /// The jobs that stall, by the ends of that.
    stalls: BTreeSet<(Time, String)>,
    /// What is now, if it was not yet returned.
    now: Option<Time>,
    last: Option<UtilizationStep>,
}

impl Utilization {
    /// Takes the next event, in time order. Steps that end with it go to `steps`. O(jobs in the
    /// system) for each instant.
    pub fn take(&mut self, event: &JournalEvent, steps: &mut Vec<UtilizationStep>) {
        self.advance(event.t, steps);
        match &event.kind {
            EventKind::Platform { nodes, .. } => {
                self.capacity = nodes.iter().map(|node| node.cpu).sum();
                return;
            }
            EventKind::Submit {
                job, tasks, cpu, ..
            } => {
                let need = f64::from(*tasks) * cpu;
                let state = JobLoad {
                    need,
                    ..JobLoad::default()
                };
                self.jobs.insert(job.clone(), state);
            }
            EventKind::Start { job, .. } => self.place(job, event.t, None),
            EventKind::Resume { job, stall, .. } | EventKind::Migrate { job, stall, .. } => {
                self.place(job, event.t, *stall);
            }
            EventKind::Yield { job, value } => {
                if let Some(job) = self.jobs.get_mut(job) {
                    job.share = *value;
                }
            }
            EventKind::Pause { job, .. } => {
                if let Some(job) = self.jobs.get_mut(job) {
                    job.runs = false;
                }
            }
            EventKind::Finish { job, .. } => {
                self.jobs.remove(job);
            }
            EventKind::Eligible { .. } | EventKind::Refused { .. } | EventKind::Unknown => {}
        }
        self.now = Some(event.t);
    }

    /// Returns what was after the last event.
    pub fn finish(mut self, steps: &mut Vec<UtilizationStep>) {
        self.settle(steps);
    }

    fn place(&mut self, job: &str, now: Time, stall: Option<Span>) {
        let until = stall
            .filter(|stall| *stall > Span::ZERO)
            .map(|stall| now + stall);
        if let Some(state) = self.jobs.get_mut(job) {
            state.runs = true;
            state.stalled_until = until;
            self.stalls
                .extend(until.map(|until| (until, job.to_owned())));
        }
    }

    /// Time goes on to the next event; stalls end on the way.
    fn advance(&mut self, to: Time, steps: &mut Vec<UtilizationStep>) {
        while let Some((until, job)) = self.stalls.pop_first() {
            if until > to {
                self.stalls.insert((until, job));
                break;
            }
            if self.now != Some(until) {
                self.settle(steps);
            }
            if let Some(state) = self.jobs.get_mut(&job)
                && state.stalled_until == Some(until)
            {
                state.stalled_until = None;
                self.now = Some(until);
            }
        }
        if self.now != Some(to) {
            self.settle(steps);
        }
    }

    /// Returns the step that begins now, if it differs from the last one.
    fn settle(&mut self, steps: &mut Vec<UtilizationStep>) {
        let Some(time) = self.now.take() else {
            return;
        };
        let sum = |parts: &mut dyn Iterator<Item = f64>| parts.fold(0.0, |sum, part| sum + part);
        let mut needs = self.jobs.values().map(|job| job.need);
        let allocated = |stalls: bool| {
            let running = self.jobs.values().filter(|job| job.runs);
            let those = running.filter(move |job| job.stalled_until.is_some() == stalls);
            those.map(|job| job.need * job.share)
        };
        let step = UtilizationStep {
            time,
            demand: sum(&mut needs).min(self.capacity),
            used: sum(&mut allocated(false)),
            stalled: sum(&mut allocated(true)),
        };
        let same = |last: &UtilizationStep| {
            (last.demand, last.used, last.stalled) == (step.demand, step.used, step.stalled)
        };
        if !self.last.as_ref().is_some_and(same) {
            steps.push(step);
            self.last = Some(step);
        }
    }
}
