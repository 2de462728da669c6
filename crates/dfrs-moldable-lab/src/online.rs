//! On-line scheduling by batches of released jobs (Section 2.2).

use dfrs_moldable::{Problem, Schedule};

use crate::instance::MoldableInstance;

/// Schedules each task no earlier than its release: what has been released when the machine becomes
/// free is one batch, scheduled as if it were everything; what is released meanwhile waits for the
/// next one. `schedule` places the tasks of a problem from time 0 on.
pub fn online(
    instance: &MoldableInstance,
    mut schedule: impl FnMut(&Problem) -> Schedule,
) -> Schedule {
    let tasks = instance.tasks();
    let mut waiting: Vec<usize> = (0..tasks.len()).collect();
    waiting.sort_by(|one, other| {
        let by_release = tasks[*one].release().total_cmp(&tasks[*other].release());
        by_release.then_with(|| one.cmp(other))
    });
    let mut waiting = waiting.as_slice();
    let mut now = 0.0f64;
    let mut whole = Schedule::default();
    while let Some(first) = waiting.first() {
        now = now.max(tasks[*first].release());
        let released = waiting.partition_point(|task| tasks[*task].release() <= now);
        let (batch, later) = waiting.split_at(released);
        waiting = later;
        let mut batch = batch.to_vec();
        batch.sort_unstable();
        let problem = Problem {
            tasks: batch.iter().map(|task| &tasks[*task]).collect(),
            processors: instance.processors(),
        };
        let begin = now;
        for mut placement in schedule(&problem).placements {
            placement.start += begin;
            let time = placement.end;
            placement.task = batch[placement.task];
            placement.end = begin + time;
            now = now.max(placement.end);
            whole.placements.push(placement);
        }
    }
    whole.placements.sort_by_key(|placement| placement.task);
    whole
}
