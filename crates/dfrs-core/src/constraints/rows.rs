//! Which nodes can bind, and which of them bind together.

use std::ops::Range;

use crate::model::Node;

use super::segments::{Segment, Segments};

/// Stands for the constraint of what never binds.
const NEVER_BINDS: u32 = u32::MAX;

/// The constraints that can bind: those of nodes whose needs together exceed their capacity.
///
/// Neighbouring nodes that have the same capacities and on which the same jobs need the same are a
/// group, which has one constraint: where one of its nodes binds, all do. Jobs
/// mostly have runs of neighbouring nodes, so that groups are much fewer than nodes.
pub(super) struct Rows {
    /// The capacity of each constraint.
    pub(super) capacity: Vec<u64>,
    /// How many nodes each constraint stands for.
    pub(super) nodes: Vec<u32>,
    /// The group of each node; at last the number of groups.
    group_of: Vec<u32>,
    /// The constraint of each group.
    row_of: Vec<u32>,
}

impl Rows {
    /// O(nodes + segments).
    pub(super) fn of(nodes: &[Node], segments: &Segments) -> Self {
        let max = nodes.len().min(2 * segments.len() + 1);
        let mut rows = Self {
            capacity: Vec::with_capacity(max),
            nodes: Vec::with_capacity(max),
            group_of: Vec::with_capacity(nodes.len() + 1),
            row_of: Vec::with_capacity(max),
        };
        let changes = NeedChanges::of(nodes.len(), segments);
        let mut total = 0;
        let mut group = 0;
        let mut start = 0;
        while start < nodes.len() {
            let end = changes.group_end(nodes, start);
            total += changes.needs[start];
            rows.add(nodes[start].cpu.0, total, end - start);
            rows.group_of.resize(end, group);
            group += 1;
            start = end;
        }
        rows.group_of.push(group);
        rows
    }

    /// Adds the constraint of a group, if it can bind.
    fn add(&mut self, capacity: u64, total: i128, nodes: usize) {
        let row = if total > i128::from(capacity) {
            let row = u32::try_from(self.capacity.len()).unwrap_or(NEVER_BINDS);
            self.capacity.push(capacity);
            self.nodes.push(u32::try_from(nodes).unwrap_or(u32::MAX));
            row
        } else {
            NEVER_BINDS
        };
        self.row_of.push(row);
    }

    /// How often a segment is part of a constraint, at most.
    pub(super) fn max_terms(&self, segments: &Segments) -> usize {
        segments
            .iter()
            .map(|segment| self.groups(segment).len())
            .sum()
    }

    /// The groups of the segment's nodes; each begins and ends within it.
    #[inline]
    fn groups(&self, segment: &Segment) -> Range<usize> {
        let nodes = segment.nodes();
        self.group_of[nodes.start] as usize..self.group_of[nodes.end] as usize
    }

    /// The constraints that the segment is part of, ascending.
    #[inline]
    pub(super) fn of_segment(&self, segment: &Segment) -> impl Iterator<Item = u32> {
        self.groups(segment)
            .map(|group| self.row_of[group])
            .filter(|row| *row != NEVER_BINDS)
    }
}

/// How needs change from node to node.
struct NeedChanges {
    /// By how much more CPU is needed on each node than on the one before.
    needs: Vec<i128>,
    /// Whether some job needs something else on the node than on the one before.
    is_edge: Vec<bool>,
}

impl NeedChanges {
    /// O(nodes + segments).
    fn of(nodes: usize, segments: &Segments) -> Self {
        let mut changes = Self {
            needs: vec![0; nodes + 1],
            is_edge: vec![false; nodes + 1],
        };
        for segment in segments.iter() {
            let nodes = segment.nodes();
            let need = i128::from(segment.need);
            changes.needs[nodes.start] += need;
            changes.needs[nodes.end] -= need;
            changes.is_edge[nodes.start] = true;
            changes.is_edge[nodes.end] = true;
        }
        changes
    }

    /// The end of the group that begins at this node.
    fn group_end(&self, nodes: &[Node], start: usize) -> usize {
        let first = &nodes[start];
        let others = nodes[start + 1..].iter().zip(&self.is_edge[start + 1..]);
        let alike = others.take_while(|(node, is_edge)| !**is_edge && node.cpu == first.cpu);
        start + 1 + alike.count()
    }
}
