//! Partitions of moldable jobs: when they are decided about, and what follows.

use std::collections::BTreeSet;

use dfrs_core::Time;

use crate::changes::ChangeEntry;
use crate::daemons::Daemons;
use crate::job::ledger::LedgerRecord;
use crate::job::life::{JobContext, LifeEvent};
use crate::pass::Agent;
use crate::pass::decide::MAX_TRIES;
use crate::plan::moldable::speedup::parse_comment;
use crate::plan::moldable::{MoldablePlan, Outlook, WaitHistory, decide, reason};
use crate::slurm::observation::Observation;
use crate::slurm::port::Slurm;
use crate::slurm::records::ObservedJob;

/// What is known of these partitions between decisions.
#[derive(Debug, Default)]
pub(in crate::pass) struct Moldable {
    /// Something has happened that may let a job start.
    is_stale: bool,
    /// What was expected to happen by then, and may not have.
    next: Option<Time>,
    history: WaitHistory,
    /// What the last decision expects of jobs that wait.
    plan: MoldablePlan,
}

impl Moldable {
    /// When there is something to decide about although nothing happens.
    pub(in crate::pass) fn next(&self) -> Option<Time> {
        self.next
    }

    /// What is expected of this job.
    pub(in crate::pass) fn outlook(&self, id: u32) -> Option<&Outlook> {
        self.plan.outlook.get(&id)
    }

    fn is_due(&self, now: Time) -> bool {
        self.is_stale || self.next.is_some_and(|next| next <= now)
    }
}

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Whether this job is of a partition of moldable jobs.
    pub(in crate::pass) fn is_moldable(&self, job: &ObservedJob) -> bool {
        self.config.moldable(&job.partition).is_some()
    }

    /// Of these jobs, which may start, those that the core decides about. The others are decided
    /// about separately.
    pub(in crate::pass) fn leave_to_core(
        &mut self,
        submitted: Vec<u32>,
        seen: &Observation,
    ) -> Vec<u32> {
        let moldable = |id: &u32| seen.job(*id).is_some_and(|job| self.is_moldable(job));
        let (moldable, others): (Vec<u32>, Vec<u32>) = submitted.into_iter().partition(moldable);
        if !moldable.is_empty() {
            self.invalidate_moldable_plan();
        }
        others
    }

    /// There may be room that was not there before.
    pub(in crate::pass) fn invalidate_moldable_plan(&mut self) {
        self.planner.moldable.is_stale = true;
    }

    /// Decides about jobs of partitions of moldable jobs, if anything has happened. Returns how
    /// many wait there.
    pub(in crate::pass) fn decide_about_moldable(&mut self, seen: &Observation, now: Time) -> u32 {
        if !self.planner.moldable.is_due(now) || self.config.moldable_names().is_empty() {
            return 0;
        }
        self.planner.moldable.is_stale = false;
        let mut tries = 1;
        let plan = loop {
            let facts = self.facts(now);
            let plan = decide(seen, &self.ledger, &facts, &self.planner.moldable.history);
            if self.would_start(&plan.jobs(), seen, now) || tries == MAX_TRIES {
                break plan;
            }
            tries += 1;
        };
        let starts = plan.starts.iter();
        self.enter_actions(
            starts.map(|start| (&start.action, start.why.clone())),
            seen,
            now,
        );
        self.expect_moldable(plan, now)
    }

    /// Keeps what is expected of jobs that wait. Returns how many do.
    fn expect_moldable(&mut self, plan: MoldablePlan, now: Time) -> u32 {
        let before = &self.planner.moldable.plan.outlook;
        let either: BTreeSet<u32> = before.keys().chain(plan.outlook.keys()).copied().collect();
        let differs = |id: &u32| before.get(id) != plan.outlook.get(id);
        let different = either.into_iter().filter(differs);
        let different = different.map(ChangeEntry::JobReason);
        self.lists.changes.extend(different);
        self.planner.moldable.history.update(&plan, now);
        self.planner.moldable.next = plan.next(now);
        let waiting = u32::try_from(plan.outlook.len()).unwrap_or(u32::MAX);
        self.planner.moldable.plan = plan;
        waiting
    }

    /// What a job of these partitions waits for, as far as the last decision says.
    pub(in crate::pass) fn moldable_reason(
        &self,
        job: &ObservedJob,
        record: &LedgerRecord,
    ) -> Option<String> {
        let waits = record.life.is_waiting() && self.is_moldable(job);
        let outlook = self.planner.moldable.outlook(job.id).filter(|_| waits)?;
        Some(reason(
            outlook,
            |time| self.looks.ahead.wall(time),
            self.looks.at,
        ))
    }

    /// What else there is to say of a job of these partitions.
    pub(in crate::pass) fn moldable_notes(&self, job: &ObservedJob, notes: &mut Vec<String>) {
        if !self.is_moldable(job) {
            return;
        }
        notes.push(
            "its partition has whole nodes (Policy=DEMT): it is never paused or moved".to_owned(),
        );
        if let Err(word) = parse_comment(&job.comment) {
            let word: String = word.chars().take(80).collect();
            notes.push(format!(
                "its comment has an invalid speedup '{word}', which is ignored"
            ));
        }
    }

    /// Jobs of these partitions that are parked, or are to give up their places, come back or stay:
    /// their partition had another policy before.
    pub(in crate::pass) fn hand_back_moldable(&mut self, seen: &Observation, now: Time) {
        if self.config.moldable_names().is_empty() {
            return;
        }
        for id in self.lists.steps() {
            let Some(job) = seen.job(id).filter(|job| self.is_moldable(job)) else {
                continue;
            };
            let record = self.ledger.get(id);
            if !record.is_some_and(|record| record.life.can_cancel_pause()) {
                continue;
            }
            let look = JobContext::new(job, seen, &self.config, now);
            if let Some(record) = self.ledger.get_mut(id) {
                record.on(&LifeEvent::HandedBack, &look);
            }
        }
    }
}
