//! Arrays: tasks get records of their own only as far as they can start.

use std::collections::BTreeMap;

use dfrs_core::{Span, Time};
use dfrs_proto::conf::Mode;

use super::admission::AT_ONCE;
use super::{Agent, SECOND};
use crate::cluster::{MIB, memory_request};
use crate::daemons::Daemons;
use crate::observation::{Observation, ObservedJob};
use crate::probe::Part;
use crate::slurm::{Level, Slurm, SlurmError};

/// Waiting tasks of one array that have records of their own.
const MOST_AHEAD: u32 = 100;
/// How often who only watches looks at what arrays wait for.
const ARRAYS_INTERVAL: Span = Span(8 * SECOND);

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Gives tasks of arrays records of their own: of those that Slurm would start, as many as there is
    /// room for, but one always, because what it needs may be made room for.
    pub(super) fn split_arrays(&mut self, now: Time) -> Result<(), SlurmError> {
        let arrays = self.lists.arrays();
        if self.config.mode != Mode::Full {
            self.read_arrays(&arrays, now);
            return Ok(());
        }
        if arrays.is_empty() {
            return Ok(());
        }
        let asked = self.arrays_to_ask_about(arrays, now);
        let wanted = self.wanted_tasks(&asked);
        let ids: Vec<u32> = wanted.iter().map(|(id, _)| *id).collect();
        let allowed = if ids.is_empty() {
            Vec::new()
        } else {
            self.probe.begin(Part::Ask);
            self.slurm.may_start(&ids)
        };
        let mut split = false;
        self.probe.begin(Part::Act);
        // Those that need not be asked about now are new when they have to be.
        asked.iter().for_each(|id| {
            if ids.binary_search(id).is_err() {
                self.array_admission.forget(*id);
            }
        });
        self.array_admission.take_unwritten();
        for ((id, most), allowed) in wanted.into_iter().zip(allowed) {
            if allowed.is_err() {
                self.array_admission.refuse(id, now);
                continue;
            }
            self.array_admission.forget(id);
            split = true;
            if let Err(problem) = self.slurm.split_array(id, most) {
                let text = format!("job array {id}: tasks stay together: {problem}");
                self.slurm.log(Level::Verbose, &text);
            }
        }
        if split {
            self.probe.begin(Part::Look);
            self.look(now)?;
        }
        Ok(())
    }

    /// Has the journal know since when tasks wait that get records only when Slurm starts them.
    fn read_arrays(&mut self, arrays: &[u32], now: Time) {
        let is_due = now.0 - self.arrays_read.0 >= ARRAYS_INTERVAL.0;
        let Some(journal) = self.journal.as_mut().filter(|_| is_due) else {
            return;
        };
        self.arrays_read = now;
        let answers = match arrays {
            [] => Vec::new(),
            arrays => self.slurm.wait_for_room(arrays),
        };
        journal.see_arrays(arrays.iter().copied().zip(answers), now);
    }

    /// Those that Slurm has not refused, or not just now.
    fn arrays_to_ask_about(&mut self, arrays: Vec<u32>, now: Time) -> Vec<u32> {
        let is_new = |id: &u32| self.array_admission.answer(*id).is_none();
        let fresh = arrays.iter().copied().filter(is_new).collect();
        let questions = self.array_admission.questions(&fresh, AT_ONCE, now);
        arrays
            .into_iter()
            .filter(|id| questions.contains(id))
            .collect()
    }

    /// Of how many tasks these arrays lack records; of those that nobody holds and that lack some.
    fn wanted_tasks(&self, arrays: &[u32]) -> Vec<(u32, u32)> {
        let ahead = self.tasks_ahead();
        let lacks = |id: u32| {
            let job = self.seen.job(id).filter(|job| !job.held)?;
            let there = ahead.get(&job.array).copied().unwrap_or(0);
            let most = room_for(job, &self.seen).clamp(1, MOST_AHEAD);
            (most > there).then(|| (id, most - there))
        };
        arrays.iter().copied().filter_map(lacks).collect()
    }

    /// How many tasks of each array wait with records of their own. Those that are held do not count: others can
    /// start.
    fn tasks_ahead(&self) -> BTreeMap<u32, u32> {
        let mut ahead = BTreeMap::new();
        for id in self.lists.pending() {
            let task = self
                .seen
                .job(id)
                .filter(|job| job.array > 0 && !job.array_master && !job.held);
            if let Some(job) = task {
                *ahead.entry(job.array).or_default() += 1;
            }
        }
        ahead
    }
}

/// How many jobs like this one the memory that is free has room for, at most. O(nodes).
fn room_for(job: &ObservedJob, seen: &Observation) -> u32 {
    let (task, node) = memory_request(job, seen);
    let tasks = seen
        .nodes()
        .iter()
        .enumerate()
        .filter(|(_, node)| node.up)
        .map(|(position, _)| {
            let free = (seen.free_memory(position) * MIB).checked_sub(node.0);
            free.map_or(0, |free| {
                free.checked_div(task.0).unwrap_or(u64::from(job.tasks))
            })
        });
    let tasks: u64 = tasks.sum();
    u32::try_from(tasks / u64::from(job.tasks.max(1))).unwrap_or(u32::MAX)
}
