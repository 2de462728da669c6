//! The shim's records become the agent's.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use dfrs_agent::slurm::devices::{ObservedDevices, RequestedDevices};
use dfrs_agent::slurm::observation::{Observation, SnapshotDelta};
use dfrs_agent::slurm::records::{ObservedJob, ObservedNode, ObservedPlace, ObservedState};
use dfrs_agent::slurm::request::Request;

use super::bindings;

/// The arrays of a raw snapshot.
struct Arrays<'a> {
    jobs: &'a [bindings::dfrs_job_t],
    gone: &'a [u32],
    nodes: &'a [bindings::dfrs_node_t],
    places: &'a [bindings::dfrs_place_t],
    devices: &'a [bindings::dfrs_device_t],
    sets: &'a [bindings::dfrs_node_set_t],
    indexes: &'a [u32],
    strings: &'a [u8],
}

/// # Safety
///
/// `pointer` is null, or points to `count` elements that live as long as `'a`.
pub(super) unsafe fn slice_at<'a, T>(pointer: *const T, count: u32) -> &'a [T] {
    if pointer.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(pointer, count as usize) }
}

/// The part of an array that starts at `offset`; cut where the array ends.
pub(super) fn part<T>(array: &[T], offset: u32, count: u32) -> &[T] {
    let start = (offset as usize).min(array.len());
    let end = start.saturating_add(count as usize).min(array.len());
    &array[start..end]
}

