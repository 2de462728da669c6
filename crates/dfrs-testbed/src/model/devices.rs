//! Devices of nodes (GRES): Slurm gives each of them to one job, which has it from its start to its
//! end, also while it is suspended.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::calls::{CallResult, codes, error};
use super::cluster::ClusterModel;
use super::slurmctld::{JobEntry, NodeEntry, Slurmctld};
use super::work::ModelRun;
use dfrs_agent::slurm::devices::{ObservedDevices, RequestedDevices};
use dfrs_agent::slurm::records::{ObservedJob, ObservedNode, ObservedPlace, ObservedState};

/// A device, by its node and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeldDevice {
    /// Position of its node in the node table.
    pub node: u32,
    /// From 0 on, as in gres.conf.
    pub number: u32,
}

/// What a node with these devices (`Gres=` of slurm.conf) has of each kind: of each name, and of
/// each type.
pub(crate) fn counted(gres: &[RequestedDevices]) -> Vec<ObservedDevices> {
    let mut counted: Vec<ObservedDevices> = Vec::new();
    let mut add = |kind: &str, count: u64| match counted.iter_mut().find(|it| *it.kind == *kind) {
        Some(known) => known.count += count,
        None => counted.push(ObservedDevices {
            kind: kind.into(),
            count,
            allocated: 0,
        }),
    };
    for devices in gres {
        if let Some((name, _)) = devices.kind.split_once(':') {
            add(name, devices.count);
        }
        add(&devices.kind, devices.count);
    }
    counted
}

/// The kind of each device of a node, by number: those of a type first.
pub(super) fn each_device(node: &ObservedNode) -> Vec<Arc<str>> {
    let mut each: Vec<Arc<str>> = Vec::new();
    let mut add = |devices: &ObservedDevices, known: u64| {
        each.extend((known..devices.count).map(|_| Arc::clone(&devices.kind)));
    };
    let (typed, named): (Vec<_>, Vec<_>) =
        (node.devices.iter()).partition(|devices| devices.kind.contains(':'));
    for devices in &typed {
        add(devices, 0);
    }
    for devices in named {
        let types = typed
            .iter()
            .filter(|it| is_of_kind(&it.kind, &devices.kind));
        add(devices, types.map(|it| it.count).sum());
    }
    each
}

/// Whether a device of one kind is also of the other: one of a type is of its name, too.
pub(crate) fn is_of_kind(device: &str, kind: &str) -> bool {
    device == kind || device.split_once(':').is_some_and(|(name, _)| name == kind)
}

impl NodeEntry {
    /// How many of these devices are of this kind.
    pub(crate) fn count_of(&self, kind: &str, devices: impl Iterator<Item = u32>) -> u64 {
        let each = devices.filter_map(|number| self.devices.get(number as usize));
        each.filter(|device| is_of_kind(device, kind)).count() as u64
    }

    /// The numbers of all of its devices.
    pub(crate) fn all_devices(&self) -> impl Iterator<Item = u32> + use<> {
        0..u32::try_from(self.devices.len()).unwrap_or(u32::MAX)
    }

    /// The first devices that are left beside the taken ones, as a job asks for them, those of a
    /// type first; `None`: there are not so many.
    fn pick(&self, taken: &BTreeSet<u32>, asked: &[RequestedDevices]) -> Option<BTreeSet<u32>> {
        let mut picked = BTreeSet::new();
        let (typed, named): (Vec<_>, Vec<_>) =
            (asked.iter()).partition(|devices| devices.kind.contains(':'));
        for devices in typed.into_iter().chain(named) {
            let left = (0..).zip(&self.devices).filter(|(number, device)| {
                let free = !taken.contains(number) && !picked.contains(number);
                free && is_of_kind(device, &devices.kind)
            });
            let count = usize::try_from(devices.count).unwrap_or(usize::MAX);
            let some: Vec<u32> = left.map(|(number, _)| number).take(count).collect();
            if some.len() < count {
                return None;
            }
            picked.extend(some);
        }
        Some(picked)
    }
}

impl JobEntry {
    /// The numbers of its devices on a node.
    pub(crate) fn devices_on(&self, node: u32) -> impl Iterator<Item = u32> {
        let here = self
            .devices
            .iter()
            .filter(move |device| device.node == node);
        here.map(|device| device.number)
    }
}

impl Slurmctld {
    /// The devices of a node that jobs have: by Slurm's accounting, in which they are free as soon
    /// as the job ends.
    pub(super) fn taken_devices(&self, node: u32) -> BTreeSet<u32> {
        let jobs = self.jobs.values().filter(|job| job.has_nodes());
        let ours = jobs.flat_map(|job| job.devices_on(node));
        let others = self.nodes[node as usize].others.iter();
        ours.chain(others.flat_map(|others| others.devices.iter().copied()))
            .collect()
    }

    /// What the job would get of a node's devices: what it asks for there, or all of a whole node.
    fn pick_devices(&self, node: u32, job: &ObservedJob, whole: bool) -> Option<BTreeSet<u32>> {
        let entry = self.nodes.get(node as usize)?;
        if entry.devices.is_empty() {
            return job.request.devices.is_empty().then(BTreeSet::new);
        }
        let taken = self.taken_devices(node);
        if whole || job.request.exclusive {
            let all: BTreeSet<u32> = entry.all_devices().collect();
            let has_enough = entry.pick(&taken, &job.request.devices).is_some();
            return (has_enough && taken.is_empty()).then_some(all);
        }
        entry.pick(&taken, &job.request.devices)
    }
}

