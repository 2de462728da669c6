//! The cores of one partition's jobs, in rows: a core is in a row once.

use std::cmp::Reverse;
use std::rc::Rc;

use dfrs_core::{Mapping, NodeIndex};

use super::core_ranges::CoreRanges;
use super::node_amounts::NodeAmounts;

/// A task's node and its cores there.
#[derive(Clone, Debug)]
pub(super) struct TaskCores {
    pub node: usize,
    pub cores: CoreRanges,
}

/// Where a job is.
#[derive(Clone, Debug)]
pub(super) struct CorePlace {
    /// What each task takes.
    pub task: NodeAmounts,
    /// Ascending by node and core.
    pub tasks: Vec<TaskCores>,
}

impl CorePlace {
    pub fn mapping(&self) -> Mapping {
        let node = |task: &TaskCores| NodeIndex(u32::try_from(task.node).unwrap_or(u32::MAX));
        Mapping::from_tasks(self.tasks.iter().map(node))
    }

    /// Its first core, and how much CPU it has: the order in which rows are built.
    fn order(&self) -> (usize, u64, u64) {
        let first = self.tasks.first();
        let range = first.and_then(|task| task.cores.ranges().first());
        let amount = self.task.cpu * self.tasks.len() as u64;
        (
            first.map_or(0, |task| task.node),
            range.map_or(0, |range| range.start),
            amount,
        )
    }
}

#[derive(Clone, Debug)]
struct CoreRow {
    used: Vec<CoreRanges>,
    /// All that is used, in microcores.
    amount: u64,
    jobs: Vec<(usize, Rc<CorePlace>)>,
}

impl CoreRow {
    fn empty(nodes: usize) -> Self {
        Self {
            used: vec![CoreRanges::default(); nodes],
            amount: 0,
            jobs: Vec::new(),
        }
    }

    fn holds(&self, place: &CorePlace) -> bool {
        let mut tasks = place.tasks.iter();
        tasks.all(|task| !self.used[task.node].overlaps(&task.cores))
    }

    fn add(&mut self, job: usize, place: Rc<CorePlace>) {
        for task in &place.tasks {
            self.take(task.node, &task.cores);
        }
        self.jobs.push((job, place));
    }

    fn take(&mut self, node: usize, cores: &CoreRanges) {
        self.used[node].add(cores);
        self.amount += cores.amount();
    }

    fn remove(&mut self, job: usize) {
        let Some(at) = self.jobs.iter().position(|(other, _)| *other == job) else {
            return;
        };
        let (_, place) = self.jobs.remove(at);
        for task in &place.tasks {
            self.used[task.node] = self.used[task.node].without(&task.cores);
            self.amount -= task.cores.amount();
        }
    }
}

/// As many rows as jobs may have a core (`OverSubscribe=FORCE:rows`), the fullest first.
#[derive(Clone, Debug)]
pub(super) struct CoreRows(Vec<CoreRow>);

impl CoreRows {
    pub fn new(nodes: usize, rows: u8) -> Self {
        Self(vec![CoreRow::empty(nodes); rows.into()])
    }

    /// The rows in which a job is tried: all that have jobs, and one that has none.
    pub fn tried(&self) -> usize {
        let used = self.0.iter().filter(|row| row.amount > 0).count();
        self.0.len().min(used + 1)
    }

    /// How many rows there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// What the row has of the node.
    pub fn used(&self, row: usize, node: usize) -> &CoreRanges {
        &self.0[row].used[node]
    }

    /// The node's cores that some job has.
    pub fn in_any(&self, node: usize) -> CoreRanges {
        let mut all = CoreRanges::default();
        for row in &self.0 {
            all.add(&row.used[node]);
        }
        all
    }

    /// The node's cores that as many jobs have as may.
    pub fn in_all(&self, node: usize) -> CoreRanges {
        let mut rows = self.0.iter();
        let first = rows.next().map(|row| row.used[node].clone());
        rows.fold(first.unwrap_or_default(), |all, row| {
            all.common(&row.used[node])
        })
    }

    /// The job goes into the first row that has room for it (`job_res_add_job()`, Slurm 26.05), and rows are sorted.
    pub fn add(&mut self, job: usize, place: &Rc<CorePlace>) {
        let row = self.0.iter_mut().find(|row| row.holds(place));
        if let Some(row) = row {
            row.add(job, Rc::clone(place));
        }
        self.sort();
    }

    /// Takes these cores of whatever rows have them free, and others in place of those that none has: for times to
    /// come, at which jobs may be in other rows than now, and a job that waits on other cores.
    pub fn add_anywhere(&mut self, place: &CorePlace) {
        for task in &place.tasks {
            let mut missing = task.cores.clone();
            for row in &mut self.0 {
                let part = missing.without(&row.used[task.node]);
                missing = missing.without(&part);
                row.take(task.node, &part);
            }
            let mut amount = missing.amount();
            for row in &mut self.0 {
                let mut free = CoreRanges::all().without(&row.used[task.node]);
                let part = free.take_first(amount);
                amount -= part.amount();
                row.take(task.node, &part);
            }
        }
    }

