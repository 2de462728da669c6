//! What slurmctld knows: the part of the model that is forgotten when it is killed.

use std::sync::Arc;

use dfrs_proto::journal::JobOutcome;

use super::devices::HeldDevice;
use super::others::OtherPartitionJob;
use super::records::JobRecords;
use dfrs_agent::slurm::records::{ObservedJob, ObservedNode, ObservedState};

/// A job's record.
#[derive(Clone, Debug)]
pub struct JobEntry {
    /// What a snapshot shows of it.
    pub seen: ObservedJob,
    /// The submission that it is of; of an array's pending record: its first open task.
    pub label: u32,
    /// Of an array's pending record: tasks beside the first that have no record yet.
    pub more_tasks: Vec<u32>,
    /// UNIX seconds before which it does not begin.
    pub begin_time: i64,
    /// Its priority while it is not held.
    pub usual_priority: u32,
    /// Seconds of its limit that were used before the last suspension or the last start.
    pub used_seconds: i64,
    /// UNIX seconds since which it runs without interruption.
    pub running_since: i64,
    /// Its last run ended by itself: it was not cancelled, and lost neither its time nor its nodes.
    pub ended_by_itself: bool,
    /// Its warning signal has ended it, and how.
    pub warning_ended: Option<JobOutcome>,
    /// Its processes on the nodes; 0: none.
    pub run: u64,
    /// It was ended to be queued again: what its last process's end leads to.
    pub requeues: bool,
    /// UNIX seconds at which its last run was over.
    pub freed_time: i64,
    /// How it ended.
    pub outcome: Option<JobOutcome>,
    /// The devices that its last start gave it.
    pub devices: Vec<HeldDevice>,
}

impl JobEntry {
    /// Its time limit, in seconds.
    pub fn limit(&self) -> Option<i64> {
        let minutes = i64::from(self.seen.limit_minutes);
        (minutes > 0).then_some(minutes * 60)
    }

    /// Whether it holds nodes.
    pub fn has_nodes(&self) -> bool {
        matches!(
            self.seen.state,
            ObservedState::Running | ObservedState::Suspended
        )
    }

    /// Whether one of its places is on this node.
    pub fn is_on(&self, node: u32) -> bool {
        self.seen.places.iter().any(|place| place.node == node)
    }

    /// Whether its processes may be there: it has nodes, or its former ones are ending.
    pub fn may_have_processes(&self) -> bool {
        self.has_nodes() || self.seen.completing
    }
}

/// A node's record.
#[derive(Clone, Debug)]
pub struct NodeEntry {
    /// What a snapshot shows of it; its memory is counted when it is taken.
    pub seen: ObservedNode,
    /// An administrator wants no new work there.
    pub drained: bool,
    /// It does not answer, or an administrator set it down.
    pub down: bool,
    /// An administrator set it down: it does not come back by itself.
    pub set_down: bool,
    /// Its partition.
    pub partition: String,
    /// How many parked jobs its reason says to live there.
    pub reported_parked: u32,
    /// It was taken out of its partition.
    pub left: bool,
    /// Reserved for others from when until when, in UNIX seconds.
    pub reserved: Option<(i64, i64)>,
    /// UNIX seconds since which it has not answered.
    pub silent_since: Option<i64>,
    /// The kind of each of its devices, by number.
    pub devices: Vec<Arc<str>>,
    /// What a job of a partition that DFRS does not schedule has there.
    pub others: Option<OtherPartitionJob>,
}

impl NodeEntry {
    /// Whether it takes work of its partition.
    pub(super) fn is_open(&self) -> bool {
        !self.down && !self.drained && !self.left
    }
}

/// Everything that slurmctld saves.
#[derive(Clone, Debug, Default)]
pub(super) struct Slurmctld {
    pub(super) jobs: JobRecords,
    pub(super) nodes: Vec<NodeEntry>,
    pub(super) next_id: u32,
}

impl Slurmctld {
    /// Makes `saved` what this is. O(nodes + jobs that changed since the last call).
    pub(super) fn save_to(&mut self, saved: &mut Self) {
        self.jobs.save_to(&mut saved.jobs);
        saved.nodes.clone_from(&self.nodes);
        saved.next_id = self.next_id;
    }

    /// MiB that Slurm counts as used on a node.
    pub(super) fn allocated(&self, node: u32) -> u64 {
        let jobs = self.jobs.values().filter(|job| job.has_nodes());
        jobs.flat_map(|job| &job.seen.places)
            .filter(|place| place.node == node)
            .map(|place| place.memory_mib)
            .sum::<u64>()
            + self.others_memory(node)
    }

    /// Whether another user has a node for their jobs alone there, or this job would and others are
    /// there, or jobs of another label are.
    pub(super) fn conflicts_with_users(&self, node: u32, wanted: &ObservedJob) -> bool {
        let jobs = self.jobs.values();
        let mut here = jobs.filter(|job| job.may_have_processes() && job.is_on(node));
        here.any(|job| {
            let refuses = job.seen.request.exclusive_user || wanted.request.exclusive_user;
            job.seen.request.mcs_label != wanted.request.mcs_label
                || (job.seen.user != wanted.user && refuses)
        })
    }

    /// Whether one of a job that is there, parked ones aside, and this one wants the node for
    /// itself (`--exclusive`).
    pub(super) fn conflicts_with_exclusive(&self, node: u32, wanted: &ObservedJob) -> bool {
        let mut here = self.jobs.values().filter(|job| {
            let counts = job
                .seen
                .places
                .iter()
                .any(|place| place.node == node && place.memory_mib > 0);
            job.has_nodes() && counts && job.seen.id != wanted.id
        });
        here.any(|job| job.seen.request.exclusive || wanted.request.exclusive)
    }

    /// `dfrs_nodes_set_parked()`. Returns whether any reason is another now.
    pub(super) fn set_parked(&mut self, parked: &[(String, u32)]) -> bool {
        let mut any = false;
        for (name, parked) in parked {
            let node = self.nodes.iter_mut().find(|node| node.seen.name == *name);
            if let Some(node) = node {
                let waited_for = node.drained && !node.down;
                let shown = if waited_for { *parked } else { 0 };
                any |= std::mem::replace(&mut node.reported_parked, shown) != shown;
            }
        }
        any
    }

    /// Whether there is a job, not ended, of the submission with this label.
    pub(super) fn knows(&self, label: u32) -> bool {
        self.jobs.values().any(|job| {
            job.outcome.is_none() && (job.label == label || job.more_tasks.contains(&label))
        })
    }

    pub(super) fn running_of(&self, user: u32) -> usize {
        let jobs = self.jobs.values();
        jobs.filter(|job| job.seen.user == user && job.has_nodes())
            .count()
    }
}
