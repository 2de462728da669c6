//! The list algorithm where some tasks may not run everywhere, or are overdue.

use std::collections::BinaryHeap;

use super::Waiting;
use super::marks::Marks;
use crate::list::{Busy, Due, Entry};
use crate::processors::{Free, Processors};
use crate::schedule::{Placement, Schedule};

/// The schedule of a list: whenever processors are free, the first task of which enough are its to use starts, overdue
/// ones before all others. Until an overdue one starts, nothing does that would make it start later.
pub(super) fn among(
    processors: u32,
    list: &[Entry],
    waiting: &[Waiting],
    now: f64,
    free: &Free,
    running: Vec<Busy>,
) -> Schedule {
    let marks = |set: &Processors| Marks::of(set, processors);
    let allowed = waiting.iter();
    let held = running.iter().map(|busy| marks(&busy.processors)).collect();
    let ends = running.iter().enumerate();
    let mut placing = Placing {
        now,
        free: marks(&free.clone().take(processors)),
        allowed: allowed.map(|one| one.allowed.map(marks)).collect(),
        held,
        ends: ends
            .map(|(place, busy)| Due {
                time: busy.until,
                what: place,
            })
            .collect(),
        placements: Vec::new(),
    };
    let mut left: Vec<Entry> = list.to_vec();
    left.sort_by_key(|entry| !waiting[entry.task].is_overdue);
    loop {
        placing.start(&mut left, waiting);
        if left.is_empty() || !placing.go_on() {
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
struct Promise {
    task: usize,
    count: u32,
    /// When it can start, if nothing else comes in between.
    at: f64,
    /// What is free then.
    free: Marks,
}

impl Placing {
    /// Starts what can start now.
    fn start(&mut self, left: &mut Vec<Entry>, waiting: &[Waiting]) {
        let mut count = self.free.count();
        let mut promise: Option<Promise> = None;
        left.retain(|entry| {
            if entry.allotment.processors <= count && self.try_start(entry, promise.as_mut()) {
                count -= entry.allotment.processors;
                return false;
            }
            if promise.is_none() && waiting[entry.task].is_overdue {
                promise = self.promise(entry);
            }
            true
        });
    }

    fn try_start(&mut self, entry: &Entry, promise: Option<&mut Promise>) -> bool {
        let wanted = entry.allotment.processors;
        let allowed = self.allowed[entry.task].as_ref();
        if self.free.count_within(allowed) < wanted {
            return false;
        }
        let chosen = self.free.first(wanted, allowed);
        let end = self.now + entry.allotment.time;
        if let Some(promise) = promise.filter(|promise| end > promise.at) {
            let mut rest = promise.free.clone();
            rest.remove(&chosen);
            if rest.count_within(self.allowed[promise.task].as_ref()) < promise.count {
                return false;
            }
            promise.free = rest;
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

    fn promise(&self, entry: &Entry) -> Option<Promise> {
        let mut ends: Vec<(f64, usize)> =
            self.ends.iter().map(|end| (end.time, end.what)).collect();
        ends.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut free = self.free.clone();
        let allowed = self.allowed[entry.task].as_ref();
        let (task, count) = (entry.task, entry.allotment.processors);
        ends.into_iter().find_map(|(at, place)| {
            free.add(&self.held[place]);
            let is_enough = free.count_within(allowed) >= count;
            is_enough.then(|| Promise {
                task,
                count,
                at,
                free: free.clone(),
            })
        })
    }

    /// Goes on to when something ends next; false: nothing does.
    fn go_on(&mut self) -> bool {
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
