//! The decision.

use std::cell::OnceCell;

use serde::{Deserialize, Serialize};

use crate::blocked::Inquiry;
use crate::model::{Cluster, JobId, Mapping};
use crate::plan::{Action, Plan, Reason};
use crate::policy::{Periodic, Policy, Submission};
use crate::preempt;
use crate::remap::{remap, remap_periodically};
use crate::roster::Roster;
use crate::situation::Situation;
use crate::target::{Fate, Target, is_free, waits};
use crate::transition::append_actions;
use crate::units::Time;
use crate::usage::Usage;
use crate::yields::{Goal, allocate};

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
    let situation = Situation::of(cluster);
    let ceiling = policy.settings.load_ceiling;
    let before = OnceCell::new();
    let usage = || {
        let running = || Usage::of_jobs(cluster, ceiling, situation.running_jobs());
        before.get_or_init(running).clone()
    };
    let target = target(policy, &situation, now, trigger, usage);
    let mut plan = Plan::default();
    let placed = situation.placed(&target);
    let mut waiting = situation.waiting_that(|_| true);
    waiting.retain(|place| target.stays(*place));
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
            .map(|place| &cluster.jobs[place])
            .map(|job| (job.id, inquiry.why(job)))
            .collect();
    }
    plan.actions.reserve_exact(named.len());
    for (job, share) in named {
        plan.push(Action::SetYield(job, share), Reason::Share);
    }
    plan
}

/// The part of [`decide()`] that says where jobs go: the mapping of each job that starts, comes back or
/// moves, and `None` for each that gives up its place, ascending by job.
///
/// It is for who carries all of it out at once and keeps a roster: waiting jobs that want the same are
/// looked at together, and not one by one unless there is room. [`crate::allocate_running_yields`] says
/// which yields follow. Cost as of [`decide()`], queues for waiting jobs where there is no room; what is
/// left of O(jobs) is one number for each.
#[must_use]
pub fn decide_mappings(
    policy: &Policy,
    roster: &Roster,
    now: Time,
    trigger: Trigger,
) -> Vec<(JobId, Option<Mapping>)> {
    let situation = Situation::listed(roster);
    let cluster = situation.cluster;
    let ceiling = policy.settings.load_ceiling;
    let usage = || Usage::of_jobs(cluster, ceiling, situation.running_jobs());
    let mut changes = target(policy, &situation, now, trigger, usage).into_changes();
    changes.sort_unstable_by_key(|(place, _)| *place);
    let changes = changes.into_iter().map(|(place, fate)| {
        let mapping = match fate {
            Fate::Leaves(_) => None,
            Fate::Goes(mapping, _) => Some(mapping),
        };
        (cluster.jobs[place].id, mapping)
    });
    changes.collect()
}

/// Where every job shall be (TPDS, Section 4.4).
fn target<'a>(
    policy: &Policy,
    situation: &Situation<'a>,
    now: Time,
    trigger: Trigger,
    usage: impl FnOnce() -> Usage<'a>,
) -> Target {
    let cluster = situation.cluster;
    match trigger {
        Trigger::Submission(id) => match (policy.submission, cluster.position(id)) {
            (Submission::Mcb8, _) => remap(policy, situation, now),
            (Submission::Greedy | Submission::GreedyP | Submission::GreedyPM, Some(place))
                if waits(&cluster.jobs[place]) =>
            {
                preempt::submit(policy, situation, now, place, usage())
            }
            _ => Target::unchanged(cluster),
        },
        Trigger::Completion | Trigger::NodeChange => match policy.submission {
            Submission::Mcb8 if policy.opportunistic => remap(policy, situation, now),
            _ if policy.opportunistic => preempt::start_waiting(policy, situation, now, usage),
            _ => Target::unchanged(cluster),
        },
        Trigger::Period => match policy.periodic {
            Periodic::Remap | Periodic::Stretch => {
                let target = remap_periodically(policy, situation, now);
                match policy.submission {
                    Submission::Mcb8 => target,
                    _ if policy.opportunistic => preempt::fill(policy, situation, now, target),
                    _ => target,
                }
            }
            Periodic::Nothing => Target::unchanged(cluster),
        },
    }
}
