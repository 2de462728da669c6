//! The decision.

use std::cell::OnceCell;

use serde::{Deserialize, Serialize};

use crate::blocked::Inquiry;
use crate::model::{Cluster, JobId};
use crate::plan::{Action, Plan, Reason};
use crate::policy::{Periodic, Policy, Submission};
use crate::preempt;
use crate::remap::{remap, remap_periodically};
use crate::target::{Target, is_free, waits};
use crate::transition::append_actions;
use crate::units::Time;
use crate::usage::Usage;
use crate::yields::{Goal, Placed, allocate};

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trigger {
    /// This job was submitted.
    Submission(JobId),
    /// One or more jobs ended.
    Completion,
    /// The period elapsed.
    Period,
    /// Nodes came, went or changed state.
    NodeChange,
}

/// Decides what to do now. Pure: same arguments, same plan.
///
/// The plan's yields are those of all running jobs after its other actions; locked jobs and jobs with
/// tasks on a down node are counted in but not named. A node change is treated as a completion: both
/// may leave room for waiting jobs. A submission of a job that is not waiting, or not known, changes
/// nothing but yields, unless the policy remaps at submissions (MCB8).
///
/// The cluster's jobs must be ascending by identity and its mappings within its nodes
/// ([`crate::check::check_cluster`] says whether they are); otherwise the plan is of no use, though
/// nothing panics.
///
/// Cost: Greedy takes O(nodes + tasks log tasks) for each job that may fit; GreedyP and GreedyPM look
/// again at the nodes of each job that gives way. MCB8 is near-linear in nodes plus jobs for each of at
/// most 9 yields, and that once more for each job that it drops. Yields cost as
/// [`crate::yields::allocate_yields`] says.
#[must_use]
pub fn decide(policy: &Policy, cluster: &Cluster, now: Time, trigger: Trigger) -> Plan {
    let ceiling = policy.settings.load_ceiling;
    let before = OnceCell::new();
    let usage = || before.get_or_init(|| Usage::of(cluster, ceiling)).clone();
    let target = target(policy, cluster, now, trigger, usage);
    let mut plan = Plan::default();
    let mut placed = Vec::with_capacity(cluster.jobs.len());
    let mut waiting = Vec::new();
    for (place, job) in cluster.jobs.iter().enumerate() {
        match target.place(cluster, place) {
            Some(mapping) => placed.push(Placed { job, mapping }),
            None if waits(job) => waiting.push(job),
            None => {}
        }
    }
    let yields = allocate(&cluster.nodes, &placed, &Goal::of(policy, now));
    let named: Vec<(JobId, crate::units::Yield)> = placed
        .iter()
        .zip(yields)
        .filter(|(placed, _)| is_free(cluster, placed.job))
        .map(|(placed, share)| (placed.job.id, share))
        .collect();
    let after = append_actions(policy, cluster, now, target, usage, &mut plan);
    if !waiting.is_empty() {
        let mut inquiry = Inquiry::new(policy, cluster, after.unwrap_or_else(usage));
        plan.blocked = waiting
            .into_iter()
            .map(|job| (job.id, inquiry.why(job)))
            .collect();
    }
    plan.actions.reserve_exact(named.len());
    for (job, share) in named {
        plan.push(Action::SetYield(job, share), Reason::Share);
    }
    plan
}

/// Where every job shall be (TPDS, Section 4.4).
fn target<'a>(
    policy: &Policy,
    cluster: &'a Cluster,
    now: Time,
    trigger: Trigger,
    usage: impl FnOnce() -> Usage<'a>,
) -> Target {
    match trigger {
        Trigger::Submission(id) => match (policy.submission, cluster.position(id)) {
            (Submission::Mcb8, _) => remap(policy, cluster, now),
            (Submission::Greedy | Submission::GreedyP | Submission::GreedyPM, Some(place))
                if waits(&cluster.jobs[place]) =>
            {
                preempt::submit(policy, cluster, now, place, usage())
            }
            _ => Target::unchanged(cluster),
        },
        Trigger::Completion | Trigger::NodeChange => match policy.submission {
            Submission::Mcb8 if policy.opportunistic => remap(policy, cluster, now),
            _ if policy.opportunistic => preempt::start_waiting(policy, cluster, now, usage),
            _ => Target::unchanged(cluster),
        },
        Trigger::Period => match policy.periodic {
            Periodic::Remap | Periodic::Stretch => {
                let target = remap_periodically(policy, cluster, now);
                match policy.submission {
                    Submission::Mcb8 => target,
                    _ if policy.opportunistic => preempt::fill(policy, cluster, now, target),
                    _ => target,
                }
            }
            Periodic::Nothing => Target::unchanged(cluster),
        },
    }
}
