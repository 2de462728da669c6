//! Rules about which nodes a job may have together.

use serde::{Deserialize, Serialize};

use crate::mapping::Mapping;
use crate::node_index::NodeIndex;
use crate::node_set::NodeSet;
use crate::shared_list::SharedList;

/// Sets of nodes, no node in two of them.
pub type NodeGroups = SharedList<NodeSet>;

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
    pub fn groups(&self) -> &NodeGroups {
        match self {
            Self::Consecutive(groups) | Self::AtMost(_, groups) => groups,
        }
    }

    /// Which group the node is in. O(groups × log n).
    fn group_of(&self, node: NodeIndex) -> Option<usize> {
        let mut groups = self.groups().iter();
        groups.position(|group| group.contains(node))
    }

    /// Whether the job keeps the rule where these tasks are. O(groups × log n + runs × log n).
    pub fn allows(&self, mapping: &Mapping) -> bool {
        let used: Vec<usize> = mapping
            .nodes()
            .filter_map(|node| self.group_of(node))
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
    fn groups_are_written_as_lists_of_runs() {
        let rule = Together::AtMost(2, groups(&[&[0, 1], &[2]]));
        let text = serde_json::to_string(&rule).unwrap();
        assert_eq!(text, r#"{"AtMost":[2,[[[0,1]],[[2,2]]]]}"#);
        assert_eq!(serde_json::from_str::<Together>(&text).unwrap(), rule);
    }
}
