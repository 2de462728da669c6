//! Partitions of moldable jobs: when they are decided about, and what follows.

use std::collections::BTreeSet;

use dfrs_core::Time;

use super::Agent;
use super::decide::MOST_TRIES;
use crate::cluster::Facts;
use crate::daemons::Daemons;
use crate::ledger::Record;
use crate::life::{Event, Look};
use crate::moldable::speedup::stated;
use crate::moldable::{Memory, Outlook, Turn, decide, reason};
use crate::observation::{Observation, ObservedJob};
use crate::slurm::Slurm;

/// What is known of these partitions between decisions.
#[derive(Debug, Default)]
pub(super) struct Moldable {
    /// Something has happened that may let a job start.
    is_stirred: bool,
    /// What was expected to happen by then, and may not have.
    next: Option<Time>,
    memory: Memory,
    /// What the last decision expects of jobs that wait.
    turn: Turn,
}

impl Moldable {
    /// When there is something to decide about although nothing happens.
    pub(super) fn next(&self) -> Option<Time> {
        self.next
    }

    /// What is expected of this job.
    pub(super) fn outlook(&self, id: u32) -> Option<&Outlook> {
        self.turn.outlook.get(&id)
    }

    fn is_due(&self, now: Time) -> bool {
        self.is_stirred || self.next.is_some_and(|next| next <= now)
    }
}

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Whether this job is of a partition of moldable jobs.
    pub(super) fn is_moldable(&self, job: &ObservedJob) -> bool {
        self.config.moldable(&job.partition).is_some()
    }

    /// Of these jobs, which may start, those that the core decides about. The others are decided about by themselves.
    pub(super) fn leave_to_core(&mut self, submitted: Vec<u32>, seen: &Observation) -> Vec<u32> {
        let moldable = |id: &u32| seen.job(*id).is_some_and(|job| self.is_moldable(job));
        let (moldable, others): (Vec<u32>, Vec<u32>) = submitted.into_iter().partition(moldable);
        if !moldable.is_empty() {
            self.stir_moldable();
        }
        others
    }

    /// There may be room that was not there before.
    pub(super) fn stir_moldable(&mut self) {
        self.moldable.is_stirred = true;
    }

    /// Decides about jobs of partitions of moldable jobs, if anything has happened. Returns how many wait there.
    pub(super) fn decide_about_moldable(&mut self, seen: &Observation, now: Time) -> u32 {
        if !self.moldable.is_due(now) || self.config.moldable_names().is_empty() {
            return 0;
        }
        self.moldable.is_stirred = false;
        let mut tries = 1;
        let turn = loop {
            let facts = Facts {
                config: &self.config,
                swap: &self.swap,
                ready: self.admission.ready(),
                refusals: &self.refusals,
                excluded: &self.excluded,
                weights: self.weights,
                now,
            };
            let turn = decide(seen, &self.ledger, &facts, &self.moldable.memory);
            if self.would_start(&turn.jobs(), seen, now) || tries == MOST_TRIES {
                break turn;
            }
            tries += 1;
        };
        let starts = turn.starts.iter();
        self.enter_actions(
            starts.map(|start| (&start.action, start.why.clone())),
            seen,
            now,
        );
        self.expect_moldable(turn, now)
    }

    /// Keeps what is expected of jobs that wait. Returns how many do.
    fn expect_moldable(&mut self, turn: Turn, now: Time) -> u32 {
        let before = &self.moldable.turn.outlook;
        let either: BTreeSet<u32> = before.keys().chain(turn.outlook.keys()).copied().collect();
        let differs = |id: &u32| before.get(id) != turn.outlook.get(id);
        let different = either.into_iter().filter(differs);
        self.lists.unexplained.extend(different);
        self.moldable.memory.keep(&turn, now);
        self.moldable.next = turn.next(now);
        let waiting = u32::try_from(turn.outlook.len()).unwrap_or(u32::MAX);
        self.moldable.turn = turn;
        waiting
    }

    /// What a job of these partitions waits for, as far as the last decision says.
    pub(super) fn why_moldable_waits(&self, job: &ObservedJob, record: &Record) -> Option<String> {
        let waits = record.life.is_waiting() && self.is_moldable(job);
        let outlook = self.moldable.outlook(job.id).filter(|_| waits)?;
        Some(reason(outlook, |time| self.ahead.wall(time), self.looked))
    }

    /// What else there is to say of a job of these partitions.
    pub(super) fn moldable_notes(&self, job: &ObservedJob, notes: &mut Vec<String>) {
        if !self.is_moldable(job) {
            return;
        }
        notes.push(
            "its partition has whole nodes (Policy=DEMT): it is never paused or moved".to_owned(),
        );
        if let Err(word) = stated(&job.comment) {
            let word: String = word.chars().take(80).collect();
            notes.push(format!(
                "its comment says '{word}', which is no speedup: it counts as if it said nothing"
            ));
        }
    }

    /// Jobs of these partitions that are parked, or are to give up their places, come back or stay: their partition had
    /// another policy before.
    pub(super) fn hand_back_moldable(&mut self, seen: &Observation, now: Time) {
        if self.config.moldable_names().is_empty() {
            return;
        }
        for id in self.lists.steps() {
            let Some(job) = seen.job(id).filter(|job| self.is_moldable(job)) else {
                continue;
            };
            let record = self.ledger.get(id);
            if !record.is_some_and(|record| record.life.can_be_called_off()) {
                continue;
            }
            let look = Look::new(job, seen, &self.config, now);
            if let Some(record) = self.ledger.get_mut(id) {
                record.on(&Event::HandedBack, &look);
            }
        }
    }
}
