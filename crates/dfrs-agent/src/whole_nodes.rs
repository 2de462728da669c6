//! Jobs that get all memory of each of their nodes, where nodes differ in it.

use std::collections::BTreeMap;

use crate::observation::{Observation, ObservedJob, ObservedNode};

/// MiB of each node of a job that gets all of them. The core plans with one amount for all nodes: a waiting
/// job is for nodes of one size, that of which it may use most nodes (ties: the smaller one), or of
/// the largest if it must have nodes of several. O(nodes) where nodes differ.
#[must_use]
pub fn whole_node(job: &ObservedJob, observation: &Observation) -> u64 {
    if observation.has_equal_memory() {
        return observation.largest_memory();
    }
    let node = |index: &u32| {
        let position = observation.node_position(*index)?;
        observation.nodes().get(position)
    };
    let here = job.places.iter().filter_map(|place| node(&place.node));
    if let Some(most) = here.map(|node| node.memory).max() {
        return most;
    }
    let mut sizes: BTreeMap<u64, u32> = BTreeMap::new();
    let mut count = |node: &ObservedNode| *sizes.entry(node.memory).or_default() += 1;
    match &job.eligible {
        Some(eligible) => eligible.iter().filter_map(node).for_each(&mut count),
        None => observation.nodes().iter().for_each(&mut count),
    }
    let all: u32 = sizes.values().sum();
    let least = if job.all_eligible { all } else { job.min_nodes };
    let enough = sizes.iter().filter(|(_, nodes)| **nodes >= least);
    let best =
        enough.max_by(|(one, of_one), (other, of_other)| of_one.cmp(of_other).then(other.cmp(one)));
    let largest = sizes.last_key_value();
    best.or(largest).map_or(0, |(size, _)| *size)
}

/// Whether the node has another amount than the job is for, if it is for one.
pub(crate) fn is_left_out(node: &ObservedNode, whole: Option<u64>) -> bool {
    whole.is_some_and(|memory| node.memory != memory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{job, nodes};

    /// Nodes 0 and 1 have 1000 MiB, node 2 has 2000.
    fn size(job: &ObservedJob) -> u64 {
        let mut nodes = nodes(3);
        nodes[2].memory = 2000;
        whole_node(job, &Observation::new([], nodes))
    }

    #[test]
    fn a_job_is_for_nodes_of_one_size() {
        let whole = ObservedJob {
            exclusive: true,
            ..job(1, 1)
        };
        assert_eq!(size(&whole), 1000);
        let on = |eligible: &[u32]| ObservedJob {
            eligible: Some(eligible.into()),
            ..whole.clone()
        };
        assert_eq!(size(&on(&[2])), 2000);
        assert_eq!(size(&on(&[1, 2])), 1000);
        assert_eq!(size(&on(&[])), 0);
        let both = ObservedJob {
            all_eligible: true,
            ..on(&[1, 2])
        };
        assert_eq!(size(&both), 2000, "no one size is enough");
    }
}
