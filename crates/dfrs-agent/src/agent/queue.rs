//! What there is to decide about: who waits and may start, and what has happened.

use std::collections::BTreeSet;

use dfrs_core::{JobId, Mobility, Time, Trigger};
use dfrs_proto::conf::Mode;

use super::{Agent, SECOND};
use crate::daemons::Daemons;
use crate::ledger::Phase;
use crate::mobility::{is_settling, mobility, settled_at};
use crate::observation::{Observation, ObservedJob, ObservedState};
use crate::slurm::{Level, Slurm};

impl<S: Slurm, D: Daemons> Agent<S, D> {
    pub(super) fn waiting(&self, observation: &Observation) -> u32 {
        let waiting = observation
            .jobs
            .iter()
            .filter(|job| job.state == ObservedState::Pending)
            .count();
        u32::try_from(waiting).unwrap_or(u32::MAX)
    }

    /// Waiting jobs that may start as far as everything but resources is concerned. Each question to
    /// Slurm takes its locks, so jobs that have been asked about are asked about once a second.
    pub(super) fn find_ready(&mut self, observation: &Observation, now: Time) -> BTreeSet<u32> {
        let ask_again = now.0 - self.asked.0 >= SECOND;
        if ask_again {
            self.asked = now;
        }
        let waiting: Vec<u32> = observation
            .jobs
            .iter()
            .filter(|job| job.state == ObservedState::Pending && !job.held && !job.completing)
            .map(|job| job.id)
            .filter(|id| self.waits(*id, now))
            .collect();
        let mut ready = BTreeSet::new();
        for id in waiting {
            let known = !ask_again && self.is_admitted(id);
            let may_start = if known {
                self.ready.contains(&id)
            } else {
                self.config.mode != Mode::Full || self.slurm.may_start(id).is_ok()
            };
            if may_start {
                ready.insert(id);
            }
        }
        self.freed |= ready
            .iter()
            .any(|id| !self.ready.contains(id) && self.is_admitted(*id));
        ready
    }

    /// Whether nothing is planned for this job and nothing keeps it from being planned.
    fn waits(&self, id: u32, now: Time) -> bool {
        self.ledger.jobs.get(&id).is_some_and(|record| {
            matches!(record.phase, Phase::Waiting | Phase::Paused) && record.not_before <= now
        })
    }

    fn is_admitted(&self, id: u32) -> bool {
        self.ledger
            .jobs
            .get(&id)
            .is_some_and(|record| record.admitted)
    }

    /// What happened since the last pass, in the order in which it is decided about.
    pub(super) fn triggers(&mut self, observation: &Observation, now: Time) -> Vec<Trigger> {
        let mut triggers = Vec::new();
        if std::mem::take(&mut self.freed) | self.room_grew(observation) {
            triggers.push(Trigger::Completion);
        }
        let again = self.postponed.again(&self.ready, now);
        let new = self.submissions(observation);
        let settles = self.next_to_settle(observation, now);
        self.postponed
            .add(&new, settles, self.config.settle_time, now);
        triggers.extend(again.into_iter().chain(new).map(submission));
        if let Some(took) = self.remaps.follow(&self.ledger, now) {
            let text = format!(
                "the last remap took {} s to be carried out, the next one waits for that",
                took.0 / SECOND
            );
            self.slurm.log(Level::Info, &text);
        }
        if self.remaps.is_due(now) {
            self.remaps.begin(now, self.config.period);
            triggers.push(Trigger::Period);
        }
        triggers
    }

    /// Nodes came back, grew, or hold less than at the last pass.
    fn room_grew(&mut self, observation: &Observation) -> bool {
        let grew = observation.nodes.iter().any(|node| {
            let before = self.nodes.iter().find(|before| before.name == node.name);
            before.is_none_or(|before| {
                (node.up && !before.up)
                    || node.memory > before.memory
                    || node.allocated_memory < before.allocated_memory
            })
        });
        self.nodes.clone_from(&observation.nodes);
        grew
    }

    /// When the first of the jobs that could be paused, had they run for long enough, has.
    fn next_to_settle(&self, observation: &Observation, now: Time) -> Option<Time> {
        let config = &self.config;
        let settling = observation.jobs.iter().filter(|job| {
            is_settling(job, config, now) && mobility(job, config) != Mobility::Never
        });
        settling.map(|job| settled_at(job, config)).min()
    }

    /// Jobs that may start and that no decision has been about, in the order of their submission.
    fn submissions(&mut self, observation: &Observation) -> Vec<u32> {
        let is_new = |job: &&ObservedJob| self.ready.contains(&job.id) && !self.is_admitted(job.id);
        let mut new: Vec<(i64, u32)> = observation
            .jobs
            .iter()
            .filter(is_new)
            .map(|job| (job.submit_time, job.id))
            .collect();
        new.sort_unstable();
        for (_, id) in &new {
            if let Some(record) = self.ledger.jobs.get_mut(id) {
                record.admitted = true;
            }
        }
        new.into_iter().map(|(_, id)| id).collect()
    }
}

fn submission(id: u32) -> Trigger {
    Trigger::Submission(JobId(u64::from(id)))
}
