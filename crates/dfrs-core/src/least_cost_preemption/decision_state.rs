//! What a decision has come to so far.

use super::candidates::PreemptionCandidates;
use crate::question::Question;
use crate::target::Target;
use crate::usage::{SwapUsage, Usage};

/// Where jobs are, changed job by job. Swap that a job leaves is not given to others in the same
/// decision, so that its actions find an order.
pub(super) struct DecisionState<'a> {
    pub(super) question: Question<'a>,
    pub(super) usage: Usage,
    pub(super) swap: SwapUsage,
    pub(super) target: Target,
    /// How many more running jobs may be paused or moved.
    pub(super) moves_left: usize,
    /// Which jobs may be preempted; made when one first has to be.
    pub(super) candidates: Option<PreemptionCandidates>,
}

impl<'a> DecisionState<'a> {
    /// O(nodes + runs).
    pub(super) fn new(question: Question<'a>) -> Self {
        let (policy, roster) = (question.policy, question.roster);
        Self {
            question,
            usage: roster.usage(policy.ceilings()),
            swap: SwapUsage::of(question.cluster, roster.parked()),
            target: Target::default(),
            moves_left: policy.max_moves(),
            candidates: None,
        }
    }
}
