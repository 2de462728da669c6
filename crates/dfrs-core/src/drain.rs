//! What a node that drains waits for.

use crate::greedy;
use crate::model::{Cluster, Job, JobState, Mapping, Node, NodeState};
use crate::plan::Reason;
use crate::question::Question;
use crate::target::{Change, Target, can_pause};
use crate::usage::SwapUsage;

/// Whether the job is parked on a node that drains. Such a job goes before all others that wait: it
/// can resume nowhere else, and the drain waits for it.
pub(crate) fn holds_up_drain(cluster: &Cluster, job: &Job) -> bool {
    match &job.state {
        JobState::Parked(mapping) => drains(cluster, mapping),
        _ => false,
    }
}

/// Lets running jobs leave nodes that drain, if they keep their work and there is room for them
/// elsewhere beside all others, as far as the budget allows. No job is preempted for them.
/// O(nodes + runs) if a node drains, and as Greedy for each job there.
pub(crate) fn leave(question: Question<'_>, mut target: Target) -> Target {
    let (policy, roster, cluster) = (question.policy, question.roster, question.cluster);
    let is_draining = |node: &Node| node.state == NodeState::Draining;
    if !cluster.nodes.iter().any(is_draining) {
        return target;
    }
    let swap = SwapUsage::of(cluster, roster.parked());
    let mut usage = roster.usage_after(&target, policy.ceilings());
    let max_moves = policy.max_moves();
    for (index, job) in roster.running_at() {
        let can_leave =
            target.stays(index) && job.moves_freely() && can_pause(question, &swap, job);
        let here = job
            .running_on()
            .filter(|here| can_leave && drains(cluster, here));
        let Some(here) = here.filter(|_| target.moves(cluster) < max_moves) else {
            continue;
        };
        usage.remove(job, here);
        let elsewhere = greedy::place(cluster, &usage, job);
        usage.add(job, elsewhere.as_ref().unwrap_or(here));
        if let Some(mapping) = elsewhere {
            target.set(index, Change::Goes(mapping, Reason::Remap));
        }
    }
    target
}

fn drains(cluster: &Cluster, mapping: &Mapping) -> bool {
    let mut states = mapping.nodes().map(|node| cluster.state_of(node));
    states.any(|state| state == NodeState::Draining)
}
