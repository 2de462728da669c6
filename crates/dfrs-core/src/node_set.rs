//! Sets of nodes that many jobs share.

use std::ops::Deref;

use serde::{Deserialize, Deserializer, Serialize};

use crate::node_index::NodeIndex;
use crate::shared_list::SharedList;

/// Some nodes, ascending and each once. A clone is the same set and takes no memory of its own: of
/// thousands of jobs that may use the same thousands of nodes, the list is there once.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct NodeSet(SharedList<NodeIndex>);

impl NodeSet {
    /// Whether the node is in it. O(log n).
    #[must_use]
    #[inline]
    pub fn contains(&self, node: NodeIndex) -> bool {
        self.0.binary_search(&node).is_ok()
    }

    /// This set with these nodes; itself if they are all in it. O(log n) for each of them, and O(n)
    /// if one is not.
    #[must_use]
    pub fn with(&self, nodes: impl IntoIterator<Item = NodeIndex>) -> Self {
        let mut new = nodes.into_iter().filter(|node| !self.contains(*node));
        match new.next() {
            None => self.clone(),
            Some(first) => self.iter().copied().chain([first]).chain(new).collect(),
        }
    }

    /// Whether both are one list in memory.
    #[must_use]
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

impl<'a> Deserialize<'a> for NodeSet {
    fn deserialize<D: Deserializer<'a>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::deserialize(deserializer)?.into_iter().collect())
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
        assert_eq!(serde_json::to_string(&nodes).unwrap(), "[2,5,9]");
        assert_eq!(serde_json::from_str::<NodeSet>("[9,2,5,2]").unwrap(), nodes);
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