    /// The jobs have ended: all others are put into as few rows as can be, by their first core and then by how much
    /// CPU they have, each into the first row that has room; if that fails they stay where they are
    /// (`part_data_build_row_bitmaps()`, Slurm 26.05). O(jobs × rows).
    pub fn remove(&mut self, ended: &[usize]) {
        for job in ended {
            for row in &mut self.0 {
                row.remove(*job);
            }
        }
        if self.0.len() > 1 {
            self.rebuild();
        }
        self.sort();
    }

    fn rebuild(&mut self) {
        let mut jobs: Vec<_> = self.0.iter().flat_map(|row| row.jobs.clone()).collect();
        jobs.sort_by_key(|(job, place)| (place.order(), *job));
        let nodes = self.0.first().map_or(0, |row| row.used.len());
        let mut rows = Self(vec![CoreRow::empty(nodes); self.0.len()]);
        for (job, place) in jobs {
            let Some(row) = rows.0.iter_mut().find(|row| row.holds(&place)) else {
                return;
            };
            row.add(job, place);
            rows.sort();
        }
        *self = rows;
    }

    fn sort(&mut self) {
        self.0.sort_by_key(|row| Reverse(row.amount));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::trace::NODE_CPU;

    /// A task on these tenths of the first node.
    fn place(from: u64, to: u64) -> Rc<CorePlace> {
        let tenth = NODE_CPU.0 / 10;
        let mut free = CoreRanges::all();
        free.take_first(from * tenth);
        let cores = free.take_first((to - from) * tenth);
        Rc::new(CorePlace {
            task: NodeAmounts {
                cpu: cores.amount(),
                ..NodeAmounts::default()
            },
            tasks: vec![TaskCores { node: 0, cores }],
        })
    }

    fn jobs(rows: &CoreRows) -> Vec<Vec<usize>> {
        let of_row = |row: &CoreRow| row.jobs.iter().map(|(job, _)| *job).collect();
        rows.0.iter().map(of_row).collect()
    }

    #[test]
    fn job_moves_to_a_lower_row_when_another_ends() {
        let mut rows = CoreRows::new(1, 3);
        for (job, from, to) in [(0, 0, 6), (1, 6, 10), (2, 0, 4), (3, 0, 2)] {
            rows.add(job, &place(from, to));
        }
        assert_eq!(jobs(&rows), [vec![0, 1], vec![2], vec![3]]);
        assert_eq!(rows.tried(), 3);
        // By first core and size: 3, then 2 in the second row, which is then the fuller one and has 1, too.
        rows.remove(&[0]);
        assert_eq!(jobs(&rows), [vec![2, 1], vec![3], vec![]]);
        assert_eq!(rows.tried(), 3);
        rows.remove(&[3]);
        assert_eq!(rows.tried(), 2);
    }

    #[test]
    fn cores_that_all_rows_have_are_full() {
        let mut rows = CoreRows::new(1, 2);
        rows.add(0, &place(0, 6));
        rows.add(1, &place(4, 10));
        assert_eq!(rows.in_all(0), place(4, 6).tasks[0].cores);
        assert_eq!(rows.in_any(0), CoreRanges::all());
        rows.add_anywhere(&place(0, 4));
        assert_eq!(rows.in_all(0), place(0, 6).tasks[0].cores);
    }

    proptest! {
        /// Jobs come where some row has room, and go in any order.
        #[test]
        fn rows_have_each_job_once_and_no_core_twice(
            steps in proptest::collection::vec((0u64..10, 1u64..=10, any::<bool>()), 1..40),
        ) {
            let mut rows = CoreRows::new(1, 4);
            let mut known: Vec<(usize, Rc<CorePlace>)> = Vec::new();
            for (job, (from, length, ends)) in steps.into_iter().enumerate() {
                let new = place(from, (from + length).min(10));
                if ends && !known.is_empty() {
                    let at = job % known.len();
                    let (ended, _) = known.remove(at);
                    rows.remove(&[ended]);
                } else if rows.0.iter().any(|row| row.holds(&new)) {
                    rows.add(job, &new);
                    known.push((job, new));
                }
                let mut found: Vec<usize> = jobs(&rows).concat();
                found.sort_unstable();
                let mut expected: Vec<usize> = known.iter().map(|(job, _)| *job).collect();
                expected.sort_unstable();
                prop_assert_eq!(found, expected);
                for row in &rows.0 {
                    let cores = row.jobs.iter().map(|(_, place)| place.task.cpu);
                    let sum: u64 = cores.sum();
                    prop_assert_eq!(sum, row.used[0].amount(), "no core twice");
                    prop_assert_eq!(sum, row.amount);
                }
                prop_assert!(rows.0.is_sorted_by_key(|row| Reverse(row.amount)));
            }
        }
    }
}
