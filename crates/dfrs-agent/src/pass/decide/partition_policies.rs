//! Partitions that policies of their own schedule: when these plan, and what follows.

use dfrs_core::Time;

use crate::changes::ChangeEntry;
use crate::daemons::Daemons;
use crate::job::ledger::LedgerRecord;
use crate::job::life::{JobContext, LifeEvent};
use crate::pass::Agent;
use crate::pass::decide::MAX_TRIES;
use crate::plan::apply::slurm_id;
use crate::plan::partition_policy::{PartitionPolicy, PlannedStart, all};
use crate::saturating_u32;
use crate::slurm::observation::Observation;
use crate::slurm::port::Slurm;
use crate::slurm::records::ObservedJob;

/// The policies, between plans.
#[derive(Debug)]
pub(in crate::pass) struct PartitionPolicies {
    policies: Vec<Box<dyn PartitionPolicy>>,
    /// Something has happened that may let a job start.
    is_stale: bool,
}

impl Default for PartitionPolicies {
    fn default() -> Self {
        Self {
            policies: all(),
            is_stale: false,
        }
    }
}

impl PartitionPolicies {
    /// There may be room that was not there before.
    pub(in crate::pass) fn invalidate(&mut self) {
        self.is_stale = true;
    }

    /// When there is something to plan although nothing happens.
    pub(in crate::pass) fn next(&self) -> Option<Time> {
        self.policies
            .iter()
            .filter_map(|policy| policy.next())
            .min()
    }

    /// Takes out what is to plan now, if anything is: all of them. New ones are in their place if a
    /// plan panics.
    fn take_due(&mut self, now: Time) -> Vec<Box<dyn PartitionPolicy>> {
        if !self.is_stale && self.next().is_none_or(|next| next > now) {
            return Vec::new();
        }
        self.is_stale = false;
        std::mem::replace(&mut self.policies, all())
    }
}

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Whether the core does not decide about this job: a policy of its partition does.
    pub(in crate::pass) fn has_own_policy(&self, job: &ObservedJob) -> bool {
        self.config.gives_whole_nodes(&job.partition)
    }

    /// Of these jobs, which may start, those that the core decides about.
    pub(in crate::pass) fn leave_to_core(
        &mut self,
        submitted: Vec<u32>,
        seen: &Observation,
    ) -> Vec<u32> {
        let is_other = |id: &u32| seen.job(*id).is_some_and(|job| self.has_own_policy(job));
        let (others, of_core): (Vec<u32>, Vec<u32>) = submitted.into_iter().partition(is_other);
        if !others.is_empty() {
            self.planner.partition_policies.invalidate();
        }
        of_core
    }

    /// Lets the policies plan, if anything has happened. Returns how many jobs are pending there.
    pub(in crate::pass) fn plan_other_partitions(&mut self, seen: &Observation, now: Time) -> u32 {
        if self.config.whole_node_partitions().is_empty() {
            return 0;
        }
        let mut policies = self.planner.partition_policies.take_due(now);
        if policies.is_empty() {
            return 0;
        }
        for policy in &mut policies {
            let starts = self.plan_by(policy.as_mut(), seen, now);
            let starts = starts
                .iter()
                .map(|start| (&start.action, start.why.clone()));
            self.enter_actions(starts, seen, now);
            let changed = policy.keep(now).into_iter().map(ChangeEntry::JobReason);
            self.lists.changes.extend(changed);
        }
        let pending: usize = policies.iter().map(|policy| policy.pending()).sum();
        self.planner.partition_policies.policies = policies;
        saturating_u32(pending)
    }

    /// What this policy starts, and Slurm would start, too.
    fn plan_by(
        &mut self,
        policy: &mut dyn PartitionPolicy,
        seen: &Observation,
        now: Time,
    ) -> Vec<PlannedStart> {
        let mut tries = 1;
        loop {
            let starts = policy.plan(&self.facts(seen, now));
            let jobs = starts.iter();
            let jobs: Vec<u32> = jobs
                .filter_map(|start| slurm_id(start.action.job()))
                .collect();
            if self.would_start(&jobs, seen, now) || tries == MAX_TRIES {
                return starts;
            }
            tries += 1;
        }
    }

    /// What a job of these partitions waits for, as far as the last plan says.
    pub(in crate::pass) fn policy_reason(
        &self,
        job: &ObservedJob,
        record: &LedgerRecord,
    ) -> Option<String> {
        if !record.life.is_waiting() || !self.has_own_policy(job) {
            return None;
        }
        let wall = |time| self.looks.ahead.wall(time);
        let mut policies = self.planner.partition_policies.policies.iter();
        policies.find_map(|policy| policy.reason(job.id, &wall, self.looks.at))
    }

    /// What else there is to say of a job of these partitions.
    pub(in crate::pass) fn policy_notes(&self, job: &ObservedJob) -> Vec<String> {
        let Some(partition) = self.config.partition(&job.partition) else {
            return Vec::new();
        };
        let policies = self.planner.partition_policies.policies.iter();
        let mut policies = policies.filter(|policy| policy.schedules(partition));
        policies
            .next()
            .map_or_else(Vec::new, |policy| policy.notes(job))
    }

    /// Jobs of these partitions that are parked, or are to give up their places, come back or stay:
    /// their partition had another policy before.
    pub(in crate::pass) fn cancel_pauses_on_whole_nodes(&mut self, seen: &Observation, now: Time) {
        if self.config.whole_node_partitions().is_empty() {
            return;
        }
        for id in self.lists.steps() {
            let Some(job) = seen.job(id).filter(|job| self.has_own_policy(job)) else {
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
