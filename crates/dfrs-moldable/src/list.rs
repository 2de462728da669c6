//! List scheduling (Graham): whenever processors are free, the first task of the list that fits
//! starts.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::problem::Problem;
use crate::processors::{Free, ProcessorSet};
use crate::schedule::{Placement, Schedule};
use crate::task::{Allotment, Task};
use crate::tree::Tree;

/// A task of the list with its allotment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ListEntry {
    /// Place of the task in [`Problem::tasks`].
    pub task: usize,
    /// On how many processors it is to run, and how long that takes.
    pub allotment: Allotment,
}

impl ListEntry {
    /// All tasks in their own order, each with the allotment that is chosen for it.
    pub fn of_all(problem: &Problem, choose: impl Fn(&Task) -> Allotment) -> Vec<Self> {
        let tasks = problem.tasks.iter().enumerate();
        let entry = |(task, times): (usize, &&Task)| Self {
            task,
            allotment: choose(times),
        };
        tasks.map(entry).collect()
    }

    /// The weight of the task over its time here.
    pub fn weight_per_time(&self, problem: &Problem) -> f64 {
        problem.tasks[self.task].weight() / self.allotment.time
    }

    /// The weight of the task over its area here.
    pub fn weight_per_area(&self, problem: &Problem) -> f64 {
        problem.tasks[self.task].weight() / self.allotment.area()
    }
}

/// Processors that are in use until a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Busy {
    /// When they become free.
    pub until: f64,
    /// The processors.
    pub processors: ProcessorSet,
}

/// Something that happens at a time; of a heap the earliest comes first.
#[derive(Clone, Debug, PartialEq)]
pub struct Due<T> {
    /// When.
    pub time: f64,
    /// What; of two at the same time the smaller comes first.
    pub what: T,
}

impl<T: Ord> Eq for Due<T> {}

impl<T: Ord> Ord for Due<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_time = other.time.total_cmp(&self.time);
        by_time.then_with(|| other.what.cmp(&self.what))
    }
}

impl<T: Ord> PartialOrd for Due<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Start times, in the order of the list, of tasks that begin at `now` at the earliest, on `free`
/// processors and on those that are released. An entry that needs more than there will ever be
/// never starts (infinite). O(n log n).
pub fn starts(
    list: &[ListEntry],
    mut now: f64,
    mut free: u32,
    released: impl IntoIterator<Item = Due<u32>>,
) -> Vec<f64> {
    let mut starts = vec![f64::INFINITY; list.len()];
    let sizes = list.iter().map(|entry| entry.allotment.processors);
    let mut waiting = Tree::new(sizes, u32::MAX);
    let mut running: BinaryHeap<Due<u32>> = released.into_iter().collect();
    loop {
        while let Some(place) = waiting.first_within(free) {
            let Allotment { processors, time } = list[place].allotment;
            waiting.remove(place);
            starts[place] = now;
            free -= processors;
            running.push(Due {
                time: now + time,
                what: processors,
            });
        }
        let Some(next) = running.pop() else {
            return starts;
        };
        now = now.max(next.time);
        free += next.what;
        while running.peek().is_some_and(|also| also.time <= now)
            && let Some(also) = running.pop()
        {
            free += also.what;
        }
    }
}

/// When each of these ends, by its place.
pub(crate) fn ends(busy: &[Busy]) -> BinaryHeap<Due<usize>> {
    let ends = busy.iter().zip(0..).map(|(one, what)| Due {
        time: one.until,
        what,
    });
    ends.collect()
}

/// The schedule of a list with the start time of each entry, on those of the `free` processors with
/// the lowest indexes and on those that become free; entries that never start are left out. Enough
/// are free at each start if the times are those of [`starts`]. O(n log n + ranges of processors).
pub fn place_among(
    list: &[ListEntry],
    starts: &[f64],
    mut free: Free,
    mut busy: Vec<Busy>,
) -> Schedule {
    let mut order: Vec<usize> = (0..list.len())
        .filter(|place| starts[*place].is_finite())
        .collect();
    order.sort_by(|one, other| starts[*one].total_cmp(&starts[*other]));
    let mut ends = ends(&busy);
    let mut placements = Vec::with_capacity(order.len());
    for place in order {
        let (entry, start) = (list[place], starts[place]);
        while ends.peek().is_some_and(|end| end.time <= start)
            && let Some(end) = ends.pop()
        {
            free.give(&busy[end.what].processors);
        }
        let processors = free.take(entry.allotment.processors);
        let end = start + entry.allotment.time;
        ends.push(Due {
            time: end,
            what: busy.len(),
        });
        busy.push(Busy {
            until: end,
            processors: processors.clone(),
        });
        placements.push(Placement {
            task: entry.task,
            start,
            end,
            processors,
        });
    }
    placements.sort_by_key(|placement| placement.task);
    Schedule { placements }
}

/// Ascending; of equal ones the first task is first.
pub fn sort_by(list: &mut [ListEntry], key: impl Fn(&ListEntry) -> f64) {
    list.sort_by(|one, other| {
        let by_key = key(one).total_cmp(&key(other));
        by_key.then_with(|| one.task.cmp(&other.task))
    });
}
