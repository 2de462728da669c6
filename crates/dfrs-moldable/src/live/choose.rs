//! Which tasks come first, and on how many processors each.

use crate::demt::{batches, best_of, revised};
use crate::dual::Estimate;
use crate::list::{self, Busy, ListEntry};
use crate::problem::Problem;
use crate::schedule::Criteria;

/// So many tasks are tried on processors that would idle: each try costs a schedule.
const MAX_TRIES: usize = 16;

/// The list that is best around what runs: `free` processors are free now.
pub(super) fn list(
    problem: &Problem,
    estimate: &Estimate,
    (now, free): (f64, u32),
    running: &[Busy],
) -> Vec<ListEntry> {
    let evaluator = ListEvaluator {
        problem,
        now,
        free,
        running,
    };
    let batches = batches(problem, estimate);
    let others = revised(problem, &batches, estimate.guess);
    let lists = std::iter::once(batches.concat()).chain(others);
    evaluator.fill(best_of(lists, |list| evaluator.criteria(list)))
}

/// What lists are judged by.
struct ListEvaluator<'a> {
    problem: &'a Problem<'a>,
    now: f64,
    free: u32,
    running: &'a [Busy],
}

impl ListEvaluator<'_> {
    fn starts(&self, list: &[ListEntry]) -> Vec<f64> {
        list::starts(list, self.now, self.free, super::released(self.running))
    }

    /// Times count from now on: an absolute time is most of a sum of them.
    fn criteria(&self, list: &[ListEntry]) -> Criteria {
        let starts = self.starts(list).into_iter();
        let ends = list.iter().zip(starts).map(|(entry, start)| {
            let end = start - self.now + entry.allotment.time;
            (entry.task, end)
        });
        Criteria::of(|task| self.problem.tasks[task].weight(), ends)
    }

    /// Tasks that would wait start at once, on as many processors as would idle, where that is
    /// better.
    fn fill(&self, mut list: Vec<ListEntry>) -> Vec<ListEntry> {
        let mut starts = self.starts(&list);
        let mut criteria = self.criteria(&list);
        let (mut place, mut tries) = (0, 0);
        while place < list.len() && tries < MAX_TRIES {
            let idle = self.idle(&list, &starts);
            if idle == 0 {
                break;
            }
            let (entry, start) = (list[place], starts[place]);
            place += 1;
            let narrow = self.problem.tasks[entry.task].fastest_on(idle);
            let ends_sooner = |time: f64| self.now + time < start + entry.allotment.time;
            let Some(allotment) = narrow.filter(|narrow| ends_sooner(narrow.time)) else {
                continue;
            };
            if start <= self.now {
                continue;
            }
            tries += 1;
            let mut changed = list.clone();
            changed.remove(place - 1);
            changed.insert(0, ListEntry { allotment, ..entry });
            let found = self.criteria(&changed);
            if found.is_nowhere_worse(criteria) {
                starts = self.starts(&changed);
                (list, criteria) = (changed, found);
            }
        }
        list
    }

    /// Processors that are idle from now on.
    fn idle(&self, list: &[ListEntry], starts: &[f64]) -> u32 {
        let begun = list.iter().zip(starts);
        let begun = begun.filter(|(_, start)| **start <= self.now);
        let used: u32 = begun.map(|(entry, _)| entry.allotment.processors).sum();
        self.free.saturating_sub(used)
    }
}
