//! The rule that no device has two holders: by Slurm's accounting, by what processes may open, and
//! by what jobs ask for, which is counted apart from what gives them devices.

use std::collections::BTreeMap;

use crate::model::{ClusterModel, HeldDevice, JobEntry, NodeEntry, is_of_kind};

/// What is wrong now, if anything is.
pub(super) fn look(model: &ClusterModel) -> Result<(), String> {
    let nodes = model.nodes();
    if nodes.iter().all(|node| node.devices.is_empty()) {
        return Ok(());
    }
    let placed: Vec<&JobEntry> = (model.jobs().values())
        .filter(|job| job.has_nodes())
        .collect();
    each_has_one_holder(model, &placed)?;
    for node in nodes {
        requests_fit(node, &placed)?;
    }
    placed
        .iter()
        .try_for_each(|job| has_what_it_asks_for(job, nodes))
}

/// Jobs of which slurmctld knows, whose processes may be ending, and others share no device.
fn each_has_one_holder(model: &ClusterModel, placed: &[&JobEntry]) -> Result<(), String> {
    let mut holders: BTreeMap<HeldDevice, u32> = BTreeMap::new();
    let counted = placed.iter().flat_map(|job| {
        let devices = job.devices.iter();
        devices.map(|device| (*device, job.seen.id))
    });
    for (device, job) in counted.chain(model.opened_devices()) {
        let other = *holders.entry(device).or_insert(job);
        let node = &model.nodes()[device.node as usize];
        let (name, number) = (&node.seen.name, device.number);
        if other != job {
            return Err(format!(
                "device {number} of {name} has two holders: jobs {other} and {job}"
            ));
        }
        let others = node.others.as_ref();
        if others.is_some_and(|others| others.devices.contains(&number)) {
            return Err(format!(
                "device {number} of {name} has two holders: job {job} and another partition's"
            ));
        }
    }
    Ok(())
}

/// What jobs ask for on a node, and others have, is no more than it has.
fn requests_fit(node: &NodeEntry, placed: &[&JobEntry]) -> Result<(), String> {
    let here = placed.iter().filter(|job| job.is_on(node.seen.index));
    let others = node.others.iter().flat_map(|others| others.devices.iter());
    for devices in &node.seen.devices {
        let asked = here.clone().map(|job| asked_of(job, &devices.kind));
        let others = node.count_of(&devices.kind, others.clone().copied());
        let held = asked.sum::<u64>() + others;
        if held > devices.count {
            let (kind, name, has) = (&devices.kind, &node.seen.name, devices.count);
            return Err(format!("jobs ask for {held} {kind} of {name}'s {has}"));
        }
    }
    Ok(())
}

/// How many devices of this kind the job asks for on each of its nodes.
fn asked_of(job: &JobEntry, kind: &str) -> u64 {
    let asked = job.seen.request.devices.iter();
    let of_kind = asked.filter(|asked| is_of_kind(&asked.kind, kind));
    of_kind.map(|asked| asked.count).sum()
}

/// A job has the devices that it asks for, on each of its nodes; of whole nodes all.
fn has_what_it_asks_for(job: &JobEntry, nodes: &[NodeEntry]) -> Result<(), String> {
    let id = job.seen.id;
    for place in &job.seen.places {
        let node = &nodes[place.node as usize];
        for devices in &node.seen.devices {
            let kind = &devices.kind;
            let has = node.count_of(kind, job.devices_on(place.node));
            let asked = asked_of(job, kind);
            // A device that is given for its name may be of any type.
            let wrong = if job.seen.request.exclusive {
                has != devices.count
            } else if kind.contains(':') {
                has < asked
            } else {
                has != asked
            };
            if wrong {
                let name = &node.seen.name;
                return Err(format!(
                    "job {id} asks for {asked} {kind} on {name} and has {has}"
                ));
            }
        }
    }
    let is_placed = |device: &HeldDevice| job.is_on(device.node);
    if !job.devices.iter().all(is_placed) {
        return Err(format!("job {id} has devices of nodes where it is not"));
    }
    Ok(())
}
