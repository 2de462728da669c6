//! Whether the agent reads from a look how many devices are free: counted again by jobs' records,
//! without what is shown.

use std::collections::BTreeSet;

use super::cluster::ClusterModel;
use super::devices::is_of_kind;
use super::slurmctld::{JobEntry, NodeEntry};
use dfrs_agent::fixtures::job;
use dfrs_agent::slurm::devices::RequestedDevices;
use dfrs_agent::slurm::observation::Observation;

impl ClusterModel {
    /// What was read wrong of free devices since the last call.
    pub fn take_miscounts(&mut self) -> Vec<String> {
        std::mem::take(&mut self.miscounts)
    }

    /// Compares what was just seen of free devices with the jobs' records.
    pub(super) fn check_free_devices(&mut self, seen: &Observation) {
        let nodes = seen.nodes().iter().enumerate();
        let nodes = nodes.filter(|(_, node)| !node.devices.is_empty());
        let wrong = nodes.filter_map(|(position, node)| {
            let entry = self.slurmctld.nodes.get(node.index as usize)?;
            // Its memory keeps others off.
            let is_whole = self.is_whole_node_ending(node.index);
            (!is_whole)
                .then(|| self.miscount(seen, position, entry))
                .flatten()
        });
        let wrong: Vec<String> = wrong.collect();
        self.miscounts.extend(wrong);
    }

    fn miscount(&self, seen: &Observation, position: usize, node: &NodeEntry) -> Option<String> {
        let held = self.held_devices(node);
        node.seen.devices.iter().find_map(|devices| {
            let kind = &devices.kind;
            let free = devices.count - node.count_of(kind, held.iter().copied());
            // Which of those that it takes for free Slurm will give a job, it does not say.
            let free = if self.may_be_ending(kind, node) {
                0
            } else {
                free
            };
            let has = |count: u64| {
                let (kind, count) = (kind.clone(), count);
                let asked = RequestedDevices { kind, count };
                let asks = job(0, 1).requesting(|request| request.devices = vec![asked]);
                seen.has_free_devices(position, &asks)
            };
            let is_less = free > 0 && !has(free);
            let name = &node.seen.name;
            (is_less || has(free + 1)).then(|| {
                let word = if is_less { "fewer" } else { "more" };
                format!("{free} {kind} of {name} are free, and {word} are seen")
            })
        })
    }

    fn is_whole_node_ending(&self, node: u32) -> bool {
        self.ending_on(node).any(|job| job.seen.request.exclusive)
    }

    /// Whether a job that is ending on a node may have devices of this kind there.
    fn may_be_ending(&self, kind: &str, node: &NodeEntry) -> bool {
        let ending = self.ending_on(node.seen.index);
        let mut asked = ending.flat_map(|job| &job.seen.request.devices);
        asked.any(|asked| is_of_kind(&asked.kind, kind) || is_of_kind(kind, &asked.kind))
    }

    fn ending_on(&self, node: u32) -> impl Iterator<Item = &JobEntry> {
        let jobs = self.slurmctld.jobs.values();
        jobs.filter(move |job| job.seen.completing && job.is_on(node))
    }

    /// The devices of a node that jobs have.
    fn held_devices(&self, node: &NodeEntry) -> BTreeSet<u32> {
        let index = node.seen.index;
        let jobs = self.slurmctld.jobs.values().filter(|job| job.has_nodes());
        let others = node.others.iter().flat_map(|others| &others.devices);
        let held = jobs.flat_map(|job| job.devices_on(index));
        held.chain(others.copied()).collect()
    }
}
