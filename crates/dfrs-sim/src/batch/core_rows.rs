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
            self.used[task.node].add(&task.cores);
            self.amount += task.cores.amount();
        }
        self.jobs.push((job, place));
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

    /// Whatever rows have these cores free have them no longer: for times to come, at which jobs may be in other
    /// rows than now.
    pub fn add_anywhere(&mut self, place: &CorePlace) {
        for task in &place.tasks {
            let mut missing = task.cores.clone();
            for row in &mut self.0 {
                let part = missing.without(&row.used[task.node]);
                row.used[task.node].add(&part);
                row.amount += part.amount();
                missing = missing.without(&part);
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
