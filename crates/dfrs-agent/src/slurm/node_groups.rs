//! Groups of nodes that rules of jobs are about.

use std::collections::BTreeMap;

use dfrs_core::{NodeGroups, NodeIndex, NodeSet};

use crate::slurm::records::ObservedNode;

/// The groups that these nodes form: made when nodes come or go, or are at other switches.
#[derive(Clone, Debug, Default)]
pub(crate) struct ObservedGroups {
    /// Nodes that follow each other in Slurm's order, with no other node between them.
    pub(crate) runs: NodeGroups,
    /// Those of each leaf switch, in the order of their first nodes; none if the network has no
    /// switches that Slurm knows.
    pub(crate) leaves: NodeGroups,
}

impl ObservedGroups {
    /// O(nodes log nodes).
    pub(crate) fn of(nodes: &[ObservedNode]) -> Self {
        Self {
            runs: runs(nodes),
            leaves: leaves(nodes),
        }
    }
}

fn runs(nodes: &[ObservedNode]) -> NodeGroups {
    let mut position = 0;
    let follows = |one: &ObservedNode, next: &ObservedNode| one.index + 1 == next.index;
    let set = |run: &[ObservedNode]| -> NodeSet {
        let positions = run.iter().map(|_| {
            position += 1;
            NodeIndex(position - 1)
        });
        positions.collect()
    };
    nodes.chunk_by(follows).map(set).collect()
}

fn leaves(nodes: &[ObservedNode]) -> NodeGroups {
    let mut members: BTreeMap<&str, Vec<NodeIndex>> = BTreeMap::new();
    for (position, node) in (0..).map(NodeIndex).zip(nodes) {
        if let Some(leaf) = &node.leaf_switch {
            members.entry(leaf).or_default().push(position);
        }
    }
    let mut members: Vec<Vec<NodeIndex>> = members.into_values().collect();
    members.sort_unstable();
    let sets = members.into_iter();
    sets.map(NodeSet::from_iter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::nodes;

    fn positions(groups: &NodeGroups) -> Vec<Vec<u32>> {
        let list = |set: &NodeSet| set.iter().map(|node| node.0).collect();
        groups.iter().map(list).collect()
    }

    #[test]
    fn a_node_of_others_ends_a_run() {
        let mut all = nodes(5);
        all[3].index = 7;
        all[4].index = 8;
        let groups = ObservedGroups::of(&all);
        assert_eq!(positions(&groups.runs), [vec![0, 1, 2], vec![3, 4]]);
        assert_eq!(positions(&groups.leaves), Vec::<Vec<u32>>::new());
    }

    #[test]
    fn nodes_of_a_leaf_switch_are_a_group() {
        let mut all = nodes(5);
        for (node, leaf) in all.iter_mut().zip(["s2", "s1", "s2", "s1"]) {
            node.leaf_switch = Some(leaf.into());
        }
        let groups = ObservedGroups::of(&all);
        assert_eq!(positions(&groups.leaves), [vec![0, 2], vec![1, 3]]);
    }
}
