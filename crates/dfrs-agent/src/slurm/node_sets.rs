//! The sets of nodes that jobs may use, as the core names nodes: thousands of jobs share a few.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use dfrs_core::NodeSet;

/// What each list of Slurm's indexes stands for. It only saves work and memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodeSets(BTreeMap<Indexes, NodeSet>);

/// A list of Slurm's indexes, found the faster by jobs that share it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Indexes(Arc<[u32]>);

impl NodeSets {
    /// The set of these indexes, if it is known. O(log sets), and O(indexes) where they are not the
    /// very list from which it was made.
    pub(crate) fn get(&self, indexes: &Arc<[u32]>) -> Option<NodeSet> {
        self.0.get(&Indexes(Arc::clone(indexes))).cloned()
    }

    /// Remembers it, and forgets what no job uses any more. O(sets).
    pub(crate) fn add(&mut self, indexes: Arc<[u32]>, nodes: NodeSet) {
        self.0
            .retain(|Indexes(indexes), _| Arc::strong_count(indexes) > 1);
        self.0.insert(Indexes(indexes), nodes);
    }

    /// Other nodes are there.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

impl Ord for Indexes {
    fn cmp(&self, other: &Self) -> Ordering {
        if Arc::ptr_eq(&self.0, &other.0) {
            return Ordering::Equal;
        }
        self.0.cmp(&other.0)
    }
}

impl PartialOrd for Indexes {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dfrs_core::NodeIndex;

    #[test]
    fn node_set_is_dropped_when_no_job_uses_it() {
        let mut sets = NodeSets::default();
        let nodes = |nodes: &[u32]| nodes.iter().copied().map(NodeIndex).collect::<NodeSet>();
        let (one, other): (Arc<[u32]>, Arc<[u32]>) = ([10, 20].into(), [20, 30].into());
        sets.add(Arc::clone(&one), nodes(&[0, 1]));
        sets.add(Arc::clone(&other), nodes(&[1, 2]));
        let found = sets.get(&[10, 20].into()).expect("an equal list will do");
        assert!(found.is_shared_with(&sets.get(&one).expect("known")));
        drop(one);
        sets.add([40].into(), nodes(&[3]));
        assert_eq!(sets.get(&[10, 20].into()), None);
        assert_eq!(sets.get(&other), Some(nodes(&[1, 2])));
    }
}
