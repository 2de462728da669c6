//! What jobs have of nodes whose cores may be given out several times, to partitions of descending tiers.

use std::rc::Rc;

use dfrs_core::Time;

use super::core_ranges::CoreRanges;
use super::core_rows::{CorePlace, CoreRows, TaskCores};
use super::node_amounts::{NodeAmounts, Tasks};
use crate::trace::{NODE_CPU, TraceJob};

/// Memory and GPUs that no job has, and who has which cores.
#[derive(Clone, Debug)]
pub(super) struct Allocations {
    free: Vec<NodeAmounts>,
    /// The partition of the highest tier first.
    partitions: Vec<CoreRows>,
}

/// When the first waiting job of a partition can start, and what is allocated then.
#[derive(Debug)]
pub(super) struct CoreReservation {
    pub start: Time,
    pub partition: usize,
    then: Allocations,
}

/// Which cores a job is tried on.
#[derive(Clone, Copy, Debug)]
enum CoreChoice {
    /// Those that no job of the same or a higher tier has, and none of a lower one either.
    Idle,
    /// Those that no job of the same or a higher tier has: jobs of lower ones are suspended.
    Preempting,
    /// Those that this row of the partition does not have, and no job of a higher tier.
    Row(usize),
}

/// What a job may have and what it rather has.
#[derive(Debug)]
pub(super) enum CoreWish<'a> {
    /// It runs beyond the start of reservations, whose places are kept; and ends before that of others: to jobs that
    /// run for longer it leaves what is not theirs.
    Outlasting {
        kept: Vec<&'a CoreReservation>,
        spared: Vec<&'a CoreReservation>,
    },
    /// It is to have what is not free before, as these allocations are.
    LaterThan(&'a Allocations),
}

impl Allocations {
    /// These empty nodes. Each partition has as many rows as jobs may have one of its cores.
    pub fn new(free: Vec<NodeAmounts>, rows: &[u8]) -> Self {
        let partition = |rows: &u8| CoreRows::new(free.len(), *rows);
        Self {
            partitions: rows.iter().map(partition).collect(),
            free,
        }
    }

    /// A place for the job: on idle cores, else on those of jobs that are suspended for it, else row by row, the
    /// fullest first (`_job_test()` of select/cons_tres, steps 2 to 4, Slurm 26.05); nodes in their order. Where there
    /// is a choice it rather has what the wish says.
    pub fn fit(&self, job: &TraceJob, partition: usize, wish: &CoreWish<'_>) -> Option<CorePlace> {
        let own = &self.partitions[partition];
        let mut choices = vec![CoreChoice::Idle];
        if partition + 1 < self.partitions.len() {
            choices.push(CoreChoice::Preempting);
        }
        if own.count() > 1 {
            choices.extend((0..own.tried()).map(CoreChoice::Row));
        }
        let task = NodeAmounts::of_task(job);
        let kept = match wish {
            CoreWish::Outlasting { kept, .. } => kept.as_slice(),
            CoreWish::LaterThan(_) => &[],
        };
        choices.into_iter().find_map(|choice| {
            let holds = |from: &Self, node: usize, kept: &[&CoreReservation]| {
                from.holds(node, task, (partition, choice), kept)
            };
            let tasks = Tasks::find(job, self.free.len(), |node| {
                let all = holds(self, node, kept);
                let others = match wish {
                    _ if all == 0 => 0,
                    CoreWish::Outlasting { spared, .. } if spared.is_empty() => 0,
                    CoreWish::Outlasting { spared, .. } => holds(self, node, spared),
                    CoreWish::LaterThan(before) => holds(before, node, &[]),
                };
                (all.saturating_sub(others), all)
            })?;
            let cores = |node: usize| self.cores(node, (partition, choice), kept);
            Some(place_on(&tasks, cores))
        })
    }

    /// How many tasks have room on the node, on such cores and beside what is kept.
    fn holds(
        &self,
        node: usize,
        task: NodeAmounts,
        (partition, choice): (usize, CoreChoice),
        kept: &[&CoreReservation],
    ) -> u32 {
        let all = kept.iter().map(|reservation| reservation.then.free[node]);
        let room = all.fold(self.free[node], NodeAmounts::least);
        let by_rest = NodeAmounts {
            cpu: u64::MAX,
            ..room
        }
        .holds(task);
        if by_rest == 0 {
            return 0;
        }
        let mut amount = self.cores(node, (partition, choice), kept).amount();
        for reservation in kept.iter().filter(|kept| kept.partition == partition) {
            amount = amount.min(reservation.amount_left(node));
        }
        let by_cores = amount.checked_div(task.cpu).unwrap_or(u64::MAX);
        by_rest.min(u32::try_from(by_cores).unwrap_or(u32::MAX))
    }

