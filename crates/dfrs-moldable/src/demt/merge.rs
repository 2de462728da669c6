//! What a batch can choose from: tasks with their allotments, and stacks of small sequential tasks.

use crate::list::ListEntry;
use crate::problem::Problem;
use crate::task::Allotment;
use crate::tree::Tree;

/// A task, or several one after the other on one processor.
pub(super) struct MergedTask {
    pub processors: u32,
    pub weight: f64,
    pub entries: Vec<ListEntry>,
}

impl MergedTask {
    fn of(entry: ListEntry, weight: f64) -> Self {
        Self {
            processors: entry.allotment.processors,
            weight,
            entries: vec![entry],
        }
    }
}

/// The tasks that can run in a batch of this length, on the fewest processors on which they do.
/// Those that take less than half of it on one processor are stacked by decreasing weight, each on
/// the first stack that has room. O(n (log n + log m)).
pub(super) fn candidates(problem: &Problem, tasks: &[usize], length: f64) -> Vec<MergedTask> {
    let (mut single, mut small) = (Vec::new(), Vec::new());
    for task in tasks {
        let Some(allotment) = problem.tasks[*task].fewest(length) else {
            continue;
        };
        let weight = problem.tasks[*task].weight();
        let entry = ListEntry {
            task: *task,
            allotment,
        };
        let Allotment { processors, time } = allotment;
        if processors == 1 && time < length / 2.0 {
            small.push((entry, weight));
        } else {
            single.push(MergedTask::of(entry, weight));
        }
    }
    small.sort_by(|(one, first), (other, second)| {
        let by_weight = second.total_cmp(first);
        let by_time = one.allotment.time.total_cmp(&other.allotment.time);
        by_weight.then(by_time).then(one.task.cmp(&other.task))
    });
    single.extend(stacks(&small, length));
    single
}

fn stacks(small: &[(ListEntry, f64)], length: f64) -> Vec<MergedTask> {
    let mut stacks: Vec<MergedTask> = Vec::new();
    let mut used = Tree::new(small.iter().map(|_| 0.0), f64::INFINITY);
    let mut heights = vec![0.0; small.len()];
    for (entry, weight) in small {
        let time = entry.allotment.time;
        // There are as many stacks as tasks, so that one is empty.
        let Some(place) = used.first_within(length - time) else {
            continue;
        };
        heights[place] += time;
        used.set(place, heights[place]);
        match stacks.get_mut(place) {
            None => stacks.push(MergedTask::of(*entry, *weight)),
            Some(stack) => {
                stack.weight += weight;
                stack.entries.push(*entry);
            }
        }
    }
    stacks
}
