//! DEMT with its allotments and its order revised after compaction: not in the paper.

use super::{Shuffles, batches, shuffled};
use crate::dual::Estimate;
use crate::list::{self, Entry};
use crate::problem::Problem;
use crate::schedule::Schedule;

/// How often deadlines are lengthened, and shortened, by a factor of the root of 2.
const STEPS: u32 = 8;

/// The best of many lists: DEMT's own; DEMT's with the deadline of each batch lengthened, so that its tasks take fewer
/// processors and do less work; all tasks with one deadline, from C*max downwards. Each of them in the order of the
/// batches, by weight per area, and by weight per time. The best is that of the least product of makespan and
/// weighted completion of those that are worse than DEMT in neither. O(m n K + n log n) for each list.
#[must_use]
pub fn improved(problem: &Problem, estimate: &Estimate, shuffles: Shuffles) -> Schedule {
    let batches = batches(problem, estimate);
    let mut best = shuffled(problem, &batches, shuffles);
    let first = list::criteria(problem, &best);
    let mut least = first.product();
    let mut consider = |list: Vec<Entry>| {
        let found = list::criteria(problem, &list);
        if found.product() < least && found.is_nowhere_worse(first) {
            (best, least) = (list, found.product());
        }
    };
    let mut factor = 1.0;
    for _ in 0..STEPS {
        let longer = lengthened(problem, &batches, factor, estimate.guess);
        let alike = within(problem, estimate.guess / factor);
        for list in [longer, alike] {
            for key in [per_area, per_time] {
                consider(sorted(problem, &list, key));
            }
            consider(list);
        }
        factor *= std::f64::consts::SQRT_2;
    }
    list::schedule(&best, 0.0, problem.processors)
}

/// The list of the batches, each task on the fewest processors on which it takes at most the longest time of its
/// batch times the factor, and at most the limit.
fn lengthened(problem: &Problem, batches: &[Vec<Entry>], factor: f64, limit: f64) -> Vec<Entry> {
    let lengthen = |batch: &Vec<Entry>| {
        let times = batch.iter().map(|entry| entry.allotment.time);
        let deadline = (times.fold(0.0, f64::max) * factor).min(limit);
        let entry = |entry: &Entry| {
            let found = problem.tasks[entry.task].fewest(deadline);
            let allotment = found.unwrap_or(entry.allotment);
            Entry {
                allotment,
                ..*entry
            }
        };
        batch.iter().map(entry).collect::<Vec<_>>()
    };
    batches.iter().flat_map(lengthen).collect()
}

/// All tasks in their own order, each on the fewest processors on which it takes at most so long, or as short as it
/// can.
fn within(problem: &Problem, deadline: f64) -> Vec<Entry> {
    let tasks = problem.tasks.iter().enumerate();
    let entry = |(task, times): (usize, &&crate::task::Task)| Entry {
        task,
        allotment: times.fewest(deadline).unwrap_or_else(|| times.fastest()),
    };
    tasks.map(entry).collect()
}

fn per_area(problem: &Problem, entry: &Entry) -> f64 {
    problem.tasks[entry.task].weight() / entry.allotment.area()
}

fn per_time(problem: &Problem, entry: &Entry) -> f64 {
    problem.tasks[entry.task].weight() / entry.allotment.time
}

fn sorted(problem: &Problem, list: &[Entry], key: fn(&Problem, &Entry) -> f64) -> Vec<Entry> {
    let mut keyed: Vec<(f64, Entry)> = list
        .iter()
        .map(|entry| (key(problem, entry), *entry))
        .collect();
    keyed.sort_by(|one, other| other.0.total_cmp(&one.0));
    keyed.into_iter().map(|(_, entry)| entry).collect()
}
