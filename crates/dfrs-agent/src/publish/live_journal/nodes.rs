//! The nodes of a live journal: each keeps its place for good, events refer to it.

use std::collections::BTreeMap;

use dfrs_core::{Bytes, NodeIndex};
use dfrs_proto::journal::PlatformNode;

use super::as_number;
use crate::job::placement::NamedPlacement;
use crate::saturating_u32;
use crate::slurm::devices::{are_counted_so, counted_by_kind};
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

    /// Has the nodes that are there now, and their devices. Returns whether any is different. Runs in
    /// each pass: it copies only what has changed. O(nodes × log nodes).
    pub(super) fn follow(&mut self, observation: &Observation) -> bool {
        let known = self.all.len();
        let mut seen: Vec<Option<&ObservedNode>> = vec![None; known];
        for node in observation.nodes() {
            match self.place(&node.name) {
                Some(place) => seen[place.0 as usize] = Some(node),
                None => self.add(node),
            }
        }
        let mut differs = self.all.len() > known;
        for (node, seen) in self.all.iter_mut().zip(seen) {
            differs |= update(node, seen);
        }
        differs
    }

    fn add(&mut self, node: &ObservedNode) {
        let place = saturating_u32(self.all.len());
        self.places.insert(node.name.clone(), NodeIndex(place));
        let (cpu, mem) = capacity(node);
        self.all.push(PlatformNode {
            name: node.name.clone(),
            cpu,
            mem,
            devices: counted_by_kind(&node.devices),
        });
    }
}

/// Its CPUs and its memory in bytes.
fn capacity(node: &ObservedNode) -> (f64, f64) {
    (
        f64::from(node.cpus_left()),
        as_number(Bytes(node.memory.saturating_mul(1 << 20))),
    )
}

/// Has the node as it is seen; it has nothing if it is not there. Returns whether it was different.
fn update(node: &mut PlatformNode, seen: Option<&ObservedNode>) -> bool {
    let (cpu, mem) = seen.map_or((0.0, 0.0), capacity);
    let devices = seen.map_or(&[][..], |seen| &seen.devices);
    let is_same = (node.cpu, node.mem) == (cpu, mem) && are_counted_so(devices, &node.devices);
    if !is_same {
        (node.cpu, node.mem) = (cpu, mem);
        node.devices = counted_by_kind(devices);
    }
    !is_same
}
