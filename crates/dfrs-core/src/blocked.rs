//! Why a waiting job was not placed.

use crate::greedy::all_nodes;
use crate::model::{Cluster, Job, JobState, Node, NodeIndex, NodeState};
use crate::plan::Blocked;
use crate::policy::{Ceilings, Policy};
use crate::room::Room;
use crate::usage::Usage;

/// Finds out why jobs wait, given what is in use after the plan.
pub(crate) struct BlockedDiagnosis<'a> {
    cluster: &'a Cluster,
    ceilings: Ceilings,
    /// Whether all nodes take tasks.
    all_up: bool,
    /// After the plan.
    after: Room,
    /// If loads were not limited; `None` where they are not.
    without_ceilings: Option<Room>,
    /// If no job ran.
    empty: Option<Room>,
    /// If no resource was in use and all nodes were up.
    best_case: Option<Room>,
}

impl<'a> BlockedDiagnosis<'a> {
    /// O(nodes log nodes).
    pub(crate) fn new(policy: &Policy, cluster: &'a Cluster, after: Usage) -> Self {
        Self {
            cluster,
            ceilings: policy.ceilings(),
            all_up: cluster.nodes.iter().all(Node::is_up),
            after: Room::of(after),
            without_ceilings: None,
            empty: None,
            best_case: None,
        }
    }

    /// Why this waiting job was not placed. O(distinct spaces of nodes), but O(nodes) for a job
    /// with rules of its own about nodes.
    pub(crate) fn reason(&mut self, job: &Job) -> Blocked {
        let cluster = self.cluster;
        if let JobState::Parked(mapping) = &job.state {
            let is_down = |node| cluster.state_of(node) == NodeState::Down;
            return if mapping.nodes().any(is_down) {
                Blocked::NodesUnavailable
            } else if self.after.usage().takes_back(job, mapping) {
                Blocked::NotNow
            } else if self
                .without_ceilings()
                .is_some_and(|after| after.usage().takes_back(job, mapping))
            {
                Blocked::Cpu
            } else {
                Blocked::OwnNodesFull
            };
        }
        let ceilings = self.ceilings;
        let best_case = || Room::of(Usage::best_case(cluster, ceilings));
        let empty = || Room::of(Usage::empty(cluster, ceilings));
        if self.after.could_place(cluster, job) {
            Blocked::NotNow
        } else if !self
            .best_case
            .get_or_insert_with(best_case)
            .could_place(cluster, job)
        {
            Blocked::NeverFits
        } else if self
            .without_ceilings()
            .is_some_and(|after| after.could_place(cluster, job))
        {
            Blocked::Cpu
        } else if self.all_up
            || self
                .empty
                .get_or_insert_with(empty)
                .could_place(cluster, job)
            || !self.has_unavailable_nodes(job)
        {
            Blocked::Memory
        } else {
            Blocked::NodesUnavailable
        }
    }

    fn without_ceilings(&mut self) -> Option<&mut Room> {
        if self.ceilings.are_none() {
            return None;
        }
        let usage = self.after.usage();
        let test = || Room::of(usage.without_ceilings());
        Some(self.without_ceilings.get_or_insert_with(test))
    }

    /// Whether some node that the job may use takes no tasks now.
    fn has_unavailable_nodes(&self, job: &Job) -> bool {
        let is_missing = |node: NodeIndex| !self.cluster.nodes[node.index()].is_up();
        all_nodes(self.cluster, job).any(is_missing)
    }
}