    fn cores(
        &self,
        node: usize,
        (partition, choice): (usize, CoreChoice),
        kept: &[&CoreReservation],
    ) -> CoreRanges {
        let mut taken = CoreRanges::default();
        let tiers = match choice {
            CoreChoice::Idle => self.partitions.len(),
            CoreChoice::Preempting => partition + 1,
            CoreChoice::Row(_) => partition,
        };
        for rows in &self.partitions[..tiers] {
            taken.add(&rows.in_any(node));
        }
        if let CoreChoice::Row(row) = choice {
            taken.add(self.partitions[partition].used(row, node));
        }
        // Where there is one row any cores will do for a reservation, as long as they are enough.
        let own = kept.iter().filter(|kept| kept.partition == partition);
        for reservation in own.filter(|_| self.partitions[partition].count() > 1) {
            taken.add(&reservation.then.partitions[partition].in_all(node));
        }
        CoreRanges::all().without(&taken)
    }

    pub fn take(&mut self, job: usize, partition: usize, place: &Rc<CorePlace>) {
        for task in &place.tasks {
            self.free[task.node].take(rest_of(place.task), 1);
        }
        self.partitions[partition].add(job, place);
    }

    /// These jobs have ended.
    pub fn give<'a>(&mut self, jobs: impl Iterator<Item = (usize, usize, &'a Rc<CorePlace>)>) {
        let mut ended = vec![Vec::new(); self.partitions.len()];
        for (job, partition, place) in jobs {
            for task in &place.tasks {
                self.free[task.node].give(rest_of(place.task), 1);
            }
            ended[partition].push(job);
        }
        for (rows, ended) in self.partitions.iter_mut().zip(&ended) {
            if !ended.is_empty() {
                rows.remove(ended);
            }
        }
    }

    /// Whether jobs of a higher tier have some of the place's cores.
    pub fn is_preempted(&self, partition: usize, place: &CorePlace) -> bool {
        let mut tasks = place.tasks.iter();
        tasks.any(|task| {
            let mut higher = self.partitions[..partition].iter();
            higher.any(|rows| rows.in_any(task.node).overlaps(&task.cores))
        })
    }

    /// Whether so many tasks have memory and GPUs.
    fn has_rest_for(&self, job: &TraceJob) -> bool {
        let task = rest_of(NodeAmounts::of_task(job));
        let held = self.free.iter().map(|free| u64::from(free.holds(task)));
        held.sum::<u64>() >= u64::from(job.tasks)
    }

    /// Reserves a place for the job at the first of these times at which it has one; at each, jobs are expected to
    /// end, which are sorted by that. O(different times × (nodes + jobs × rows) + what [`Self::fit`] takes at each of
    /// them at which memory and GPUs suffice).
    pub fn reserve(
        &self,
        job: &TraceJob,
        partition: usize,
        ends: &[(Time, usize, usize, &Rc<CorePlace>)],
    ) -> Option<CoreReservation> {
        let mut then = self.clone();
        for together in ends.chunk_by(|one, other| one.0 == other.0) {
            let ended = together.iter();
            then.give(ended.map(|(_, job, partition, place)| (*job, *partition, *place)));
            if !then.has_rest_for(job) {
                continue;
            }
            if let Some(place) = then.fit(job, partition, &CoreWish::LaterThan(self)) {
                let mut reservation = CoreReservation {
                    start: together[0].0,
                    partition,
                    then,
                };
                reservation.keep(partition, &place);
                return Some(reservation);
            }
        }
        None
    }
}

impl CoreReservation {
    /// How much of the node's CPU some row of the partition has free then, in microcores.
    fn amount_left(&self, node: usize) -> u64 {
        let full = self.then.partitions[self.partition].in_all(node);
        NODE_CPU.0 - full.amount()
    }

    /// This place is taken at the reservation's start, too.
    pub fn keep(&mut self, partition: usize, place: &CorePlace) {
        for task in &place.tasks {
            self.then.free[task.node].take(rest_of(place.task), 1);
        }
        self.then.partitions[partition].add_anywhere(place);
    }
}

/// What is given out once: memory and GPUs.
fn rest_of(task: NodeAmounts) -> NodeAmounts {
    NodeAmounts {
        cpu: 0,
        open_cpu: 0,
        ..task
    }
}

/// The first cores of each node, task by task.
fn place_on(tasks: &Tasks, cores: impl Fn(usize) -> CoreRanges) -> CorePlace {
    let mut all = Vec::new();
    for run in &tasks.runs {
        let node = run.node.index();
        let mut free = cores(node);
        for _ in 0..run.tasks {
            all.push(TaskCores {
                node,
                cores: free.take_first(tasks.task.cpu),
            });
        }
    }
    CorePlace {
        task: tasks.task,
        tasks: all,
    }
}
