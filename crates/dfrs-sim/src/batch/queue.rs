//! FCFS and EASY: only the first of the queue has a reservation.

use std::collections::VecDeque;

use dfrs_core::Time;

use super::machine::Machine;
use super::{Batch, Discipline};
use crate::settings::LAST;

/// When the first job of the queue can start, and how many nodes are left then.
#[derive(Clone, Copy)]
struct QueueReservation {
    start: Time,
    left: u32,
}

/// Waiting jobs in the order of their submission.
pub(super) struct Queue {
    batch: Batch,
    /// Nodes without a job.
    free: u32,
    jobs: VecDeque<usize>,
    /// How many of them waited at the last pass.
    waited: usize,
    /// Made when nodes came free, or stayed taken, for the last time; what has started since is
    /// counted in.
    reservation: Option<QueueReservation>,
}

impl Queue {
    pub fn new(batch: Batch, nodes: u32) -> Self {
        Self {
            batch,
            free: nodes,
            jobs: VecDeque::new(),
            waited: 0,
            reservation: None,
        }
    }

    /// Starts the first of the queue as long as they fit.
    fn start_first(&mut self, machine: &mut Machine<'_>, now: Time) {
        while let Some(&job) = self.jobs.front() {
            if machine.jobs[job].tasks > self.free {
                break;
            }
            self.jobs.pop_front();
            self.start(machine, now, job);
        }
    }

    fn start(&mut self, machine: &mut Machine<'_>, now: Time, job: usize) {
        self.free -= machine.jobs[job].tasks;
        machine.start(now, job, None);
    }

    /// Starts jobs from this place of the queue on that do not delay the first.
    fn backfill(
        &mut self,
        machine: &mut Machine<'_>,
        now: Time,
        mut place: usize,
        reservation: &mut QueueReservation,
    ) {
        while place < self.jobs.len() && self.free > 0 {
            let job = self.jobs[place];
            let tasks = machine.jobs[job].tasks;
            let ends_before =
                self.batch == Batch::Easy && now + machine.duration(job) <= reservation.start;
            if tasks > self.free || !ends_before && tasks > reservation.left {
                place += 1;
                continue;
            }
            if !ends_before {
                reservation.left -= tasks;
            }
            self.jobs.remove(place);
            self.start(machine, now, job);
        }
    }

    /// When enough jobs are expected to have ended for the first of the queue, which does not fit now.
    fn reserve(&self, machine: &Machine<'_>) -> QueueReservation {
        let wanted = self.jobs.front().map_or(0, |job| machine.jobs[*job].tasks);
        let mut found = self.free;
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

impl Discipline for Queue {
    fn ended(&mut self, machine: &Machine<'_>, _: Time, job: usize, _: Time) {
        self.free += machine.jobs[job].tasks;
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
        let mut from = match self.reservation {
            Some(_) => self.waited,
            None => 0,
        };
        if self.reservation.is_none() {
            self.start_first(machine, now);
            from = from.max(1);
        }
        if self.batch != Batch::Fcfs && self.free > 0 && self.jobs.len() > from {
            let mut reservation = self.reservation.unwrap_or_else(|| self.reserve(machine));
            self.backfill(machine, now, from, &mut reservation);
            // Without the rule about the end, a job that took a node that is left may end in time to
            // give it back: the next pass has to look again.
            self.reservation = (self.batch == Batch::Easy).then_some(reservation);
        }
        self.waited = self.jobs.len();
    }

    fn next(&self) -> Option<Time> {
        None
    }
}
