//! What a decision has come to so far.

use super::candidates::PreemptionCandidates;
use crate::model::Cluster;
use crate::policy::Policy;
use crate::roster::Roster;
use crate::stop::Stop;
use crate::target::Target;
use crate::units::Time;
use crate::usage::{SwapUsage, Usage};

/// Where jobs are, changed job by job. Swap that a job leaves is not given to others in the same
/// decision, so that its actions find an order.
pub(super) struct DecisionState<'a> {
    pub(super) policy: &'a Policy,
    pub(super) roster: &'a Roster,
    pub(super) cluster: &'a Cluster,
    pub(super) now: Time,
    pub(super) stop: &'a Stop<'a>,
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
    pub(super) fn new(
        policy: &'a Policy,
        roster: &'a Roster,
        now: Time,
        stop: &'a Stop<'a>,
    ) -> Self {
        let cluster = roster.cluster();
        Self {
            policy,
            roster,
            cluster,
            now,
            stop,
            usage: roster.usage(policy.ceilings()),
            swap: SwapUsage::of(cluster, roster.parked()),
            target: Target::default(),
            moves_left: policy.max_moves(),
            candidates: None,
        }
    }
}