impl ClusterModel {
    /// The devices that a job gets with a start.
    pub(super) fn devices_for(
        &self,
        job: &ObservedJob,
        places: &[ObservedPlace],
        whole: bool,
    ) -> CallResult<Vec<HeldDevice>> {
        let mut devices = Vec::new();
        for place in places {
            let node = place.node;
            let Some(picked) = self.slurmctld.pick_devices(node, job, whole) else {
                return error(codes::NODES_BUSY, "Requested nodes are busy");
            };
            devices.extend(picked.into_iter().map(|number| HeldDevice { node, number }));
        }
        Ok(devices)
    }

    /// Whether a node has the devices free that the job would get there.
    pub(super) fn has_devices_for(&self, node: u32, job: &ObservedJob) -> bool {
        self.slurmctld.pick_devices(node, job, false).is_some()
    }

    /// What a snapshot shows of a node's devices.
    pub(super) fn shown_devices(&self, node: &NodeEntry) -> Vec<ObservedDevices> {
        if node.seen.devices.is_empty() {
            return Vec::new();
        }
        let taken = self.slurmctld.taken_devices(node.seen.index);
        let kinds = node.seen.devices.iter().cloned();
        let kinds = kinds.map(|devices| ObservedDevices {
            allocated: node.count_of(&devices.kind, taken.iter().copied()),
            ..devices
        });
        kinds.collect()
    }

    /// The devices that processes may open, and the jobs whose they are: of all that slurmctld
    /// knows about, the ending ones included.
    pub(crate) fn opened_devices(&self) -> impl Iterator<Item = (HeldDevice, u32)> {
        let known = self
            .runs
            .iter()
            .filter(|(id, run)| self.is_known(**id, run));
        known.flat_map(|(_, run)| {
            let open = |device: &&HeldDevice| run.alive.contains(&device.node);
            let devices: Vec<&HeldDevice> = run.devices.iter().filter(open).collect();
            devices.into_iter().map(|device| (*device, run.job))
        })
    }

    /// Whether a waiting job with devices could start beside the jobs that are there: it may, and
    /// enough nodes each have all of its devices and its memory free, with nothing ending there.
    pub fn could_start_with_devices(&self, job: &JobEntry) -> bool {
        let seen = &job.seen;
        let waits = seen.state == ObservedState::Pending && !seen.completing && !seen.array_master;
        if seen.request.devices.is_empty() || !waits || self.gate(seen.id).is_err() {
            return false;
        }
        let nodes = self.slurmctld.nodes.iter();
        let free = nodes.filter(|node| self.is_free_for(node, job));
        free.count() >= seen.request.min_nodes.max(1) as usize
    }

    fn is_free_for(&self, node: &NodeEntry, job: &JobEntry) -> bool {
        let index = node.seen.index;
        let place = ObservedPlace {
            node: index,
            tasks: job.seen.request.tasks,
            memory_mib: 0,
        };
        let memory = self.place(&job.seen, &place, false).memory_mib;
        self.is_well(index)
            && self.is_open(node, &job.seen)
            && self.fits(index, memory)
            && !self.is_kept_off(job, index)
            && !self.slurmctld.conflicts_with_users(index, &job.seen)
            && self.machines[index as usize].runs.iter().all(|id| {
                let run = self.runs.get(id);
                run.is_some_and(|run: &ModelRun| self.is_known(*id, run) && !run.ends)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dfrs_agent::fixtures::nodes;

    fn gres(parts: &[(&str, u64)]) -> Vec<RequestedDevices> {
        let one = |(kind, count): &(&str, u64)| RequestedDevices {
            kind: (*kind).into(),
            count: *count,
        };
        parts.iter().map(one).collect()
    }

    fn node(parts: &[(&str, u64)]) -> NodeEntry {
        let mut seen = nodes(1).remove(0);
        seen.devices = counted(&gres(parts));
        let model = ClusterModel::new(
            vec![(seen, "a".to_owned())],
            crate::model::ModelSettings::default(),
            dfrs_core::Time(0),
        );
        model.nodes()[0].clone()
    }

    #[test]
    fn device_of_a_type_counts_for_its_name_when_devices_are_counted() {
        let counted = counted(&gres(&[("gpu:a100", 2), ("gpu:v100", 1), ("nic", 1)]));
        let counts = counted.iter().map(|it| (&*it.kind, it.count));
        assert!(counts.eq([("gpu", 3), ("gpu:a100", 2), ("gpu:v100", 1), ("nic", 1)]));
        let node = node(&[("gpu:a100", 2), ("gpu:v100", 1), ("nic", 1)]);
        let kinds: Vec<&str> = node.devices.iter().map(|kind| &**kind).collect();
        assert_eq!(kinds, ["gpu:a100", "gpu:a100", "gpu:v100", "nic"]);
        assert_eq!(node.count_of("gpu", [0, 2, 3].into_iter()), 2);
    }

    #[test]
    fn job_gets_the_first_free_devices_of_what_it_asks_for() {
        let node = node(&[("gpu:a100", 2), ("gpu:v100", 1), ("nic", 1)]);
        let pick = |taken: &[u32], asked: &[(&str, u64)]| {
            let picked = node.pick(&taken.iter().copied().collect(), &gres(asked));
            picked.map(|picked| picked.into_iter().collect::<Vec<u32>>())
        };
        assert_eq!(pick(&[0], &[("gpu", 1)]), Some(vec![1]));
        assert_eq!(
            pick(&[], &[("gpu", 2), ("gpu:a100", 1)]),
            Some(vec![0, 1, 2])
        );
        assert_eq!(pick(&[0], &[("gpu:a100", 2)]), None);
        assert_eq!(pick(&[0, 1, 2], &[("nic", 1)]), Some(vec![3]));
        assert_eq!(pick(&[0, 1, 2], &[("gpu", 1)]), None);
        assert_eq!(pick(&[], &[]), Some(Vec::new()));
    }
}
