//! FCFS and EASY: only the first of the queue has a reservation.

use std::collections::{BTreeMap, VecDeque};

use dfrs_core::Time;

use super::machine::Machine;
use super::steps::ProfileRoom;
use super::{Batch, Discipline};
use crate::settings::LAST;
use crate::trace::TraceJob;

/// What is free of a machine on which a queue is backfilled.
pub(super) trait QueueRoom: ProfileRoom {
    /// A place for the job on what is free.
    fn fit(&self, job: &TraceJob) -> Option<Self::Place>;

    /// Whether no job at all has room.
    fn is_full(&self) -> bool {
        false
    }

    /// Starts jobs from this place of the queue on that do not delay the first.
    fn backfill(
        queue: &mut Queue<Self>,
        machine: &mut Machine<'_>,
        now: Time,
        from: usize,
        reservation: &mut QueueReservation<Self>,
    );

    /// When enough jobs are expected to have ended for the first of the queue, which does not fit now.
    fn reserve(queue: &Queue<Self>, machine: &Machine<'_>) -> QueueReservation<Self>;
}

/// When the first job of the queue can start, and what is left for others then.
pub(super) struct QueueReservation<R> {
    pub start: Time,
    pub left: R,
}

/// Waiting jobs in the order of their submission.
pub(super) struct Queue<R: QueueRoom> {
    batch: Batch,
    pub free: R,
    /// Where each job is that runs.
    pub running: BTreeMap<usize, R::Place>,
    pub jobs: VecDeque<usize>,
    /// How many of them waited at the last pass.
    waited: usize,
    /// Made when room came free, or stayed taken, for the last time; what has started since is counted
    /// in.
    reservation: Option<QueueReservation<R>>,
}

impl<R: QueueRoom> Queue<R> {
    /// With a machine that is empty.
    pub fn new(batch: Batch, empty: R) -> Self {
        Self {
            batch,
            free: empty,
            running: BTreeMap::new(),
            jobs: VecDeque::new(),
            waited: 0,
            reservation: None,
        }
    }

    /// Starts the first of the queue as long as they fit.
    fn start_first(&mut self, machine: &mut Machine<'_>, now: Time) {
        while let Some(&job) = self.jobs.front() {
            let Some(place) = self.free.fit(&machine.jobs[job]) else {
                break;
            };
            self.jobs.pop_front();
            self.start(machine, now, job, place);
        }
    }

    pub fn start(&mut self, machine: &mut Machine<'_>, now: Time, job: usize, place: R::Place) {
        self.free.take(&place);
        machine.start(now, job, R::mapping(&place));
        self.running.insert(job, place);
    }
}

impl<R: QueueRoom> Discipline for Queue<R> {
    fn ended(&mut self, _: &Machine<'_>, _: Time, job: usize, _: Time) {
        if let Some(place) = self.running.remove(&job) {
            self.free.give(&place);
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
        let fills = !matches!(self.batch, Batch::Fcfs | Batch::FcfsShared);
        if fills && !self.free.is_full() && self.jobs.len() > from {
            let made = self.reservation.take();
            let mut reservation = made.unwrap_or_else(|| R::reserve(self, machine));
            R::backfill(self, machine, now, from, &mut reservation);
            // Without the rule about the end, a job that took a node that is left may end in time to
            // give it back: the next pass has to look again.
            self.reservation = (self.batch != Batch::EasyNoShadow).then_some(reservation);
        }
        self.waited = self.jobs.len();
    }

    fn next(&self) -> Option<Time> {
        None
    }
}

impl QueueRoom for u32 {
    fn fit(&self, job: &TraceJob) -> Option<u32> {
        (job.tasks <= *self).then_some(job.tasks)
    }

    fn is_full(&self) -> bool {
        *self == 0
    }

    fn backfill(
        queue: &mut Queue<Self>,
        machine: &mut Machine<'_>,
        now: Time,
        from: usize,
        reservation: &mut QueueReservation<Self>,
    ) {
        let mut place = from;
        while place < queue.jobs.len() && queue.free > 0 {
            let job = queue.jobs[place];
            let tasks = machine.jobs[job].tasks;
            let ends_before =
                queue.batch == Batch::Easy && now + machine.duration(job) <= reservation.start;
            if tasks > queue.free || !ends_before && tasks > reservation.left {
                place += 1;
                continue;
            }
            if !ends_before {
                reservation.left -= tasks;
            }
            queue.jobs.remove(place);
            queue.start(machine, now, job, tasks);
        }
    }

    fn reserve(queue: &Queue<Self>, machine: &Machine<'_>) -> QueueReservation<Self> {
        let first = queue.jobs.front();
        let wanted = first.map_or(0, |job| machine.jobs[*job].tasks);
        let mut found = queue.free;
        let mut start = None;
        for (end, job) in machine.by_expected_end() {
            if found >= wanted && start.is_some_and(|start| start < end) {
                break;
            }
            start = Some(end);
            found += machine.jobs[job].tasks;
        }
        QueueReservation {
            start: start.unwrap_or(LAST),
            left: found.saturating_sub(wanted),
        }
    }
}