impl<'a> Arrays<'a> {
    /// # Safety
    ///
    /// Each count of `raw` is that of its array, and `raw` is not freed as long as `'a`.
    unsafe fn of(raw: &'a bindings::dfrs_snapshot_t) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                jobs: slice_at(raw.jobs, raw.job_count),
                gone: slice_at(raw.gone, raw.gone_count),
                nodes: slice_at(raw.nodes, raw.node_count),
                places: slice_at(raw.places, raw.place_count),
                devices: slice_at(raw.devices, raw.device_count),
                sets: slice_at(raw.sets, raw.set_count),
                indexes: slice_at(raw.indexes, raw.index_count),
                strings: slice_at(raw.strings.cast(), raw.string_bytes),
            }
        }
    }

    fn text(&self, offset: u32) -> String {
        let tail = self.strings.get(offset as usize..).unwrap_or_default();
        let end = tail
            .iter()
            .position(|&byte| byte == 0)
            .unwrap_or(tail.len());
        String::from_utf8_lossy(&tail[..end]).into_owned()
    }

    fn node(&self, raw: &bindings::dfrs_node_t) -> ObservedNode {
        ObservedNode {
            index: raw.index,
            name: self.text(raw.name),
            up: raw.state == bindings::DFRS_NODE_UP,
            down: raw.state == bindings::DFRS_NODE_DOWN,
            all_cpus: raw.all_cpus,
            others_cpus: raw.others_cpus,
            cpus: raw.cpus,
            memory: raw.memory,
            allocated_memory_mib: raw.allocated_memory,
            devices: self.devices_of_node(raw),
            weight: raw.weight,
            leaf_switch: (raw.leaf > 0).then(|| self.text(raw.leaf).into()),
        }
    }

    fn devices_of_node(&self, raw: &bindings::dfrs_node_t) -> Vec<ObservedDevices> {
        let devices = part(self.devices, raw.device_offset, raw.device_count).iter();
        let decoded = devices.map(|devices| ObservedDevices {
            kind: self.text(devices.kind).into(),
            count: devices.count,
            allocated: devices.allocated,
        });
        decoded.collect()
    }

    fn devices_of_job(&self, raw: &bindings::dfrs_job_t) -> Vec<RequestedDevices> {
        let devices = part(self.devices, raw.device_offset, raw.device_count).iter();
        let decoded = devices.map(|devices| RequestedDevices {
            kind: self.text(devices.kind).into(),
            count: devices.count,
        });
        decoded.filter(|devices| devices.count > 0).collect()
    }

    fn places_of(&self, raw: &bindings::dfrs_job_t) -> Vec<ObservedPlace> {
        let places = part(self.places, raw.place_offset, raw.place_count);
        let mut places: Vec<ObservedPlace> = places.iter().map(place).collect();
        let is_sized = raw.flags & bindings::DFRS_JOB_SIZED_BY_NODES != 0;
        if is_sized && raw.flags & bindings::DFRS_JOB_EXCLUSIVE != 0 {
            // On whole nodes that make its tasks.
            let each = raw.tasks_per_node.max(1);
            places.iter_mut().for_each(|place| place.tasks = each);
        } else {
            remove_surplus(&mut places, raw.tasks);
        }
        places
    }

    fn job(&self, raw: &bindings::dfrs_job_t, sets: &[Arc<[u32]>]) -> ObservedJob {
        let flag = |flag: u32| raw.flags & flag != 0;
        ObservedJob {
            id: raw.job_id,
            user: raw.user,
            submit_seconds: raw.submit_time,
            partition: self.text(raw.partition),
            comment: self.text(raw.comment),
            state: state(raw.state),
            completing: flag(bindings::DFRS_JOB_COMPLETING),
            configuring: flag(bindings::DFRS_JOB_CONFIGURING),
            steps_alive: flag(bindings::DFRS_JOB_STEPS_ALIVE),
            batch: flag(bindings::DFRS_JOB_BATCH),
            requeue: flag(bindings::DFRS_JOB_REQUEUE),
            priority: raw.priority,
            held: flag(bindings::DFRS_JOB_HELD),
            on_hold: flag(bindings::DFRS_JOB_ON_HOLD),
            admin_hold: flag(bindings::DFRS_JOB_ADMIN_HOLD),
            cron: flag(bindings::DFRS_JOB_CRON),
            holds_gres: flag(bindings::DFRS_JOB_HOLDS_GRES),
            component: flag(bindings::DFRS_JOB_COMPONENT),
            array: raw.array_job_id,
            array_task: raw.array_task,
            array_throttle: raw.array_throttle,
            array_master: flag(bindings::DFRS_JOB_ARRAY_MASTER),
            restarts: raw.restarts,
            request: self.request(raw, sets),
            warned: flag(bindings::DFRS_JOB_WARNED),
            starts_whole: false,
            last_launch_seconds: raw.last_launch,
            resumed_seconds: raw.resumed,
            eligible_seconds: raw.eligible_time,
            limit_minutes: raw.limit_minutes,
            partition_max_minutes: raw.partition_minutes,
            end_seconds: raw.end_time,
            free_until_seconds: raw.free_until,
            grace_end_seconds: raw.grace_end,
            deadline_seconds: raw.deadline,
            reservation_end_seconds: raw.reservation_end,
            warn_seconds: raw.warn_seconds,
            places: self.places_of(raw),
        }
    }

    fn request(&self, raw: &bindings::dfrs_job_t, sets: &[Arc<[u32]>]) -> Request {
        let flag = |flag: u32| raw.flags & flag != 0;
        let set = |one_based: u32| {
            let position = (one_based as usize).checked_sub(1);
            position.and_then(|position| sets.get(position).cloned())
        };
        Request {
            tasks: raw.tasks,
            cpus_per_task: raw.cpus_per_task,
            idle_cpus: raw.idle_cpus,
            tasks_per_node: raw.tasks_per_node,
            min_nodes: raw.min_nodes,
            max_nodes: raw.max_nodes,
            partition_max_nodes: raw.partition_nodes,
            memory: raw.memory,
            memory_per_cpu: flag(bindings::DFRS_JOB_MEMORY_PER_CPU),
            devices: self.devices_of_job(raw),
            exclusive: flag(bindings::DFRS_JOB_EXCLUSIVE),
            exclusive_user: flag(bindings::DFRS_JOB_EXCLUSIVE_USER),
            mcs_label: raw.label,
            unsupported: (raw.unsupported > 0).then(|| self.text(raw.unsupported_text).into()),
            eligible: set(raw.eligible),
            preferred: set(raw.preferred),
            contiguous: flag(bindings::DFRS_JOB_CONTIGUOUS),
            switches: raw.switches,
            switch_wait_seconds: raw.switch_seconds,
            all_eligible: flag(bindings::DFRS_JOB_ALL_ELIGIBLE),
            sized_by_nodes: flag(bindings::DFRS_JOB_SIZED_BY_NODES),
        }
    }
}

