//! Memory that a job asks for, and what it holds on its nodes.

use dfrs_core::Bytes;

use crate::saturating_u32;
use crate::slurm::observation::Observation;
use crate::slurm::records::{ObservedJob, ObservedPlace};
use crate::slurm::request::whole_nodes::whole_node;

/// Bytes in a MiB, Slurm's unit of memory.
pub(crate) const MIB: u64 = 1 << 20;

/// Memory of one task, and memory that each node holds once, as the user requested them. A job that
/// requests whole nodes, or no amount (Slurm: all of a node), holds all that its nodes have. A job
/// whose memory Slurm does not count needs no more than the nodes have where it is: a job that was
/// parked before their `RealMemory` was lowered would never come back.
pub fn memory_request(job: &ObservedJob, observation: &Observation) -> (Bytes, Bytes) {
    if job.wants_whole_nodes() {
        return (Bytes(0), Bytes(whole_node(job, observation) * MIB));
    }
    let is_released = !job.is_counted();
    let released = job.places.iter().filter(|_| is_released);
    let here = released.filter_map(|place| Some((place, observation.node_at(place.node)?.memory)));
    if let Some(asked) = job.request.memory_per_task() {
        let per_task = here.map(|(place, node)| node / u64::from(place.tasks.max(1)));
        let task = per_task.fold(asked, u64::min);
        return (Bytes(task.saturating_mul(MIB)), Bytes(0));
    }
    let node = here
        .map(|(_, node)| node)
        .fold(job.request.memory, u64::min);
    (Bytes(0), Bytes(node.saturating_mul(MIB)))
}

/// MiB that `tasks` tasks of `job` need on one node.
pub fn memory_on_node(job: &ObservedJob, tasks: u32, observation: &Observation) -> u64 {
    let (task, node) = memory_request(job, observation);
    task.0
        .saturating_mul(u64::from(tasks))
        .saturating_add(node.0)
        / MIB
}

/// How many tasks of a job that has its nodes for itself the memory of one is for, if it said how
/// much a CPU needs: Slurm counts that. At least one.
pub(crate) fn tasks_in_whole_node(job: &ObservedJob, observation: &Observation) -> Option<u32> {
    let task = job.request.memory_per_task()?;
    if !job.request.exclusive || task == 0 {
        return None;
    }
    let tasks = whole_node(job, observation) / task;
    Some(saturating_u32(tasks).max(1))
}

/// MiB that the job holds at this place when Slurm counts so many: all of the node, if it has it
/// for itself, and no more than the node has.
pub fn memory_held(
    job: &ObservedJob,
    place: &ObservedPlace,
    counted: u64,
    observation: &Observation,
) -> u64 {
    let node = observation.node_at(place.node);
    let node = node.map_or(u64::MAX, |node| node.memory);
    if job.wants_whole_nodes() {
        counted.max(memory_on_node(job, place.tasks, observation))
    } else {
        counted
    }
    .min(node)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{job, nodes};

    #[test]
    fn parked_job_needs_no_more_memory_than_its_nodes_have() {
        let mut nodes = nodes(2);
        nodes[1].memory = 300;
        let observation = Observation::new([], nodes);
        let parked = |memory_per_cpu, memory| {
            ObservedJob {
                places: vec![ObservedPlace {
                    node: 1,
                    tasks: 2,
                    memory_mib: 0,
                }],
                ..job(1, 2)
            }
            .requesting(|request| {
                request.memory_per_cpu = memory_per_cpu;
                request.memory = memory;
            })
        };
        let mib = |(task, node): (Bytes, Bytes)| (task.0 / MIB, node.0 / MIB);
        let request = |job| mib(memory_request(&job, &observation));
        assert_eq!(request(parked(false, 400)), (0, 300));
        assert_eq!(request(parked(false, 200)), (0, 200));
        assert_eq!(request(parked(true, 200)), (150, 0));
        assert_eq!(request(parked(true, 100)), (100, 0));
        let job = parked(false, 400);
        assert_eq!(memory_held(&job, &job.places[0], 400, &observation), 300);
    }

    #[test]
    fn memory_per_cpu_does_not_count_idle_threads() {
        let asks = job(1, 1).requesting(|request| {
            request.cpus_per_task = 4;
            request.idle_cpus = 2;
            request.memory = 100;
        });
        let observation = Observation::new([], nodes(1));
        assert_eq!(memory_request(&asks, &observation).0, Bytes(200 * MIB));
        assert_eq!(memory_on_node(&asks, 3, &observation), 600);
    }
}
