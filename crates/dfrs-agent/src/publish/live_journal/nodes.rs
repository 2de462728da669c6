//! The nodes of a live journal: each keeps its place for good, events refer to it.

use std::collections::BTreeMap;

use dfrs_core::{Bytes, NodeIndex};
use dfrs_proto::journal::PlatformNode;

use super::as_number;
use crate::job::placement::NamedPlacement;
use crate::slurm::observation::Observation;

/// The nodes in their places. A node that DFRS no longer has, or has no jobs of, stays there
/// without capacity.
#[derive(Debug)]
pub(super) struct JournalNodes {
    all: Vec<PlatformNode>,
    places: BTreeMap<String, NodeIndex>,
}

impl JournalNodes {
    /// The nodes that a journal has.
    pub(super) fn new(all: Vec<PlatformNode>) -> Self {
        let names = all.iter().map(|node| node.name.clone());
        let places = names.zip((0..).map(NodeIndex)).collect();
        Self { all, places }
    }

    /// All of them, in their places.
    pub(super) fn all(&self) -> &[PlatformNode] {
        &self.all
    }

    /// Where the node of this name is.
    pub(super) fn place(&self, name: &str) -> Option<NodeIndex> {
        self.places.get(name).copied()
    }

    /// The name of the node there.
    pub(super) fn name(&self, place: NodeIndex) -> Option<&str> {
        let node = self.all.get(place.0 as usize)?;
        Some(&node.name)
    }

    /// One node for each task of a job that has this place.
    pub(super) fn per_task(&self, placement: &NamedPlacement) -> Vec<NodeIndex> {
        let spots = placement.0.iter();
        let nodes = spots.filter_map(|spot| Some((self.place(&spot.node)?, spot.tasks)));
        nodes
            .flat_map(|(node, tasks)| std::iter::repeat_n(node, tasks as usize))
            .collect()
    }

    /// Has the nodes that are there now. Returns whether any is different. O(nodes × log nodes).
    pub(super) fn follow(&mut self, observation: &Observation) -> bool {
        let known = self.all.len();
        let mut capacities = vec![(0.0, 0.0); known];
        for node in observation.nodes() {
            let capacity = (
                f64::from(node.cpus_left()),
                as_number(Bytes(node.memory.saturating_mul(1 << 20))),
            );
            match self.place(&node.name) {
                Some(place) => capacities[place.0 as usize] = capacity,
                None => self.add(&node.name, capacity),
            }
        }
        let mut differs = self.all.len() > known;
        for (node, (cpu, mem)) in self.all.iter_mut().zip(capacities) {
            differs |= (node.cpu, node.mem) != (cpu, mem);
            (node.cpu, node.mem) = (cpu, mem);
        }
        differs
    }

    fn add(&mut self, name: &str, (cpu, mem): (f64, f64)) {
        let place = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.places.insert(name.to_owned(), NodeIndex(place));
        let name = name.to_owned();
        self.all.push(PlatformNode { name, cpu, mem });
    }
}
