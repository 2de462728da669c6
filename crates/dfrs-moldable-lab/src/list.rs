//! Lists on a machine that is free.

use dfrs_moldable::list::{place_among, starts};
use dfrs_moldable::{Criteria, Free, ListEntry, Problem, Schedule};

/// The criteria of a list on a machine that is free from time 0 on. O(n log n).
pub(crate) fn criteria(problem: &Problem, list: &[ListEntry]) -> Criteria {
    let starts = starts(list, 0.0, problem.processors, []);
    let ends = list.iter().zip(starts);
    Criteria::of(
        |task| problem.tasks[task].weight(),
        ends.map(|(entry, start)| (entry.task, start + entry.allotment.time)),
    )
}

/// The schedule of a list from time 0 on. O(n log n + ranges of processors).
pub(crate) fn schedule(list: &[ListEntry], processors: u32) -> Schedule {
    place(list, &starts(list, 0.0, processors, []), processors)
}

/// Chooses processors for tasks with known start times.
pub(crate) fn place(list: &[ListEntry], starts: &[f64], processors: u32) -> Schedule {
    place_among(list, starts, Free::all(processors), Vec::new())
}
