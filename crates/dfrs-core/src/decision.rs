//! What a decision comes to, read as needed.

use crate::blocked::BlockedDiagnosis;
use crate::least_cost_preemption::DeferredJobs;
use crate::model::{Cluster, JobId, JobState, Mapping};
use crate::plan::{Action, Blocked, Plan, PlannedAction, Reason};
use crate::policy::Policy;
use crate::roster::Roster;
use crate::staged_changes::{Changes, NetChanges};
use crate::target::{Target, is_free, virtual_time_kept};
use crate::transition;
use crate::units::{Time, Yield};
use crate::yields::yields_of_placed;

/// What shall change, decided by [`crate::decide()`] about a roster. That stays as it is until
/// [`Decision::adopt`]; a decision that is dropped has changed nothing.
#[derive(Debug)]
pub struct Decision<'a> {
    policy: &'a Policy,
    roster: &'a mut Roster,
    now: Time,
    target: Target,
    /// The changes of each stage of the decision, if there is more than one.
    stages: Vec<Changes>,
}

impl<'a> Decision<'a> {
    pub(crate) fn new(
        policy: &'a Policy,
        roster: &'a mut Roster,
        now: Time,
        outcome: NetChanges,
    ) -> Self {
        Self {
            policy,
            roster,
            now,
            target: Target::of(outcome.net),
            stages: outcome.stages,
        }
    }

    /// The cluster that it is about, as it was before.
    pub fn cluster(&self) -> &Cluster {
        self.roster.cluster()
    }

    /// How many jobs it was about: all that the roster has. O(1).
    pub fn depth(&self) -> usize {
        self.cluster().jobs.len()
    }

    /// Where jobs go: the mapping of each job that starts, comes back or moves, and `None` for each
    /// that gives up its place; ascending by job, each once.
    pub fn changes(&self) -> impl Iterator<Item = (JobId, Option<&Mapping>)> {
        let jobs = &self.cluster().jobs;
        let changes = self.target.changes();
        changes.map(|(index, change)| (jobs[index].id, change.mapping()))
    }

    /// The yield of every job that runs after the changes, ascending by job. O((nodes + runs) log
    /// nodes), as [`crate::yields_of`].
    pub fn yields(&self) -> Vec<(JobId, Yield)> {
        let placed = self.roster.placed(&self.target);
        yields_of_placed(self.policy, self.cluster(), self.now, &placed)
    }

    /// The changes as actions, each with its reason, in an order that never exceeds a node's
    /// memory; then the yields. Locked jobs and jobs with tasks on a down node are counted in but
    /// not named.
    pub fn plan(&self) -> Plan {
        let mut actions = transition::actions(
            self.policy,
            self.roster,
            self.now,
            &self.target,
            &self.stages,
        );
        let cluster = self.cluster();
        let is_ours = |id| cluster.job(id).is_some_and(|job| is_free(cluster, job));
        let yields = self.yields().into_iter().filter(|(job, _)| is_ours(*job));
        actions.extend(yields.map(|(job, share)| PlannedAction {
            action: Action::SetYield(job, share),
            reason: Reason::Share,
        }));
        Plan { actions }
    }

    /// The jobs that waited before and still do, ascending, and why. Jobs with the same demand are
    /// looked at together. O(nodes log nodes + runs + waiting jobs), and O(distinct spaces of
    /// nodes) for each queue of equal jobs, but O(nodes) for one with rules of its own about nodes.
    pub fn blocked(&self) -> Vec<(JobId, Blocked)> {
        let cluster = self.cluster();
        let deferred = self
            .policy
            .weighs_moves()
            .then(|| DeferredJobs::of(self.policy.run_time_hint(), self.roster, self.now));
        let waits_for_idle = |job| {
            deferred
                .as_ref()
                .is_some_and(|deferred| deferred.defers(job))
        };
        let mut inquiry: Option<BlockedDiagnosis<'_>> = None;
        let mut found: Vec<(JobId, Blocked)> = Vec::new();
        for alike in self.roster.waiting() {
            let mut left = alike.iter().filter(|index| self.target.stays(**index));
            let Some(first) = left.next() else { continue };
            let inquiry = inquiry.get_or_insert_with(|| {
                let usage = self
                    .roster
                    .usage_after(&self.target, self.policy.ceilings());
                BlockedDiagnosis::new(self.policy, cluster, usage)
            });
            let why = inquiry.reason(&cluster.jobs[*first]);
            let of = |index: &usize| match (&cluster.jobs[*index], why) {
                (job, Blocked::NotNow) if waits_for_idle(job) => (job.id, Blocked::Cpu),
                (job, Blocked::NotNow) if self.policy.reserves() => (job.id, Blocked::Reserved),
                (job, why) => (job.id, why),
            };
            found.push(of(first));
            found.extend(left.map(of));
        }
        found.sort_unstable_by_key(|(job, _)| *job);
        found
    }

    /// Makes it so: the jobs of the roster are where the decision has them, and what cannot be kept
    /// of their work is lost. Returns the states that changed, as they were before, ascending by
    /// job.
    pub fn adopt(self) -> Vec<(JobId, JobState)> {
        let roster = self.roster;
        let adopt = |(index, change): (usize, crate::target::Change)| {
            let job = &roster.cluster().jobs[index];
            let (id, state, kept) = (job.id, change.state(job), virtual_time_kept(job));
            roster.set_virtual_time_at(index, kept);
            (id, roster.set_state_at(index, state))
        };
        self.target.into_changes().into_iter().map(adopt).collect()
    }
}
