//! FCFS and EASY on nodes that jobs share.

use std::collections::{BTreeMap, VecDeque};

use dfrs_core::Time;

use super::cpu_memory::{CpuMemory, Tasks};
use super::machine::Machine;
use super::{Batch, Discipline};
use crate::settings::LAST;
use crate::trace::TraceJob;

/// When the first job of the queue can start, and what of each node is left for others then.
struct SharedReservation {
    start: Time,
    left: Vec<CpuMemory>,
}

/// Waiting jobs in the order of their submission.
pub(super) struct SharedQueue {
    batch: Batch,
    free: Vec<CpuMemory>,
    running: BTreeMap<usize, Tasks>,
    jobs: VecDeque<usize>,
    /// How many of them waited at the last pass.
    waited: usize,
    /// Made when room came free, or stayed taken, for the last time; what has started since is counted
    /// in.
    reservation: Option<SharedReservation>,
}

impl SharedQueue {
    pub fn new(batch: Batch, nodes: u32) -> Self {
        Self {
            batch,
            free: vec![CpuMemory::NODE; nodes as usize],
            running: BTreeMap::new(),
            jobs: VecDeque::new(),
            waited: 0,
            reservation: None,
        }
    }

    /// A place on what is free.
    fn fit(&self, job: &TraceJob) -> Option<Tasks> {
        let task = CpuMemory::of_task(job);
        let all = |node: usize| self.free[node].holds(task);
        Tasks::find(job, self.free.len(), |node| (all(node), all(node)))
    }

    fn start(&mut self, machine: &mut Machine<'_>, now: Time, job: usize, tasks: Tasks) {
        tasks.take_from(&mut self.free);
        machine.start(now, job, Some(tasks.mapping()));
        self.running.insert(job, tasks);
    }

    /// Starts the first of the queue as long as they fit.
    fn start_first(&mut self, machine: &mut Machine<'_>, now: Time) {
        while let Some(&job) = self.jobs.front() {
            let Some(tasks) = self.fit(&machine.jobs[job]) else {
                break;
            };
            self.jobs.pop_front();
            self.start(machine, now, job, tasks);
        }
    }

    /// Starts jobs from this place of the queue on that do not delay the first.
    fn backfill(
        &mut self,
        machine: &mut Machine<'_>,
        now: Time,
        from: usize,
        reservation: &mut SharedReservation,
    ) {
        // Room only shrinks: a job that requires no less than one that failed would fail, too.
        let mut missed: BTreeMap<(CpuMemory, bool), u32> = BTreeMap::new();
        let mut free_cpu: u64 = self.free.iter().map(|room| room.cpu).sum();
        let tried = self.jobs.split_off(from);
        for job in tried {
            let about = &machine.jobs[job];
            let task = CpuMemory::of_task(about);
            let is_in_time = now + machine.duration(job) <= reservation.start;
            let least = missed.entry((task, is_in_time)).or_insert(u32::MAX);
            let needed = task.cpu * u64::from(about.tasks);
            let found = (about.tasks < *least && needed <= free_cpu).then(|| {
                Tasks::find(about, self.free.len(), |node| {
                    let free = self.free[node].holds(task);
                    let with_reservation =
                        self.free[node].least(reservation.left[node]).holds(task);
                    match is_in_time {
                        // Jobs that end by then leave to others what can be held for longer.
                        true => (free - with_reservation, free),
                        false => (with_reservation, with_reservation),
                    }
                })
            });
            let Some(tasks) = found.flatten() else {
                *least = about.tasks.min(*least);
                self.jobs.push_back(job);
                continue;
            };
            free_cpu -= needed;
            if !is_in_time {
                tasks.take_from(&mut reservation.left);
            }
            self.start(machine, now, job, tasks);
        }
    }

    /// When enough jobs are expected to have ended for the first of the queue, which does not fit now. It
    /// is to have what is not free before.
    fn reserve(&self, machine: &Machine<'_>) -> SharedReservation {
        let mut left = self.free.clone();
        let mut start = None;
        let Some(first) = self.jobs.front().map(|job| &machine.jobs[*job]) else {
            return SharedReservation { start: LAST, left };
        };
        let task = CpuMemory::of_task(first);
        let holds = |room: &CpuMemory| u64::from(room.holds(task));
        let mut found: u64 = left.iter().map(holds).sum();
        for (end, job) in machine.by_expected_end() {
            if found >= u64::from(first.tasks) && start.is_some_and(|start| start < end) {
                break;
            }
            start = Some(end);
            let Some(tasks) = self.running.get(&job) else {
                continue;
            };
            for run in &tasks.runs {
                let room = &mut left[run.node.index()];
                found -= holds(room);
                room.give(tasks.task, run.tasks);
                found += holds(room);
            }
        }
        let place = Tasks::find(first, left.len(), |node| {
            let then = left[node].holds(task);
            (then - self.free[node].holds(task), then)
        });
        if let Some(place) = place {
            place.take_from(&mut left);
        }
        SharedReservation {
            start: start.unwrap_or(LAST),
            left,
        }
    }
}

impl Discipline for SharedQueue {
    fn ended(&mut self, _: &Machine<'_>, _: Time, job: usize, _: Time) {
        if let Some(tasks) = self.running.remove(&job) {
            tasks.give_to(&mut self.free);
        }
        self.reservation = None;
    }

    fn overran(&mut self) {
        self.reservation = None;
    }

    fn submitted(&mut self, job: usize) {
        self.jobs.push_back(job);
    }

    fn schedule(&mut self, machine: &mut Machine<'_>, now: Time) {
        // As long as no job ends and no end is put off, a job that could not start cannot start later
        // either.
        let mut from = self.waited;
        if self.reservation.is_none() {
            self.start_first(machine, now);
            from = 1;
        }
        if self.batch == Batch::EasyShared && self.jobs.len() > from {
            let made = self.reservation.take();
            let mut reservation = made.unwrap_or_else(|| self.reserve(machine));
            self.backfill(machine, now, from, &mut reservation);
            self.reservation = Some(reservation);
        }
        self.waited = self.jobs.len();
    }

    fn next(&self) -> Option<Time> {
        None
    }
}
