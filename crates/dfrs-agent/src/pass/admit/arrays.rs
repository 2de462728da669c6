//! Arrays: tasks get records of their own only as far as they can start.

use std::collections::BTreeMap;

use dfrs_core::{Bytes, Span, Time};
use dfrs_proto::conf::Mode;

use crate::daemons::Daemons;
use crate::pass::Agent;
use crate::pass::admit::admission::MAX_QUERIES;
use crate::probe::PassPart;
use crate::saturating_u32;
use crate::slurm::job_name::job_name;
use crate::slurm::observation::Observation;
use crate::slurm::port::{LogLevel, Slurm, SlurmError};
use crate::slurm::records::ObservedJob;
use crate::slurm::request::memory::{MIB, memory_request};

/// Waiting tasks of one array that have records of their own.
const MAX_AHEAD: u32 = 100;
/// Waiting tasks of all arrays together that have records of their own, where that is more than one
/// of each: as many as ten passes start. There may be room for the tasks of each array and not for
/// those of all, and every record costs slurmctld and every look.
const MAX_AHEAD_TOTAL: u32 = 1000;
/// How often shadow mode looks at what arrays wait for.
const ARRAYS_INTERVAL: Span = Span::from_seconds(8);

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Gives tasks of arrays records of their own: of the arrays that Slurm would start, as many
    /// tasks as there is room for, but always one, because room may be made for it.
    pub(in crate::pass) fn split_arrays(&mut self, now: Time) -> Result<(), SlurmError> {
        let arrays = self.lists.arrays();
        if self.config.mode != Mode::Full {
            self.read_arrays(&arrays, now);
            return Ok(());
        }
        if arrays.is_empty() {
            return Ok(());
        }
        let asked = self.arrays_to_query(arrays, now);
        let wanted = self.wanted_tasks(&asked);
        let ids: Vec<u32> = wanted.iter().map(|(id, _)| *id).collect();
        let allowed = if ids.is_empty() {
            Vec::new()
        } else {
            self.probe.begin(PassPart::Query);
            self.slurm.may_start(&ids)
        };
        let mut split = false;
        self.probe.begin(PassPart::Act);
        // Arrays that need no query now are new when they need one.
        asked.iter().for_each(|id| {
            if ids.binary_search(id).is_err() {
                self.queue.array_admission.forget(*id);
            }
        });
        self.queue.array_admission.take_unwritten();
        for ((id, count), allowed) in wanted.into_iter().zip(allowed) {
            if allowed.is_err() {
                self.queue.array_admission.refuse(id, now);
                continue;
            }
            self.queue.array_admission.forget(id);
            split = true;
            if let Err(problem) = self.slurm.split_array(id, count) {
                let name = job_name(id, self.seen.job(id));
                let text = format!("{name}: array tasks not split into job records: {problem}");
                self.slurm.log(LogLevel::Verbose, &text);
            }
        }
        if split {
            self.probe.begin(PassPart::Look);
            self.look(now)?;
        }
        Ok(())
    }

    /// Has the journal know since when tasks wait that get records only when Slurm starts them.
    fn read_arrays(&mut self, arrays: &[u32], now: Time) {
        let is_due = now.0 - self.looks.arrays_read.0 >= ARRAYS_INTERVAL.0;
        let Some(journal) = self.publisher.journal.as_mut().filter(|_| is_due) else {
            return;
        };
        self.looks.arrays_read = now;
        let answers = match arrays {
            [] => Vec::new(),
            arrays => self.slurm.wait_for_room(arrays),
        };
        journal.see_arrays(arrays.iter().copied().zip(answers), now);
    }

    /// The arrays that Slurm has not refused, or not recently.
    fn arrays_to_query(&mut self, arrays: Vec<u32>, now: Time) -> Vec<u32> {
        let is_new = |id: &u32| self.queue.array_admission.answer(*id).is_none();
        let fresh = arrays.iter().copied().filter(is_new).collect();
        let questions = self
            .queue
            .array_admission
            .due_queries(&fresh, MAX_QUERIES, now);
        arrays
            .into_iter()
            .filter(|id| questions.contains(id))
            .collect()
    }

    /// For how many tasks these arrays lack records; only arrays that are not held and lack some.
    fn wanted_tasks(&self, arrays: &[u32]) -> Vec<(u32, u32)> {
        let mut room = ArrayCapacity::of(&self.seen);
        let jobs = arrays.iter().filter_map(|id| self.seen.job(*id));
        let jobs: Vec<&ObservedJob> = jobs.filter(|job| !job.held).collect();
        lacking(&jobs, &self.tasks_ahead(), &mut room)
    }

    /// How many tasks of each array wait with records of their own. Held tasks do not count: others
    /// can start.
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

