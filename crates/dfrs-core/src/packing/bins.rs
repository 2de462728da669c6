//! The nodes that take tasks, and what is pinned on them.

use crate::model::{Cluster, Job, NodeIndex};
use crate::node_set::NodeSet;
use crate::units::Cores;
use crate::usage::Usage;

use super::groups::LARGEST_CPU;

/// A node that takes tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bin {
    /// CPU capacity.
    pub(super) cpu: u64,
    /// Sum of the needs of what is pinned there.
    pub(super) cpu_pinned: u64,
    /// Memory capacity.
    pub(super) memory: u64,
    /// Memory in use by what is pinned there and by others.
    pub(super) memory_pinned: u64,
}

/// All nodes that take tasks, ascending.
pub(crate) struct Bins {
    pub(super) bins: Vec<Bin>,
    pub(super) nodes: Vec<NodeIndex>,
    /// For each bin, the number of bins from it on, itself included, that are equal to it to every
    /// job.
    pub(super) equal: Vec<usize>,
    /// For each bin, which of `shapes` it has.
    pub(super) shape: Vec<usize>,
    /// The distinct capacities (CPU, memory).
    pub(super) shapes: Vec<(u64, u64)>,
    /// Free memory of each bin and all after it.
    pub(super) memory_from: Vec<u128>,
    /// CPU capacity of each bin and all after it.
    pub(super) cpu_from: Vec<u128>,
}

impl Bins {
    /// The bins, given the sum of the needs of what is pinned on each node. O(nodes + nodes listed
    /// in layouts + shapes × nodes).
    pub(super) fn new(
        cluster: &Cluster,
        pinned: &Usage,
        load: impl Fn(NodeIndex) -> Cores,
        jobs: &[&Job],
    ) -> Self {
        let mut nodes = Vec::with_capacity(cluster.nodes.len());
        let indices = (0..).map(NodeIndex).zip(&cluster.nodes);
        let up = indices.filter(|(_, node)| node.is_up());
        nodes.extend(up.map(|(index, _)| index));
        let bins: Vec<Bin> = nodes
            .iter()
            .map(|node| Bin {
                cpu: cluster.nodes[node.index()].cpu.0.min(LARGEST_CPU),
                cpu_pinned: load(*node).0.min(LARGEST_CPU),
                memory: cluster.nodes[node.index()].memory.0,
                memory_pinned: pinned.memory(*node).0,
            })
            .collect();
        let mut found = Self {
            equal: vec![1; bins.len()],
            shape: Vec::with_capacity(bins.len()),
            shapes: Vec::new(),
            memory_from: vec![0; bins.len() + 1],
            cpu_from: vec![0; bins.len() + 1],
            bins,
            nodes,
        };
        found.classify();
        found.add_up(&boundaries(cluster, jobs));
        found
    }

    /// Fills `shape` and `shapes`.
    fn classify(&mut self) {
        let mut known = std::collections::BTreeMap::new();
        let mut before = None;
        for bin in &self.bins {
            let alike = (bin.cpu, bin.memory);
            if let Some(shape) = before.filter(|shape| self.shapes[*shape] == alike) {
                self.shape.push(shape);
                continue;
            }
            let next = self.shapes.len();
            let shape = *known.entry(alike).or_insert(next);
            if shape == next {
                self.shapes.push(alike);
            }
            self.shape.push(shape);
            before = Some(shape);
        }
    }

    /// Fills what looks ahead, from the last bin to the first.
    fn add_up(&mut self, boundary: &[bool]) {
        for place in (0..self.bins.len()).rev() {
            let bin = self.bins[place];
            self.memory_from[place] = self.memory_from[place + 1]
                + u128::from(bin.memory.saturating_sub(bin.memory_pinned));
            self.cpu_from[place] = self.cpu_from[place + 1] + u128::from(bin.cpu);
            let (Some(next), Some(next_node)) =
                (self.bins.get(place + 1), self.nodes.get(place + 1))
            else {
                continue;
            };
            let between = self.nodes[place].index() + 1..=next_node.index();
            if *next == bin && !boundary[between].iter().any(|is_boundary| *is_boundary) {
                self.equal[place] = self.equal[place + 1] + 1;
            }
        }
    }
}

/// For each node, whether it may differ from the one before in other than CPU and memory: some
/// job's layout allows only one of them, or their rigid resources differ in capacity or use.
fn boundaries(cluster: &Cluster, jobs: &[&Job]) -> Vec<bool> {
    let mut boundary = vec![false; cluster.nodes.len() + 1];
    let mut listed: Vec<&NodeSet> = jobs
        .iter()
        .filter_map(|job| job.layout.eligible.as_ref())
        .collect();
    // Most jobs share theirs.
    listed.dedup_by(|next, kept| next.is_shared_with(kept));
    for eligible in listed {
        for (at, node) in eligible.iter().enumerate() {
            let follows = at > 0 && eligible[at - 1].0.saturating_add(1) == node.0;
            let precedes = eligible
                .get(at + 1)
                .is_some_and(|next| next.0 == node.0.saturating_add(1));
            if let Some(start) = boundary.get_mut(node.index()).filter(|_| !follows) {
                *start = true;
            }
            if let Some(end) = boundary
                .get_mut(node.index().saturating_add(1))
                .filter(|_| !precedes)
            {
                *end = true;
            }
        }
    }
    if jobs.iter().any(|job| job.requires_devices()) {
        boundary.fill(true);
    }
    boundary
}
