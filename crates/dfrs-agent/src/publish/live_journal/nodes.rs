//! The nodes of a live journal: each keeps its place for good, events refer to it.

use std::collections::BTreeMap;

use dfrs_core::{Bytes, NodeIndex};
use dfrs_proto::devices::DevicesByKind;
use dfrs_proto::journal::PlatformNode;

use super::as_number;
use crate::job::placement::NamedPlacement;
use crate::slurm::devices::counted_by_kind;
use crate::slurm::observation::Observation;
use crate::slurm::records::ObservedNode;

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

    /// Has the nodes that are there now, and their devices. Returns whether any is different. O(nodes × log nodes).
    pub(super) fn follow(&mut self, observation: &Observation) -> bool {
        let known = self.all.len();
        let mut capacities = vec![NodeCapacity::default(); known];
        for node in observation.nodes() {
            let capacity = NodeCapacity::of(node);
            match self.place(&node.name) {
                Some(place) => capacities[place.0 as usize] = capacity,
                None => self.add(&node.name, capacity),
            }
        }
        let mut differs = self.all.len() > known;
        for (node, capacity) in self.all.iter_mut().zip(capacities) {
            let now = capacity.of_node(std::mem::take(&mut node.name));
            let before = std::mem::replace(node, now);
            differs |= (before.cpu, before.mem) != (node.cpu, node.mem);
            differs |= before.devices != node.devices;
        }
        differs
    }

    fn add(&mut self, name: &str, capacity: NodeCapacity) {
        let place = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.places.insert(name.to_owned(), NodeIndex(place));
        self.all.push(capacity.of_node(name.to_owned()));
    }
}

/// What the journal says that a node has; nothing of one that is not there.
#[derive(Clone, Default)]
struct NodeCapacity {
    cpu: f64,
    mem: f64,
    devices: DevicesByKind,
}

impl NodeCapacity {
    fn of(node: &ObservedNode) -> Self {
        Self {
            cpu: f64::from(node.cpus_left()),
            mem: as_number(Bytes(node.memory.saturating_mul(1 << 20))),
            devices: counted_by_kind(&node.devices),
        }
    }

    /// Of the node of this name.
    fn of_node(self, name: String) -> PlatformNode {
        let Self { cpu, mem, devices } = self;
        PlatformNode {
            name,
            cpu,
            mem,
            devices,
        }
    }
}
