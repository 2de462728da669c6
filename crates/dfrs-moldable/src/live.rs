//! What a live agent asks: given what runs, what waits, and the machine, what is to start now?

use crate::demt::{Shuffles, batches, shuffled};
use crate::dual::Estimate;
use crate::list::{self, Busy, Due, Entry};
use crate::problem::Problem;
use crate::processors::{Free, Processors};
use crate::schedule::Schedule;
use crate::task::Task;

/// A machine with what runs on it.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Number of processors, whether usable or not.
    pub processors: u32,
    /// Those that nothing may be placed on: down, drained, reserved.
    pub unusable: Processors,
    /// What runs, and until when that is expected. What should have ended already counts as ending later than anything
    /// that starts now.
    pub running: Vec<Busy>,
}

/// The plan for the tasks that wait, of which those with `start == now` are to start; tasks that need more usable
/// processors than there are are not in it. Places of tasks are places in `waiting`.
///
/// The tasks are put into batches as if the usable processors were free, and started in that order
/// by the list algorithm around what runs. It is asked again whenever something ends or is submitted, so that wrong
/// estimates move what follows and nothing else. O(m n K).
#[must_use]
pub fn plan(machine: &Machine, waiting: &[&Task], now: f64, shuffles: Shuffles) -> Schedule {
    let mut free = Free::all(machine.processors);
    free.remove(&machine.unusable);
    let usable = free.count();
    let possible: Vec<usize> = (0..waiting.len())
        .filter(|place| waiting[*place].smallest().processors <= usable)
        .collect();
    // With fewer processors than the machine has, tasks may have times for too many.
    let narrowed: Vec<Task> = possible
        .iter()
        .map(|place| waiting[*place].within(usable))
        .collect();
    let problem = Problem {
        tasks: narrowed.iter().collect(),
        processors: usable,
    };
    let list: Vec<Entry> = {
        let batches = batches(&problem, &Estimate::of(&problem));
        let list = shuffled(&problem, &batches, shuffles);
        let entry = |entry: Entry| Entry {
            task: possible[entry.task],
            ..entry
        };
        list.into_iter().map(entry).collect()
    };
    let mut running = machine.running.clone();
    let mut released = Vec::with_capacity(running.len());
    for busy in &mut running {
        busy.until = busy.until.max(now.next_up());
        // What has become unusable under a task does not become free when it ends.
        busy.processors = free.remove(&busy.processors);
        released.push(Due {
            time: busy.until,
            what: busy.processors.count(),
        });
    }
    let starts = list::starts(&list, now, free.count(), released);
    list::place_among(&list, &starts, free, running)
}
