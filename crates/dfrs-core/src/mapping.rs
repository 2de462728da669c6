//! Which tasks of a job are on which nodes.

use serde::{Deserialize, Serialize};

use crate::model::NodeIndex;

/// Some tasks of a job on one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Run {
    /// The node.
    pub node: NodeIndex,
    /// Number of tasks, at least 1.
    pub tasks: u32,
}

/// The tasks of a job on one node, by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part<'a> {
    /// The node.
    pub node: NodeIndex,
    /// Number of tasks of each kind.
    pub tasks: &'a [u32],
}

impl Part<'_> {
    /// Number of tasks of the first kind.
    #[inline]
    pub(crate) fn first(self) -> u32 {
        self.tasks.first().copied().unwrap_or(0)
    }

    /// Number of tasks of this kind.
    #[must_use]
    #[inline]
    pub fn of_kind(self, kind: usize) -> u32 {
        self.tasks.get(kind).copied().unwrap_or(0)
    }
}

impl<'a> From<&'a Run> for Part<'a> {
    /// A run of tasks that are all of the first kind.
    #[inline]
    fn from(run: &'a Run) -> Self {
        Self {
            node: run.node,
            tasks: std::slice::from_ref(&run.tasks),
        }
    }
}

/// Which tasks of a job are on which nodes: one run a node, ascending by node, no run of 0 tasks;
/// for a job of several kinds also how many of a run's tasks are of each kind. Every way to make
/// one, reading it from a file included, keeps that order.
///
/// As JSON a list of runs, e.g. `[{"node":0,"tasks":2}]`; for a job of several kinds with the
/// number of tasks of each kind, e.g. `[{"node":0,"tasks":5,"kinds":[1,4]}]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Vec<Record>", into = "Vec<Record>")]
pub struct Mapping {
    runs: Vec<Run>,
    /// For each run the number of tasks of each kind, one after the other; empty if there is but
    /// one kind.
    kinds: Box<[u32]>,
}

impl Mapping {
    /// A mapping of these runs of tasks of one kind, in any order; runs of the same node are merged
    /// and runs of no task are left out. O(r log r).
    #[must_use]
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
        Self {
            runs,
            kinds: Box::default(),
        }
    }

    /// A mapping of runs of one kind that are in order already.
    pub(crate) fn from_sorted(runs: Vec<Run>) -> Self {
        debug_assert!(runs.is_sorted_by(|one, next| one.node < next.node));
        Self {
            runs,
            kinds: Box::default(),
        }
    }

    /// The mapping of a job of several kinds, given the mapping of each of them. O(kinds × r log
    /// r).
    #[must_use]
    pub fn of_kinds(kinds: &[Self]) -> Self {
        let all = Self::new(kinds.iter().flatten().copied().collect());
        if kinds.len() <= 1 {
            return all;
        }
        let counts = all
            .nodes()
            .flat_map(|node| kinds.iter().map(move |kind| kind.tasks_on(node)));
        Self {
            kinds: counts.collect(),
            ..all
        }
    }

    /// A mapping from one node a task, in any order, as the journal writes it. O(t log t).
    #[must_use]
    pub fn from_tasks(nodes: impl IntoIterator<Item = NodeIndex>) -> Self {
        Self::new(
            nodes
                .into_iter()
                .map(|node| Run { node, tasks: 1 })
                .collect(),
        )
    }

    /// The runs, ascending by node, with tasks of all kinds.
    #[must_use]
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// The runs, ascending by node, with tasks of all kinds.
    pub fn iter(&self) -> std::slice::Iter<'_, Run> {
        self.runs.iter()
    }

    /// The runs, ascending by node, with the number of tasks of each kind.
    #[inline]
    pub fn parts(&self) -> impl Iterator<Item = Part<'_>> + Clone {
        let kinds = self.kind_count();
        self.runs.iter().enumerate().map(move |(at, run)| {
            if kinds == 1 {
                return Part::from(run);
            }
            Part {
                node: run.node,
                tasks: &self.kinds[at * kinds..(at + 1) * kinds],
            }
        })
    }

    /// Number of kinds of tasks that are distinguished; 1 if no task is mapped.
    #[must_use]
    #[inline]
    pub fn kind_count(&self) -> usize {
        self.kinds
            .len()
            .checked_div(self.runs.len())
            .map_or(1, |kinds| kinds.max(1))
    }

    /// Whether no kinds of tasks are distinguished.
    #[inline]
    pub(crate) const fn has_one_kind(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Where the tasks of this kind are. O(r).
    #[must_use]
    pub fn of_kind(&self, kind: usize) -> Self {
        let runs = self.parts().map(|part| Run {
            node: part.node,
            tasks: part.of_kind(kind),
        });
        Self::from_sorted(runs.filter(|run| run.tasks > 0).collect())
    }

    /// The nodes, ascending.
    pub fn nodes(&self) -> impl Iterator<Item = NodeIndex> + '_ {
        self.runs.iter().map(|run| run.node)
    }

    /// Number of tasks of all kinds on all nodes.
    #[must_use]
    pub fn tasks(&self) -> u64 {
        self.runs.iter().map(|run| u64::from(run.tasks)).sum()
    }

    /// Number of tasks of all kinds on `node`. O(log r).
    #[must_use]
    pub fn tasks_on(&self, node: NodeIndex) -> u32 {
        self.runs
            .binary_search_by_key(&node, |run| run.node)
            .map_or(0, |place| self.runs[place].tasks)
    }

    /// The tasks on `node`, by kind; `None` if it has none. O(log r).
    pub(crate) fn part_on(&self, node: NodeIndex) -> Option<Part<'_>> {
        let index = self.runs.binary_search_by_key(&node, |run| run.node).ok()?;
        if self.has_one_kind() {
            return Some(Part::from(&self.runs[index]));
        }
        let kinds = self.kind_count();
        Some(Part {
            node,
            tasks: &self.kinds[index * kinds..(index + 1) * kinds],
        })
    }

    /// Number of nodes that hold tasks.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.runs.len()
    }

    /// Whether tasks are on more than one node. O(1).
    #[must_use]
    pub fn spans_nodes(&self) -> bool {
        self.runs.len() > 1
    }

    /// Whether no task is mapped.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }
}