/// For how many tasks each of these arrays lacks records, if it lacks some. `ahead`: how many tasks
/// of each array have them.
fn lacking(
    arrays: &[&ObservedJob],
    ahead: &BTreeMap<u32, u32>,
    room: &mut ArrayCapacity,
) -> Vec<(u32, u32)> {
    let each = max_ahead(arrays.len());
    let lacks = |job: &&ObservedJob| {
        let there = ahead.get(&job.array).copied().unwrap_or(0);
        // Most arrays have what they may have in most passes: nodes are not looked at for them.
        if there >= each {
            return None;
        }
        let max = room.max_jobs_like(job).clamp(1, each);
        (max > there).then(|| (job.id, max - there))
    };
    arrays.iter().filter_map(lacks).collect()
}

/// How many tasks of each of so many arrays may have records: the same number for each, lest tasks
/// that cannot start after all keep others from it.
fn max_ahead(arrays: usize) -> u32 {
    let arrays = saturating_u32(arrays);
    (MAX_AHEAD_TOTAL / arrays.max(1)).clamp(1, MAX_AHEAD)
}

/// For how many jobs of one kind there is room, found once for all arrays of that kind.
struct ArrayCapacity<'a> {
    seen: &'a Observation,
    /// By memory of a task and on each node, and tasks.
    known: BTreeMap<(Bytes, Bytes, u32), u32>,
}

impl<'a> ArrayCapacity<'a> {
    fn of(seen: &'a Observation) -> Self {
        Self {
            seen,
            known: BTreeMap::new(),
        }
    }

    /// How many jobs like this one the free memory has room for, at most. O(nodes) for the first
    /// job of its kind.
    fn max_jobs_like(&mut self, job: &ObservedJob) -> u32 {
        let (task, node) = memory_request(job, self.seen);
        let kind = (task, node, job.request.tasks);
        let room = self.known.entry(kind);
        *room.or_insert_with(|| room_for(kind, self.seen))
    }
}

fn room_for((task, node, tasks): (Bytes, Bytes, u32), seen: &Observation) -> u32 {
    let up = seen
        .nodes()
        .iter()
        .enumerate()
        .filter(|(_, node)| node.up)
        .map(|(position, _)| {
            let free = (seen.free_memory(position) * MIB).checked_sub(node.0);
            free.map_or(0, |free| {
                free.checked_div(task.0).unwrap_or(u64::from(tasks))
            })
        });
    let room: u64 = up.sum();
    saturating_u32(room / u64::from(tasks.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{job, nodes};

    /// So many arrays of small tasks, of two kinds.
    fn arrays(count: u32) -> Vec<ObservedJob> {
        let array = |id: u32| {
            ObservedJob {
                array: id,
                array_master: true,
                ..job(id, 1)
            }
            .requesting(|request| request.memory = 1 + u64::from(id % 2))
        };
        (1..=count).map(array).collect()
    }

    /// How many records the arrays lack where each has so many tasks ahead, and for how many kinds
    /// of jobs the room was counted.
    fn lacking_of(count: u32, there: u32) -> (Vec<(u32, u32)>, usize) {
        let (arrays, seen) = (arrays(count), Observation::new([], nodes(4)));
        let arrays: Vec<&ObservedJob> = arrays.iter().collect();
        let ahead = arrays.iter().map(|job| (job.array, there)).collect();
        let mut room = ArrayCapacity::of(&seen);
        let lacking = lacking(&arrays, &ahead, &mut room);
        (lacking, room.known.len())
    }

    #[test]
    fn nodes_are_scanned_once_per_kind_of_array() {
        let (lacking, counted) = lacking_of(500, 0);
        assert_eq!((lacking.len(), counted), (500, 2));
    }

    #[test]
    fn nodes_are_not_scanned_when_arrays_have_max_records() {
        for (count, there) in [(3, 100), (20, 50), (5000, 1)] {
            assert_eq!(lacking_of(count, there), (Vec::new(), 0), "{count}");
        }
    }

    #[test]
    fn records_are_bounded_over_all_arrays_with_one_for_each() {
        let records = |count, there| -> u32 {
            let (lacking, _) = lacking_of(count, there);
            lacking.iter().map(|(_, lacks)| lacks).sum()
        };
        assert_eq!((records(1, 0), records(10, 0)), (100, 1000));
        assert_eq!((records(40, 0), records(40, 5)), (1000, 800));
        assert_eq!(records(3000, 0), 3000, "one of each always");
    }
}
