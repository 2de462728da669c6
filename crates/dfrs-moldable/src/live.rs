//! The question of a live agent: given what runs, what waits, and the machine, what is to start
//! now?

mod choose;
mod marks;
mod place;

use crate::dual::Estimate;
use crate::list::{self, Busy, Due, ListEntry};
use crate::problem::Problem;
use crate::processors::{Free, ProcessorSet};
use crate::schedule::Schedule;
use crate::task::Task;

/// A machine with what runs on it.
#[derive(Clone, Debug)]
pub struct LiveMachine {
    /// Number of processors, whether usable or not.
    pub processors: u32,
    /// The processors that nothing may be placed on: down, drained, reserved.
    pub unusable: ProcessorSet,
    /// What runs, and until when that is expected. What should have ended already counts as ending
    /// later than anything that starts now.
    pub running: Vec<Busy>,
}

/// A task that waits.
#[derive(Clone, Copy, Debug)]
pub struct WaitingTask<'a> {
    /// The task.
    pub task: &'a Task,
    /// Where it may run; none: anywhere.
    pub allowed: Option<&'a ProcessorSet>,
    /// The task has waited for too long: it comes first, and until it starts nothing does that
    /// would make it start later.
    pub is_overdue: bool,
}

impl<'a> From<&'a Task> for WaitingTask<'a> {
    fn from(task: &'a Task) -> Self {
        Self {
            task,
            allowed: None,
            is_overdue: false,
        }
    }
}

/// The plan for the tasks that wait, of which those with `start == now` are to start; tasks that
/// need more usable processors than there are for them are not in it. Places of tasks are places in
/// `waiting`.
///
/// The tasks are put into batches, and into the other lists of DEMT+, as if the usable processors
/// were free. The list algorithm starts them around what runs in each of these orders, of which the
/// best is taken: that of the least product of both criteria of those that are worse than DEMT's in
/// neither. Last, tasks that would wait for processors while others idle start on fewer, where that
/// is better. The caller repeats this whenever something ends or is submitted, so that wrong
/// estimates move what follows and nothing else. O(m n K) and O(n log n) for each list; O(m n) more
/// for each end where some tasks may not run everywhere or are overdue.
pub fn plan(machine: &LiveMachine, waiting: &[WaitingTask], now: f64) -> Schedule {
    let mut free = Free::all(machine.processors);
    free.remove(&machine.unusable);
    let usable = free.clone();
    // With fewer processors than the machine has, tasks may have times for too many.
    let possible = waiting.iter().enumerate();
    let possible = possible.filter_map(|(place, one)| Some((place, narrowed(one, &usable)?)));
    let (possible, tasks): (Vec<usize>, Vec<Task>) = possible.unzip();
    if tasks.is_empty() {
        return Schedule::default();
    }
    let problem = Problem {
        tasks: tasks.iter().collect(),
        processors: usable.count(),
    };
    let estimate = Estimate::of(&problem);
    let mut running = machine.running.clone();
    for busy in &mut running {
        busy.until = busy.until.max(now.next_up());
        // What has become unusable under a task does not become free when it ends.
        busy.processors = free.remove(&busy.processors);
    }
    let list = choose::list(&problem, &estimate, (now, free.count()), &running);
    let entry = |entry: ListEntry| ListEntry {
        task: possible[entry.task],
        ..entry
    };
    let list: Vec<ListEntry> = list.into_iter().map(entry).collect();
    let is_plain = |one: &WaitingTask| one.allowed.is_none() && !one.is_overdue;
    if !waiting.iter().all(is_plain) {
        return place::among(machine.processors, &list, waiting, now, &free, &running);
    }
    let starts = list::starts(&list, now, free.count(), released(&running));
    list::place_among(&list, &starts, free, running)
}

/// When how many processors become free.
fn released(running: &[Busy]) -> impl Iterator<Item = Due<u32>> + '_ {
    running.iter().map(|busy| Due {
        time: busy.until,
        what: busy.processors.count(),
    })
}

/// The task for as many processors as there are for it, if it needs no more.
fn narrowed(one: &WaitingTask, usable: &Free) -> Option<Task> {
    let count = match one.allowed {
        None => usable.count(),
        Some(allowed) => usable.clone().remove(allowed).count(),
    };
    (one.task.smallest().processors <= count).then(|| one.task.within(count))
}
