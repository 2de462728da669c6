//! Which jobs may be preempted, node by node, and what that costs.

use super::decision_state::DecisionState;
use crate::model::{Job, Mapping, Mobility, NodeIndex};
use crate::priority::Priority;
use crate::space::share;
use crate::target::may_pause;
use crate::units::Span;

/// The cost of any pause, in the time of a node without progress over the size of a node.
const PAUSE_COST: f64 = 0.1;

/// The cost of each node's worth of CPU that is given up.
const CPU_COST: f64 = 0.1;

/// Added to virtual times, so that a pause of the youngest does not cost without bound.
const OFFSET: f64 = 10.0;

/// What is added for those that the grace period protects: they are preempted where no other can
/// be.
const PROTECTED_COST: f64 = 1000.0;

/// Whether the job could be preempted and lose nothing but time.
pub(super) fn is_preemptible(job: &Job) -> bool {
    (job.moves_freely() || job.mobility == Mobility::Park) && !job.locked
}

/// The running jobs that have had some virtual time, have not changed in this decision and could be
/// preempted, if swap and the policy allow it: their indices, and where they are. O(runs).
pub(super) fn preemptible<'b>(
    state: &'b DecisionState<'_>,
) -> impl Iterator<Item = (usize, &'b Job, &'b Mapping)> {
    let running = state.question.roster.running_at();
    running.filter_map(|(index, job)| {
        let may = job.virtual_time > Span::ZERO && is_preemptible(job) && state.target.stays(index);
        let mapping = job.running_on().filter(|_| may)?;
        Some((index, job, mapping))
    })
}

/// A running job that may be preempted.
pub(super) struct PreemptionCandidate {
    pub(super) index: usize,
    /// What its preemption costs, if it is for a job that could use one of its nodes.
    pub(super) cost: f64,
    pub(super) nodes: f64,
    pub(super) virtual_time: Span,
    pub(super) priority: Priority,
    /// Gave up its place in this decision.
    pub(super) is_gone: bool,
}

/// All jobs that may be preempted.
pub(super) struct PreemptionCandidates {
    pub(super) members: Vec<PreemptionCandidate>,
    /// The candidates on each node, by their place in `members`.
    on: Vec<Vec<u32>>,
}

impl PreemptionCandidates {
    /// The running jobs that have had some virtual time, have not changed in this decision and may
    /// be paused where swap allows. O(nodes + runs).
    pub(super) fn of(state: &DecisionState<'_>) -> Self {
        let mut candidates = Self {
            members: Vec::new(),
            on: vec![Vec::new(); state.question.cluster.nodes.len()],
        };
        let may_pause = |job: &Job| may_pause(state.question, job);
        for (index, job, mapping) in preemptible(state).filter(|(_, job, _)| may_pause(job)) {
            let number = u32::try_from(candidates.members.len()).unwrap_or(u32::MAX);
            for node in mapping.nodes() {
                if let Some(here) = candidates.on.get_mut(node.index()) {
                    here.push(number);
                }
            }
            // Precise enough: numbers of nodes are small.
            let nodes = mapping.node_count() as f64;
            candidates.members.push(PreemptionCandidate {
                index,
                cost: cost(state, job),
                nodes,
                virtual_time: job.virtual_time,
                priority: state.question.priority(job),
                is_gone: false,
            });
        }
        candidates
    }

    /// The candidates on this node.
    pub(super) fn on(&self, node: NodeIndex) -> &[u32] {
        &self.on[node.index()]
    }
}

/// What it costs that the job gives up its place: more for one that has had little (the penalty is
/// a larger part of its time), that needs much CPU, or whose memory goes to swap, where it is in
/// the way of the next one; and all that for each unit of its weight. O(runs).
fn cost(state: &DecisionState<'_>, job: &Job) -> f64 {
    let is_parked = job.mobility == Mobility::Park;
    let mut cost = PAUSE_COST;
    for run in job.running_on().into_iter().flatten() {
        let Some(node) = state.question.cluster.node(run.node) else {
            continue;
        };
        cost += CPU_COST * share(job.cpu_of(run).0, node.cpu.0);
        if is_parked {
            cost += share(job.memory_of(run).0, node.memory.0);
        }
    }
    let penalty = state.question.policy.settings.penalty.seconds();
    cost += penalty / (job.virtual_time.seconds() + OFFSET);
    cost *= job.weight.factor();
    if state.question.policy.protects(job, state.question.now) {
        cost += PROTECTED_COST;
    }
    cost
}