/// A run as it is written.
#[derive(Serialize, Deserialize)]
struct Record {
    node: NodeIndex,
    tasks: u32,
    /// Number of tasks of each kind; nothing if there is but one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    kinds: Vec<u32>,
}

impl From<Mapping> for Vec<Record> {
    fn from(mapping: Mapping) -> Self {
        let several = mapping.kind_count() > 1;
        let parts = mapping.runs.iter().zip(mapping.parts());
        let records = parts.map(|(run, part)| Record {
            node: run.node,
            tasks: run.tasks,
            kinds: if several {
                part.tasks.to_vec()
            } else {
                Vec::new()
            },
        });
        records.collect()
    }
}

impl TryFrom<Vec<Record>> for Mapping {
    type Error = String;

    fn try_from(records: Vec<Record>) -> Result<Self, String> {
        let kinds = records.first().map_or(0, |record| record.kinds.len());
        for Record {
            node,
            tasks,
            kinds: counts,
        } in &records
        {
            if counts.len() != kinds {
                return Err(format!(
                    "node {node} has {} kinds of tasks in \"kinds\", the first has {kinds}",
                    counts.len()
                ));
            }
            let sum: u64 = counts.iter().map(|count| u64::from(*count)).sum();
            if kinds > 0 && sum != u64::from(*tasks) {
                return Err(format!(
                    "node {node} has {tasks} \"tasks\", but \"kinds\" add up to {sum}"
                ));
            }
        }
        let runs = |count: &dyn Fn(&Record) -> u32| {
            let run = |record: &Record| Run {
                node: record.node,
                tasks: count(record),
            };
            Self::new(records.iter().map(run).collect())
        };
        if kinds == 0 {
            return Ok(runs(&|record| record.tasks));
        }
        let by_kind: Vec<Self> = (0..kinds)
            .map(|kind| runs(&|record| record.kinds[kind]))
            .collect();
        Ok(Self::of_kinds(&by_kind))
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
    type Item = &'a Run;
    type IntoIter = std::slice::Iter<'a, Run>;
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

    fn of_kinds(kinds: &[&[(u32, u32)]]) -> Mapping {
        let mapping = |runs: &&[(u32, u32)]| {
            Mapping::new(
                runs.iter()
                    .map(|(node, tasks)| run(*node, *tasks))
                    .collect(),
            )
        };
        Mapping::of_kinds(&kinds.iter().map(mapping).collect::<Vec<_>>())
    }

    #[test]
    fn mapping_distinguishes_kinds() {
        let mapping = of_kinds(&[&[(1, 1)], &[(0, 2), (1, 4)], &[(3, 5)]]);
        assert_eq!(mapping.runs(), [run(0, 2), run(1, 5), run(3, 5)]);
        assert_eq!(mapping.kind_count(), 3);
        let parts: Vec<(u32, &[u32])> = mapping
            .parts()
            .map(|part| (part.node.0, part.tasks))
            .collect();
        assert_eq!(
            parts,
            [(0, &[0, 2, 0][..]), (1, &[1, 4, 0]), (3, &[0, 0, 5])]
        );
        assert_eq!(mapping.of_kind(1).runs(), [run(0, 2), run(1, 4)]);
        assert!(mapping.of_kind(3).is_empty());
        assert_ne!(mapping, Mapping::new(mapping.runs().to_vec()));
    }

    #[test]
    fn one_kind_is_no_special_mapping() {
        let mapping = of_kinds(&[&[(1, 1), (4, 2)]]);
        assert_eq!(mapping, Mapping::new(vec![run(1, 1), run(4, 2)]));
        assert_eq!(mapping.kind_count(), 1);
        assert_eq!(mapping.of_kind(0), mapping);
        assert_eq!(of_kinds(&[&[], &[]]), Mapping::default());
    }

    #[test]
    fn kinds_are_written_and_read() {
        let mapping = of_kinds(&[&[(1, 1)], &[(0, 2), (1, 4)]]);
        let text = r#"[{"node":0,"tasks":2,"kinds":[0,2]},{"node":1,"tasks":5,"kinds":[1,4]}]"#;
        assert_eq!(serde_json::to_string(&mapping).unwrap(), text);
        assert_eq!(serde_json::from_str::<Mapping>(text).unwrap(), mapping);
        let split = r#"[{"node":1,"tasks":4,"kinds":[0,4]},{"node":0,"tasks":2,"kinds":[0,2]},{"node":1,"tasks":1,"kinds":[1,0]}]"#;
        assert_eq!(serde_json::from_str::<Mapping>(split).unwrap(), mapping);
        let error = |text| {
            serde_json::from_str::<Mapping>(text)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            error(r#"[{"node":0,"tasks":3,"kinds":[0,2]}]"#),
            "node 0 has 3 \"tasks\", but \"kinds\" add up to 2"
        );
        assert_eq!(
            error(r#"[{"node":0,"tasks":2,"kinds":[0,2]},{"node":1,"tasks":2}]"#),
            "node 1 has 0 kinds of tasks in \"kinds\", the first has 2"
        );
    }

    #[test]
    fn a_mapping_of_one_kind_is_written_as_its_runs() {
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
