//! Jobs of partitions that DFRS does not schedule, on nodes of those that it does: one on a node.

use std::collections::BTreeSet;

use super::cluster::ClusterModel;
use super::slurmctld::Slurmctld;

/// What a job of a partition that DFRS does not schedule has on a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OtherPartitionJob {
    /// Numbers of devices.
    pub devices: BTreeSet<u32>,
    /// MiB.
    pub memory_mib: u64,
}

impl Slurmctld {
    /// MiB that jobs of partitions that DFRS does not schedule have on a node.
    pub(super) fn others_memory(&self, node: u32) -> u64 {
        let others = self.nodes[node as usize].others.as_ref();
        others.map_or(0, |others| others.memory_mib)
    }
}

impl ClusterModel {
    /// A job of a partition that DFRS does not schedule starts on a node: it gets so many of the
    /// last devices there, as far as they are free, and one MiB. Slurm starts none where all are
    /// taken, or where a job is completing.
    pub(super) fn start_other(&mut self, node: u32, count: u32) {
        const MEMORY_MIB: u64 = 1;
        let Some(entry) = self.slurmctld.nodes.get(node as usize) else {
            return;
        };
        let mut jobs = self.slurmctld.jobs.values();
        let is_completing = jobs.any(|job| job.seen.completing && job.is_on(node));
        let is_refused = entry.others.is_some() || is_completing || !self.serves;
        if is_refused || !entry.is_open() || !self.fits(node, MEMORY_MIB) {
            return;
        }
        let taken = self.slurmctld.taken_devices(node);
        let free = entry.all_devices().filter(|number| !taken.contains(number));
        let free: Vec<u32> = free.collect();
        let devices = free.into_iter().rev().take(count as usize).collect();
        let others = OtherPartitionJob {
            devices,
            memory_mib: MEMORY_MIB,
        };
        if !others.devices.is_empty() {
            self.slurmctld.nodes[node as usize].others = Some(others);
            self.updated();
        }
    }

    /// It ends.
    pub(super) fn end_other(&mut self, node: u32) {
        let entry = self.slurmctld.nodes.get_mut(node as usize);
        if entry.is_some_and(|entry| entry.others.take().is_some()) {
            self.updated();
        }
    }
}
