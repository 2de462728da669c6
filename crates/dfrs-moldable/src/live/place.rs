//! The list algorithm where some tasks may not run everywhere, or are overdue.

use std::collections::BinaryHeap;

use super::WaitingTask;
use super::marks::Marks;
use crate::list::{Busy, Due, ListEntry, ends};
use crate::processors::{Free, ProcessorSet};
use crate::schedule::{Placement, Schedule};

/// The schedule of a list: whenever processors are free, the first task of which enough are its to
/// use starts, overdue ones before all others. Until an overdue one starts, nothing does that would
/// make it start later.
pub(super) fn among(
    processors: u32,
    list: &[ListEntry],
    waiting: &[WaitingTask],
    now: f64,
    free: &Free,
    running: &[Busy],
) -> Schedule {
    let marks = |set: &ProcessorSet| Marks::of(set, processors);
    let allowed = waiting.iter().map(|one| one.allowed.map(marks));
    let mut placing = Placing {
        now,
        free: marks(&free.clone().take(processors)),
        allowed: allowed.collect(),
        held: running.iter().map(|busy| marks(&busy.processors)).collect(),
        ends: ends(running),
        placements: Vec::new(),
    };
    let mut left: Vec<ListEntry> = list.to_vec();
    left.sort_by_key(|entry| !waiting[entry.task].is_overdue);
    loop {
        placing.start(&mut left, waiting);
        if left.is_empty() || !placing.advance() {
            break;
        }
    }
    let mut placements = placing.placements;
    placements.sort_by_key(|placement| placement.task);
    Schedule { placements }
}

struct Placing {
    now: f64,
    free: Marks,
    /// Where each task may run, if not everywhere.
    allowed: Vec<Option<Marks>>,
    /// What each of those that run uses.
    held: Vec<Marks>,
    ends: BinaryHeap<Due<usize>>,
    placements: Vec<Placement>,
}

/// What the first overdue task that cannot start yet is to have.
struct TaskReservation {
    task: usize,
    count: u32,
    /// When it can start, if nothing else comes in between.
    at: f64,
    /// What is free then.
    free: Marks,
}

impl Placing {
    /// Starts what can start now.
    fn start(&mut self, left: &mut Vec<ListEntry>, waiting: &[WaitingTask]) {
        let mut count = self.free.count();
        let mut reservation: Option<TaskReservation> = None;
        left.retain(|entry| {
            if entry.allotment.processors <= count && self.try_start(entry, reservation.as_mut()) {
                count -= entry.allotment.processors;
                return false;
            }
            if reservation.is_none() && waiting[entry.task].is_overdue {
                reservation = self.reserve(entry);
            }
            true
        });
    }

    fn try_start(&mut self, entry: &ListEntry, reservation: Option<&mut TaskReservation>) -> bool {
        let wanted = entry.allotment.processors;
        let allowed = self.allowed[entry.task].as_ref();
        if self.free.count_within(allowed) < wanted {
            return false;
        }
        let chosen = self.free.first(wanted, allowed);
        let end = self.now + entry.allotment.time;
        if let Some(reservation) = reservation.filter(|reservation| end > reservation.at) {
            let mut rest = reservation.free.clone();
            rest.remove(&chosen);
            if rest.count_within(self.allowed[reservation.task].as_ref()) < reservation.count {
                return false;
            }
            reservation.free = rest;
        }
        self.free.remove(&chosen);
        self.placements.push(Placement {
            task: entry.task,
            start: self.now,
            end,
            processors: chosen.processors(),
        });
        self.ends.push(Due {
            time: end,
            what: self.held.len(),
        });
        self.held.push(chosen);
        true
    }

    fn reserve(&self, entry: &ListEntry) -> Option<TaskReservation> {
        let mut ends: Vec<(f64, usize)> =
            self.ends.iter().map(|end| (end.time, end.what)).collect();
        ends.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut free = self.free.clone();
        let allowed = self.allowed[entry.task].as_ref();
        let (task, count) = (entry.task, entry.allotment.processors);
        ends.into_iter().find_map(|(at, place)| {
            free.add(&self.held[place]);
            let is_enough = free.count_within(allowed) >= count;
            is_enough.then(|| TaskReservation {
                task,
                count,
                at,
                free: free.clone(),
            })
        })
    }

    /// Goes on to when something ends next; false: nothing does.
    fn advance(&mut self) -> bool {
        let Some(next) = self.ends.pop() else {
            return false;
        };
        self.now = self.now.max(next.time);
        self.free.add(&self.held[next.what]);
        while self.ends.peek().is_some_and(|end| end.time <= self.now)
            && let Some(end) = self.ends.pop()
        {
            self.free.add(&self.held[end.what]);
        }
        true
    }
}
