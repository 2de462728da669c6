//! Which tasks of a job are on which nodes.

use std::iter::Copied;
use std::slice::Iter;

use serde::{Deserialize, Serialize};

use crate::node_index::NodeIndex;

/// Some tasks of a job on one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Run {
    /// The node.
    pub node: NodeIndex,
    /// Number of tasks, at least 1.
    pub tasks: u32,
}

/// Which tasks of a job are on which nodes: one run a node, ascending by node, no run of 0 tasks.
/// Every way to make one, reading it from a file included, keeps that order.
///
/// As JSON a list of runs, e.g. `[{"node":0,"tasks":2}]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "Vec<Run>", into = "Vec<Run>")]
pub struct Mapping {
    runs: Vec<Run>,
}

impl Mapping {
    /// A mapping of these runs, in any order; runs of the same node are merged
    /// and runs of no task are left out. O(r log r).
    pub fn new(mut runs: Vec<Run>) -> Self {
        if !runs.is_sorted_by(|one, next| one.node < next.node) {
            runs.sort_unstable_by_key(|run| run.node);
            runs.dedup_by(|next, kept| {
                let same = next.node == kept.node;
                if same {
                    kept.tasks = kept.tasks.saturating_add(next.tasks);
                }
                same
            });
        }
        runs.retain(|run| run.tasks > 0);
        Self { runs }
    }

    /// A mapping of runs that are in order already.
    pub(crate) fn from_sorted(runs: Vec<Run>) -> Self {
        debug_assert!(runs.is_sorted_by(|one, next| one.node < next.node));
        Self { runs }
    }

    /// A mapping from one node a task, in any order, as the journal writes it. O(t log t).
    pub fn from_tasks(nodes: impl IntoIterator<Item = NodeIndex>) -> Self {
        Self::new(
            nodes
                .into_iter()
                .map(|node| Run { node, tasks: 1 })
                .collect(),
        )
    }

    /// The runs, ascending by node.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// The runs, ascending by node.
    pub fn iter(&self) -> Copied<Iter<'_, Run>> {
        self.runs.iter().copied()
    }

    /// The nodes, ascending.
    pub fn nodes(&self) -> impl Iterator<Item = NodeIndex> + '_ {
        self.runs.iter().map(|run| run.node)
    }

    /// Number of tasks on all nodes.
    pub fn tasks(&self) -> u64 {
        self.runs.iter().map(|run| u64::from(run.tasks)).sum()
    }

    /// Number of tasks on `node`. O(log r).
    pub fn tasks_on(&self, node: NodeIndex) -> u32 {
        self.run_on(node).map_or(0, |run| run.tasks)
    }

    /// The tasks on `node`; `None` if it has none. O(log r).
    pub(crate) fn run_on(&self, node: NodeIndex) -> Option<Run> {
        let place = self.runs.binary_search_by_key(&node, |run| run.node).ok()?;
        Some(self.runs[place])
    }

    /// Number of nodes that hold tasks.
    pub fn node_count(&self) -> usize {
        self.runs.len()
    }

    /// Whether tasks are on more than one node. O(1).
    pub fn spans_nodes(&self) -> bool {
        self.runs.len() > 1
    }

    /// Whether no task is mapped.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }
}

impl From<Mapping> for Vec<Run> {
    fn from(mapping: Mapping) -> Self {
        mapping.runs
    }
}

impl From<Vec<Run>> for Mapping {
    fn from(runs: Vec<Run>) -> Self {
        Self::new(runs)
    }
}

impl FromIterator<Run> for Mapping {
    fn from_iter<I: IntoIterator<Item = Run>>(runs: I) -> Self {
        Self::new(runs.into_iter().collect())
    }
}

impl<'a> IntoIterator for &'a Mapping {
    type Item = Run;
    type IntoIter = Copied<Iter<'a, Run>>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(node: u32, tasks: u32) -> Run {
        Run {
            node: NodeIndex(node),
            tasks,
        }
    }

    #[test]
    fn runs_are_sorted_merged_and_never_empty() {
        let mapping = Mapping::new(vec![run(3, 1), run(1, 2), run(3, 4), run(2, 0)]);
        assert_eq!(mapping.runs(), [run(1, 2), run(3, 5)]);
        assert_eq!((mapping.tasks(), mapping.node_count()), (7, 2));
        assert_eq!(mapping.tasks_on(NodeIndex(3)), 5);
        assert_eq!(mapping.tasks_on(NodeIndex(2)), 0);
        assert_eq!(
            Mapping::from_tasks([3, 1, 3].map(NodeIndex)).runs(),
            [run(1, 1), run(3, 2)]
        );
    }

    #[test]
    fn mapping_is_written_as_its_runs() {
        let mapping = Mapping::new(vec![run(2, 3), run(5, 1)]);
        assert_eq!(
            serde_json::to_string(&mapping).unwrap(),
            r#"[{"node":2,"tasks":3},{"node":5,"tasks":1}]"#
        );
    }

    #[test]
    fn reading_restores_the_order() {
        let read: Mapping =
            serde_json::from_str(r#"[{"node":5,"tasks":1},{"node":2,"tasks":3}]"#).unwrap();
        assert_eq!(read.runs(), [run(2, 3), run(5, 1)]);
        let written = serde_json::to_string(&read).unwrap();
        assert_eq!(serde_json::from_str::<Mapping>(&written).unwrap(), read);
    }
}
