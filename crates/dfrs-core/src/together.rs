//! Rules about which nodes a job may have together.

use std::cmp::Ordering;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::mapping::Mapping;
use crate::node_index::NodeIndex;
use crate::node_set::NodeSet;

/// Sets of nodes, no node in two of them. A clone is the same sets and takes no memory of its own.
#[derive(Clone, Debug, Default)]
pub struct NodeGroups(Arc<[NodeSet]>);

/// Which nodes a job may have together; with one node it keeps any rule. Nodes that are in no group
/// are not for the job.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Together {
    /// Nodes of one group that follow each other without a gap (Slurm: `--contiguous`; the groups
    /// are the runs of nodes that Slurm has without a gap).
    Consecutive(NodeGroups),
    /// Nodes of at most so many groups (Slurm: `--switches`; the groups are the nodes of each leaf
    /// switch).
    AtMost(u32, NodeGroups),
}

impl Together {
    /// The sets that it is about.
    #[must_use]
    pub fn groups(&self) -> &NodeGroups {
        match self {
            Self::Consecutive(groups) | Self::AtMost(_, groups) => groups,
        }
    }

    /// Whether the job keeps the rule where these tasks are. O(groups × log n + runs × log n).
    #[must_use]
    pub fn allows(&self, mapping: &Mapping) -> bool {
        let used: Vec<usize> = mapping
            .nodes()
            .filter_map(|node| self.groups().position_of(node))
            .collect();
        if mapping.node_count() <= 1 {
            return true;
        }
        let mut distinct = used.clone();
        distinct.sort_unstable();
        distinct.dedup();
        used.len() == mapping.node_count()
            && match self {
                Self::AtMost(most, _) => distinct.len() <= *most as usize,
                Self::Consecutive(_) => distinct.len() == 1 && follow_each_other(mapping),
            }
    }
}

/// Whether the nodes, ascending, have no gap between them.
fn follow_each_other(mapping: &Mapping) -> bool {
    let next = mapping.nodes().skip(1);
    mapping
        .nodes()
        .zip(next)
        .all(|(node, next)| node.0.checked_add(1) == Some(next.0))
}

impl NodeGroups {
    /// Which group the node is in. O(groups × log n).
    fn position_of(&self, node: NodeIndex) -> Option<usize> {
        self.iter().position(|group| group.contains(node))
    }

    /// Whether both are one list in memory.
    #[must_use]
    pub fn is_shared_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Deref for NodeGroups {
    type Target = [NodeSet];

    fn deref(&self) -> &[NodeSet] {
        &self.0
    }
}

impl FromIterator<NodeSet> for NodeGroups {
    fn from_iter<T: IntoIterator<Item = NodeSet>>(groups: T) -> Self {
        Self(groups.into_iter().collect())
    }
}

impl Ord for NodeGroups {
    /// As lists are ordered. O(1) for clones.
    fn cmp(&self, other: &Self) -> Ordering {
        if self.is_shared_with(other) {
            return Ordering::Equal;
        }
        self.0.cmp(&other.0)
    }
}

impl PartialOrd for NodeGroups {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for NodeGroups {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for NodeGroups {}

impl Serialize for NodeGroups {
    /// As the list of lists that it is.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.as_ref().serialize(serializer)
    }
}

impl<'a> Deserialize<'a> for NodeGroups {
    fn deserialize<D: Deserializer<'a>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::deserialize(deserializer)?.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(lists: &[&[u32]]) -> NodeGroups {
        let set = |nodes: &&[u32]| nodes.iter().copied().map(NodeIndex).collect::<NodeSet>();
        lists.iter().map(set).collect()
    }

    fn on(nodes: &[u32]) -> Mapping {
        Mapping::from_tasks(nodes.iter().copied().map(NodeIndex))
    }

    #[test]
    fn consecutive_nodes_are_of_one_group_and_have_no_gap() {
        let rule = Together::Consecutive(groups(&[&[0, 1, 2], &[3, 4]]));
        assert!(rule.allows(&on(&[0, 1, 1, 2])) && rule.allows(&on(&[3, 4])));
        assert!(!rule.allows(&on(&[0, 2])) && !rule.allows(&on(&[2, 3])));
        assert!(rule.allows(&on(&[7])) && !rule.allows(&on(&[4, 5])));
    }

    #[test]
    fn nodes_are_of_at_most_so_many_groups() {
        let rule = |most| Together::AtMost(most, groups(&[&[0, 3], &[1, 4], &[2]]));
        assert!(rule(1).allows(&on(&[0, 3])) && !rule(1).allows(&on(&[0, 1])));
        assert!(rule(2).allows(&on(&[0, 1, 3, 4])) && !rule(2).allows(&on(&[0, 1, 2])));
        assert!(!rule(2).allows(&on(&[0, 5])));
    }

    #[test]
    fn groups_are_written_as_lists() {
        let rule = Together::AtMost(2, groups(&[&[0, 1], &[2]]));
        let text = serde_json::to_string(&rule).unwrap();
        assert_eq!(text, r#"{"AtMost":[2,[[0,1],[2]]]}"#);
        assert_eq!(serde_json::from_str::<Together>(&text).unwrap(), rule);
    }
}
