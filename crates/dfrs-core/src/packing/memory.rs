//! Whether memory alone rules out that tasks can be packed.

use std::collections::BTreeMap;

/// The memory of tasks to pack and of the nodes that take them.
///
/// Beside the sums there is a bound of the kind that Martello and Toth give for bin packing
/// (Knapsack Problems, Section 8.3): where tasks of more than half of the largest node's memory
/// are, nothing that is larger than the remainder fits, so that such a node counts as full.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemoryDemand {
    /// Number of tasks by memory requirement.
    tasks: BTreeMap<u64, u64>,
    /// Number of nodes by free memory.
    nodes: BTreeMap<u64, u64>,
}

impl MemoryDemand {
    /// Counts tasks in that require so much each.
    pub(crate) fn add_tasks(&mut self, memory: u64, tasks: u32) {
        if tasks > 0 {
            *self.tasks.entry(memory).or_insert(0) += u64::from(tasks);
        }
    }

    /// Counts tasks out.
    pub(crate) fn remove_tasks(&mut self, memory: u64, tasks: u32) {
        remove(&mut self.tasks, memory, u64::from(tasks));
    }

    /// Counts a node in with so much free memory.
    pub(crate) fn add_node(&mut self, free: u64) {
        *self.nodes.entry(free).or_insert(0) += 1;
    }

    /// Counts nodes in, with so much free memory each.
    pub(crate) fn add_nodes(&mut self, free: impl Iterator<Item = u64>) {
        let mut free: Vec<u64> = free.collect();
        free.sort_unstable();
        for alike in free.chunk_by(|one, other| one == other) {
            *self.nodes.entry(alike[0]).or_insert(0) += alike.len() as u64;
        }
    }

    /// Counts a node out.
    pub(crate) fn remove_node(&mut self, free: u64) {
        remove(&mut self.nodes, free, 1);
    }

    /// Whether no packing whatever has room for all tasks. If not, there may be none all the same.
    /// O(distinct amounts).
    pub(crate) fn cannot_fit(&self) -> bool {
        let Some((largest, _)) = self.nodes.last_key_value() else {
            return !self.tasks.is_empty();
        };
        // For a task of more than half of `largest`: on its node, only tasks below `rest` fit.
        // These are left out, all tasks as large as it or larger count as a whole node, and so do
        // the nodes that can take one.
        let mut wanted = sum(&self.tasks);
        let mut free = sum(&self.nodes);
        let mut small = self.tasks.iter().peekable();
        let mut nodes = self.nodes.iter().rev().peekable();
        let large = self.tasks.iter().rev();
        let too_large = self
            .tasks
            .last_key_value()
            .is_some_and(|(memory, _)| memory > largest);
        too_large
            || wanted > free
            || large
                .take_while(|(memory, _)| **memory > largest / 2)
                .any(|(memory, tasks)| {
                    wanted += difference(*largest, *memory) * u128::from(*tasks);
                    let rest = largest.saturating_sub(*memory) + 1;
                    while let Some((memory, tasks)) = small.next_if(|(memory, _)| **memory < rest) {
                        wanted -= u128::from(*memory) * u128::from(*tasks);
                    }
                    while let Some((node, count)) = nodes.next_if(|(node, _)| *node >= memory) {
                        free += difference(*largest, *node) * u128::from(*count);
                    }
                    wanted > free
                })
    }
}

/// By how much the first exceeds the second, if it does.
fn difference(one: u64, other: u64) -> u128 {
    u128::from(one.saturating_sub(other))
}

fn sum(amounts: &BTreeMap<u64, u64>) -> u128 {
    amounts
        .iter()
        .map(|(amount, count)| u128::from(*amount) * u128::from(*count))
        .sum()
}

fn remove(amounts: &mut BTreeMap<u64, u64>, amount: u64, count: u64) {
    if let Some(left) = amounts.get_mut(&amount) {
        *left = left.saturating_sub(count);
        if *left == 0 {
            amounts.remove(&amount);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn demand(tasks: &[(u64, u32)], nodes: &[u64]) -> MemoryDemand {
        let mut demand = MemoryDemand::default();
        for (memory, count) in tasks {
            demand.add_tasks(*memory, *count);
        }
        for free in nodes {
            demand.add_node(*free);
        }
        demand
    }

    /// Whether the tasks fit, by trying everything.
    fn fits(tasks: &[u64], free: &mut Vec<u64>) -> bool {
        let Some((first, rest)) = tasks.split_first() else {
            return true;
        };
        (0..free.len()).any(|node| {
            free[node] >= *first && {
                free[node] -= first;
                let found = fits(rest, free);
                free[node] += first;
                found
            }
        })
    }

    #[test]
    fn large_tasks_take_whole_nodes() {
        assert!(!demand(&[(60, 2), (40, 2)], &[100, 100]).cannot_fit());
        assert!(demand(&[(60, 2), (50, 1)], &[100, 100]).cannot_fit());
        assert!(demand(&[(51, 3)], &[100, 100]).cannot_fit());
        assert!(demand(&[(90, 1), (30, 1)], &[100, 25]).cannot_fit());
        assert!(!demand(&[(90, 1), (25, 1)], &[100, 25]).cannot_fit());
        assert!(demand(&[(101, 1)], &[100, 100]).cannot_fit());
        assert!(demand(&[(0, 1)], &[]).cannot_fit());
        assert!(!demand(&[], &[]).cannot_fit());
        assert!(!demand(&[(0, 9)], &[0]).cannot_fit());
    }

    #[test]
    fn cannot_fit_considers_memory_left_by_large_tasks() {
        assert!(demand(&[(60, 2), (41, 1)], &[100, 100]).cannot_fit());
        assert!(demand(&[(60, 3), (10, 1)], &[100, 100, 30]).cannot_fit());
        assert!(!demand(&[(60, 1), (0, 3)], &[100]).cannot_fit());
        assert!(!demand(&[(50, 2)], &[101]).cannot_fit());
    }

    #[test]
    fn nodes_that_take_a_large_task_count_as_whole() {
        assert!(!demand(&[(80, 3)], &[100, 90, 90]).cannot_fit());
        assert!(demand(&[(80, 3)], &[100, 90, 79]).cannot_fit());
    }

    #[test]
    fn no_tasks_demand_nothing() {
        assert!(!demand(&[(500, 0)], &[100]).cannot_fit());
        assert!(!demand(&[(1, 0)], &[]).cannot_fit());
    }

    #[test]
    fn removed_tasks_and_nodes_do_not_count() {
        let mut changed = demand(&[(60, 2), (50, 2)], &[100, 100]);
        changed.remove_tasks(50, 1);
        assert!(changed.cannot_fit());
        changed.remove_tasks(50, 1);
        assert!(!changed.cannot_fit());
        changed.remove_node(100);
        assert!(changed.cannot_fit());
        changed.add_node(100);
        assert!(!changed.cannot_fit());
    }

    proptest! {
        #[test]
        fn demand_that_fits_is_never_refused(
            tasks in proptest::collection::vec(0u64..110, 0..7),
            nodes in proptest::collection::vec(prop_oneof![Just(100u64), 0u64..120], 0..4),
        ) {
            let sizes: Vec<(u64, u32)> = tasks.iter().map(|memory| (*memory, 1)).collect();
            if demand(&sizes, &nodes).cannot_fit() {
                prop_assert!(!fits(&tasks, &mut nodes.clone()));
            }
        }
    }
}
