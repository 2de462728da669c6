//! Why a waiting job was not placed.

use std::borrow::Cow;

use crate::greedy::all_nodes;
use crate::model::{Cluster, Job, JobState, Node, NodeIndex, NodeState};
use crate::plan::Blocked;
use crate::policy::{Ceilings, Policy};
use crate::room::Room;
use crate::units::Amount;
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
            .could_place(cluster, &without_devices(job))
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
            self.scarce(job)
        } else {
            Blocked::NodesUnavailable
        }
    }

    /// What is short for a job that finds no room at any load: memory, or a kind of devices without
    /// which it would find room. Others may hold what nodes lack of these, so that a job for which
    /// there are never enough waits, too.
    fn scarce(&mut self, job: &Job) -> Blocked {
        if !job.requires_devices() || !self.finds_room(&without_devices(job)) {
            return Blocked::Memory;
        }
        let mut kinds = (0..job.rigid_kinds()).filter(|kind| requires(job, *kind));
        let short = kinds.clone().find(|kind| {
            let mut with_one = without_devices(job).into_owned();
            with_one.rigid = only(&job.rigid, *kind);
            with_one.rigid_per_node = only(&job.rigid_per_node, *kind);
            !self.finds_room(&with_one)
        });
        // Of each there may be enough, but not on the same nodes.
        let kind = short.or_else(|| kinds.next());
        kind.map_or(Blocked::Memory, |kind| Blocked::Devices { kind })
    }

    /// Whether there is room for the job now at any load.
    fn finds_room(&mut self, job: &Job) -> bool {
        let cluster = self.cluster;
        if let Some(after) = self.without_ceilings() {
            return after.could_place(cluster, job);
        }
        self.after.could_place(cluster, job)
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

/// The job as if it required no devices.
fn without_devices(job: &Job) -> Cow<'_, Job> {
    if !job.requires_devices() {
        return Cow::Borrowed(job);
    }
    let (rigid, rigid_per_node) = (Vec::new(), Vec::new());
    Cow::Owned(Job {
        rigid,
        rigid_per_node,
        ..job.clone()
    })
}

/// Whether the job requires some of this kind of devices.
fn requires(job: &Job, kind: usize) -> bool {
    !job.rigid_on(1, kind).is_zero()
}

/// These amounts, but nothing of all kinds but this one.
fn only(amounts: &[Amount], kind: usize) -> Vec<Amount> {
    let of = |(other, amount): (usize, &Amount)| match other == kind {
        true => *amount,
        false => Amount::ZERO,
    };
    amounts.iter().enumerate().map(of).collect()
}