/// Takes tasks off that a job does not have: Slurm may give it more CPUs than its tasks need, whole nodes
/// for one, and the shim counts tasks by CPUs. Each place keeps one.
fn remove_surplus(places: &mut [ObservedPlace], tasks: u32) {
    let all: u32 = places.iter().map(|place| place.tasks).sum();
    let mut surplus = all.saturating_sub(tasks);
    for place in places.iter_mut().rev() {
        let off = surplus.min(place.tasks.saturating_sub(1));
        place.tasks -= off;
        surplus -= off;
    }
}

fn place(raw: &bindings::dfrs_place_t) -> ObservedPlace {
    ObservedPlace {
        node: raw.node,
        tasks: raw.tasks,
        memory_mib: raw.memory,
    }
}

fn state(raw: u32) -> ObservedState {
    match raw {
        bindings::DFRS_JOB_PENDING => ObservedState::Pending,
        bindings::DFRS_JOB_RUNNING => ObservedState::Running,
        bindings::DFRS_JOB_SUSPENDED => ObservedState::Suspended,
        _ => ObservedState::Ended,
    }
}

/// Sets of nodes that jobs may use: equal ones are one, from one look to the next, as long as a job
/// refers to them.
#[derive(Debug, Default)]
pub struct SharedNodeSets(BTreeMap<u64, Weak<[u32]>>);

impl SharedNodeSets {
    fn shared(&mut self, digest: u64, nodes: &[u32]) -> Arc<[u32]> {
        let known = self.0.get(&digest).and_then(Weak::upgrade);
        if let Some(known) = known.filter(|known| **known == *nodes) {
            return known;
        }
        let new: Arc<[u32]> = nodes.into();
        self.0.insert(digest, Arc::downgrade(&new));
        new
    }

    /// The sets of one snapshot, by position.
    fn intern(&mut self, arrays: &Arrays<'_>) -> Vec<Arc<[u32]>> {
        if self.0.len() > 2 * arrays.sets.len() + 64 {
            self.0.retain(|_, set| set.strong_count() > 0);
        }
        arrays
            .sets
            .iter()
            .map(|set| self.shared(set.digest, part(arrays.indexes, set.offset, set.count)))
            .collect()
    }
}

/// Brings what was seen up to date.
///
/// # Safety
///
/// `raw` was filled by `dfrs_snapshot()` of the view whose every other snapshot was applied to `seen`
/// with these `sets`, and is not freed.
pub unsafe fn apply(
    raw: &bindings::dfrs_snapshot_t,
    sets: &mut SharedNodeSets,
    seen: &mut Observation,
) -> SnapshotDelta {
    // SAFETY: the caller's promise: the shim sets each count to the number of elements.
    let arrays = unsafe { Arrays::of(raw) };
    let sets = sets.intern(&arrays);
    let nodes: Vec<ObservedNode> = arrays.nodes.iter().map(|node| arrays.node(node)).collect();
    let jobs = arrays.jobs.iter().map(|job| arrays.job(job, &sets));
    if raw.complete {
        return seen.replace_all(jobs, nodes);
    }
    let mut different = SnapshotDelta {
        nodes: raw.all_nodes || !nodes.is_empty(),
        ..SnapshotDelta::default()
    };
    if raw.all_nodes {
        seen.set_nodes(nodes);
    } else {
        seen.update_nodes(nodes);
    }
    for job in jobs {
        different.jobs.insert(job.id);
        seen.insert(job);
    }
    for &id in arrays.gone {
        different.jobs.insert(id);
        seen.remove(id);
    }
    different
}

#[cfg(test)]
mod tests;
