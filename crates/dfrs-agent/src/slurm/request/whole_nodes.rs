//! Jobs that get all memory of each of their nodes, where nodes differ in it.

use std::collections::BTreeMap;

use crate::slurm::observation::Observation;
use crate::slurm::records::{ObservedJob, ObservedNode};

/// MiB of each node of a job that gets all of them. The core plans with one amount for all nodes: a
/// pending job is for nodes of one size, that of which it may use most nodes (ties: the smaller
/// one), or of the largest if it must have nodes of several. Nodes that are down or drain count
/// only where the others do not suffice: `State=FUTURE` ones may be of any size. Nodes that are too
/// small for its request do not count, if any is not. O(nodes) where nodes differ.
pub fn whole_node(job: &ObservedJob, observation: &Observation) -> u64 {
    if observation.has_equal_memory() {
        return observation.largest_memory();
    }
    let here = job.places.iter();
    let here = here.filter_map(|place| observation.node_at(place.node));
    if let Some(max_memory) = here.map(|node| node.memory).max() {
        return max_memory;
    }
    // For one task, or for all on a node.
    let asked = job.request.memory_per_task().unwrap_or(job.request.memory);
    let holds = |node: &ObservedNode| node.memory >= asked;
    // A job that must have all of certain nodes has them up or not.
    let first = || {
        let up = sizes(job, observation, |node| node.up && holds(node));
        most_frequent(&up, job.request.min_nodes)
    };
    if let Some(best) = (!job.request.all_eligible).then(first).flatten() {
        return best;
    }
    let mut all = sizes(job, observation, holds);
    if all.is_empty() {
        all = sizes(job, observation, |_| true);
    }
    let least = if job.request.all_eligible {
        all.values().sum()
    } else {
        job.request.min_nodes
    };
    let largest = all.last_key_value().map(|(size, _)| *size);
    most_frequent(&all, least).or(largest).unwrap_or(0)
}

/// How many of the nodes that the job may use have so much memory, of those that `is_asked_for`
/// selects.
fn sizes(
    job: &ObservedJob,
    observation: &Observation,
    is_asked_for: impl Fn(&ObservedNode) -> bool,
) -> BTreeMap<u64, u32> {
    let mut sizes: BTreeMap<u64, u32> = BTreeMap::new();
    let nodes = observation.nodes_for(&job.request);
    for node in nodes.filter(|node| is_asked_for(node)) {
        *sizes.entry(node.memory).or_default() += 1;
    }
    sizes
}

/// The size of most nodes, of those of which there are so many.
fn most_frequent(sizes: &BTreeMap<u64, u32>, least: u32) -> Option<u64> {
    let enough = sizes.iter().filter(|(_, nodes)| **nodes >= least);
    let best =
        enough.max_by(|(one, of_one), (other, of_other)| of_one.cmp(of_other).then(other.cmp(one)));
    best.map(|(size, _)| *size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{job, nodes};

    /// Nodes 0 and 1 have 1000 MiB, node 2 has 2000.
    fn size(job: &ObservedJob) -> u64 {
        let mut nodes = nodes(3);
        nodes[2].memory = 2000;
        whole_node(job, &Observation::new([], nodes))
    }

    #[test]
    fn whole_node_job_is_for_nodes_of_one_size() {
        let whole = job(1, 1).requesting(|request| request.exclusive = true);
        assert_eq!(size(&whole), 1000);
        let on = |eligible: &[u32]| {
            whole
                .clone()
                .requesting(|request| request.eligible = Some(eligible.into()))
        };
        assert_eq!(size(&on(&[2])), 2000);
        assert_eq!(size(&on(&[1, 2])), 1000);
        assert_eq!(size(&on(&[])), 0);
        let both = on(&[1, 2]).requesting(|request| request.all_eligible = true);
        assert_eq!(size(&both), 2000, "no one size is enough");
    }

    #[test]
    fn whole_node_job_is_for_nodes_that_are_large_enough() {
        let asks = |memory_per_cpu, memory| {
            job(1, 1).requesting(|request| {
                request.exclusive = true;
                request.memory_per_cpu = memory_per_cpu;
                request.memory = memory;
            })
        };
        for per_cpu in [true, false] {
            assert_eq!(size(&asks(per_cpu, 1000)), 1000);
            assert_eq!(size(&asks(per_cpu, 1001)), 2000);
            assert_eq!(size(&asks(per_cpu, 2001)), 1000, "no node is");
        }
    }

    #[test]
    fn nodes_that_are_down_count_where_the_others_do_not_suffice() {
        let mut nodes = nodes(3);
        nodes[2].memory = 2000;
        for node in &mut nodes[..2] {
            (node.up, node.down) = (false, true);
        }
        let size = |min_nodes| {
            let whole = job(1, min_nodes).requesting(|request| {
                request.exclusive = true;
                request.min_nodes = min_nodes;
            });
            whole_node(&whole, &Observation::new([], nodes.clone()))
        };
        assert_eq!((size(1), size(2)), (2000, 1000));
    }
}
