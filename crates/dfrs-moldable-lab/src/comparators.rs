//! What the paper compares with (Section 4.1).

use dfrs_moldable::list::sort_by;
use dfrs_moldable::{Estimate, ListEntry, Problem, Schedule, Task};

use crate::list;
use crate::shelves::Shelves;

/// Each task on all processors, or on so many that more do not make it faster; one after the other,
/// by decreasing ratio of weight to time. O(n log n).
pub fn gang(problem: &Problem) -> Schedule {
    let mut list = ListEntry::of_all(problem, Task::fastest);
    sort_by(&mut list, |entry| -entry.weight_per_time(problem));
    // One after the other, even if two would fit side by side.
    let mut now = 0.0;
    let mut starts = Vec::with_capacity(list.len());
    for entry in &list {
        starts.push(now);
        now += entry.allotment.time;
    }
    list::place(&list, &starts, problem.processors)
}

/// Each task on one processor, or on the fewest on which it is possible; a list with the longest
/// first.
pub fn sequential(problem: &Problem) -> Schedule {
    let mut list = ListEntry::of_all(problem, Task::smallest);
    sort_by(&mut list, |entry| -entry.allotment.time);
    list::schedule(&list, problem.processors)
}

/// The order of a list of tasks with the allotments of the dual approximation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The large shelf, the small shelf, the small tasks.
    Shelves,
    /// Decreasing ratio of weight to time, which the paper calls weighted LPTF.
    WeightPerTime,
    /// Increasing area (processors times time).
    SmallestArea,
}

/// List Graham with the allotments of the dual approximation. O(n log n) beside [`Shelves::of`].
pub fn list_graham(problem: &Problem, estimate: &Estimate, order: Order) -> Schedule {
    let mut list = Shelves::of(problem, estimate).entries();
    match order {
        Order::Shelves => {}
        Order::WeightPerTime => sort_by(&mut list, |entry| -entry.weight_per_time(problem)),
        Order::SmallestArea => sort_by(&mut list, |entry| entry.allotment.area()),
    }
    list::schedule(&list, problem.processors)
}
