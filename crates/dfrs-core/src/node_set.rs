//! Sets of nodes that many jobs share.

use std::ops::Deref;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::node_index::NodeIndex;
use crate::shared_list::SharedList;

/// The most nodes of a set that is read: Slurm has fewer.
const MAX_NODES: usize = 1 << 16;

/// Some nodes, ascending and each once. A clone is the same set and takes no memory of its own: of
/// thousands of jobs that may use the same thousands of nodes, the list is there once.
///
/// As JSON the first and the last node of each run of nodes without a gap, e.g. `[[0,7],[9,9]]`:
/// most sets are a few runs of thousands of nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeSet(SharedList<NodeIndex>);

impl NodeSet {
    /// Whether the node is in it. O(log n).
    #[inline]
    pub fn contains(&self, node: NodeIndex) -> bool {
        self.0.binary_search(&node).is_ok()
    }

    /// This set with these nodes; itself if they are all in it. O(log n) for each of them, and O(n)
    /// if one is not.
    pub fn with(&self, nodes: impl IntoIterator<Item = NodeIndex>) -> Self {
        let mut new = nodes.into_iter().filter(|node| !self.contains(*node));
        match new.next() {
            None => self.clone(),
            Some(first) => self.iter().copied().chain([first]).chain(new).collect(),
        }
    }

    /// Whether both are one list in memory.
    #[inline]
    pub fn is_shared_with(&self, other: &Self) -> bool {
        self.0.is_shared_with(&other.0)
    }
}

impl Deref for NodeSet {
    type Target = [NodeIndex];

    fn deref(&self) -> &[NodeIndex] {
        &self.0
    }
}

impl FromIterator<NodeIndex> for NodeSet {
    fn from_iter<T: IntoIterator<Item = NodeIndex>>(nodes: T) -> Self {
        let mut nodes: Vec<NodeIndex> = nodes.into_iter().collect();
        nodes.sort_unstable();
        nodes.dedup();
        Self(nodes.into())
    }
}

impl Serialize for NodeSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let runs = self
            .0
            .chunk_by(|one, next| one.0.checked_add(1) == Some(next.0));
        serializer.collect_seq(runs.map(|run| (run[0], run[run.len() - 1])))
    }
}

impl<'a> Deserialize<'a> for NodeSet {
    fn deserialize<D: Deserializer<'a>>(deserializer: D) -> Result<Self, D::Error> {
        let mut nodes: Vec<NodeIndex> = Vec::new();
        for (first, last) in Vec::<(NodeIndex, NodeIndex)>::deserialize(deserializer)? {
            let room = MAX_NODES.saturating_sub(nodes.len());
            nodes.extend((first.0..=last.0).map(NodeIndex).take(room + 1));
            if nodes.len() > MAX_NODES {
                return Err(Error::custom(format!("more than {MAX_NODES} nodes")));
            }
        }
        Ok(nodes.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(nodes: &[u32]) -> NodeSet {
        nodes.iter().copied().map(NodeIndex).collect()
    }

    #[test]
    fn nodes_are_ascending_and_each_once() {
        let nodes = set(&[5, 2, 5, 9]);
        assert_eq!(*nodes, [2, 5, 9].map(NodeIndex));
        assert!(nodes.contains(NodeIndex(5)) && !nodes.contains(NodeIndex(6)));
        assert!(set(&[1, 2]) < nodes && set(&[2, 5]) < nodes && set(&[2, 6]) > nodes);
        assert_eq!(
            serde_json::to_string(&nodes).unwrap(),
            "[[2,2],[5,5],[9,9]]"
        );
    }

    #[test]
    fn node_set_in_json_is_runs_of_nodes() {
        let nodes = set(&[0, 1, 2, 5, 7, 8]);
        let json = serde_json::to_string(&nodes).unwrap();
        assert_eq!(json, "[[0,2],[5,5],[7,8]]");
        assert_eq!(serde_json::from_str::<NodeSet>(&json).unwrap(), nodes);
        let unordered = serde_json::from_str::<NodeSet>("[[7,8],[0,2],[1,1],[9,3],[5,5]]");
        assert_eq!(unordered.unwrap(), nodes);
        for too_many in ["[[0,4294967295]]", "[[0,60000],[0,60000]]"] {
            let error = serde_json::from_str::<NodeSet>(too_many).unwrap_err();
            assert!(
                error.to_string().starts_with("more than 65536 nodes"),
                "{error}"
            );
        }
    }

    #[test]
    fn node_set_is_shared_until_a_node_is_added() {
        let nodes = set(&[2, 5, 9]);
        assert!(nodes.clone().is_shared_with(&nodes));
        assert!(nodes.with([9, 2].map(NodeIndex)).is_shared_with(&nodes));
        let more = nodes.with([9, 7, 1].map(NodeIndex));
        assert_eq!(more, set(&[1, 2, 5, 7, 9]));
        assert_eq!(nodes, set(&[2, 5, 9]));
        assert!(!set(&[2, 5, 9]).is_shared_with(&nodes));
    }
}
