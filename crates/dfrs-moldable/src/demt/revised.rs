//! DEMT with its allotments and its order revised after compaction: not in the paper.

use crate::list::ListEntry;
use crate::problem::Problem;
use crate::schedule::Criteria;

/// How often deadlines are lengthened, and shortened, by a factor of the root of 2.
const STEPS: usize = 8;

/// What DEMT+ tries beside DEMT's own list: the batches with the deadline of each lengthened, so
/// that its tasks take fewer processors and do less work; all tasks with one deadline, from C*max
/// (the guess) downwards. Each of these by weight per area, by weight per time, and in the order of
/// the batches.
pub fn revised(
    problem: &Problem,
    batches: &[Vec<ListEntry>],
    guess: f64,
) -> impl Iterator<Item = Vec<ListEntry>> {
    let factors =
        std::iter::successors(Some(1.0), |factor| Some(factor * std::f64::consts::SQRT_2));
    factors.take(STEPS).flat_map(move |factor| {
        let longer = lengthened(problem, batches, factor, guess);
        let alike = within(problem, guess / factor);
        [longer, alike].into_iter().flat_map(|list| {
            let [by_area, by_time] = [ListEntry::weight_per_area, ListEntry::weight_per_time]
                .map(|key| sorted(problem, &list, key));
            [by_area, by_time, list]
        })
    })
}

/// The list of the least product of its criteria, of those that are nowhere worse than the first;
/// none if there is none.
pub fn best_of(
    lists: impl IntoIterator<Item = Vec<ListEntry>>,
    criteria: impl Fn(&[ListEntry]) -> Criteria,
) -> Vec<ListEntry> {
    let mut lists = lists.into_iter();
    let mut best = lists.next().unwrap_or_default();
    let first = criteria(&best);
    let mut least = first.product();
    for list in lists {
        let found = criteria(&list);
        if found.product() < least && found.is_nowhere_worse(first) {
            (best, least) = (list, found.product());
        }
    }
    best
}

/// The list of the batches, each task on the fewest processors on which it takes at most the
/// longest time of its batch times the factor, and at most the limit.
fn lengthened(
    problem: &Problem,
    batches: &[Vec<ListEntry>],
    factor: f64,
    limit: f64,
) -> Vec<ListEntry> {
    let lengthen = |batch: &Vec<ListEntry>| {
        let times = batch.iter().map(|entry| entry.allotment.time);
        let deadline = (times.fold(0.0, f64::max) * factor).min(limit);
        let entry = |entry: &ListEntry| {
            let found = problem.tasks[entry.task].fewest(deadline);
            let allotment = found.unwrap_or(entry.allotment);
            ListEntry {
                allotment,
                ..*entry
            }
        };
        batch.iter().map(entry).collect::<Vec<_>>()
    };
    batches.iter().flat_map(lengthen).collect()
}

/// All tasks in their own order, each on the fewest processors on which it takes at most so long,
/// or as short as it can.
fn within(problem: &Problem, deadline: f64) -> Vec<ListEntry> {
    ListEntry::of_all(problem, |task| {
        let fewest = task.fewest(deadline);
        fewest.unwrap_or_else(|| task.fastest())
    })
}

fn sorted(
    problem: &Problem,
    list: &[ListEntry],
    key: fn(&ListEntry, &Problem) -> f64,
) -> Vec<ListEntry> {
    let mut keyed: Vec<(f64, ListEntry)> = list
        .iter()
        .map(|entry| (key(entry, problem), *entry))
        .collect();
    keyed.sort_by(|one, other| other.0.total_cmp(&one.0));
    keyed.into_iter().map(|(_, entry)| entry).collect()
}
