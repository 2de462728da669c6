//! FCFS and EASY on nodes that jobs share.

use std::collections::BTreeMap;

use dfrs_core::Time;

use super::machine::Machine;
use super::node_amounts::{NodeAmounts, Tasks};
use super::queue::{Queue, QueueReservation, QueueRoom};
use crate::settings::LAST;
use crate::trace::TraceJob;

impl QueueRoom for Vec<NodeAmounts> {
    fn fit(&self, job: &TraceJob) -> Option<Tasks> {
        let task = NodeAmounts::of_task(job);
        let all = |node: usize| self[node].holds(task);
        Tasks::find(job, self.len(), |node| (all(node), all(node)))
    }

    fn backfill(
        queue: &mut Queue<Self>,
        machine: &mut Machine<'_>,
        now: Time,
        from: usize,
        reservation: &mut QueueReservation<Self>,
    ) {
        // Room only shrinks: a job that requires no less than one that failed would fail, too.
        let mut missed: BTreeMap<(NodeAmounts, bool), u32> = BTreeMap::new();
        let mut free_cpu: u64 = queue.free.iter().map(|room| room.cpu).sum();
        let tried = queue.jobs.split_off(from);
        for job in tried {
            let about = &machine.jobs[job];
            let task = NodeAmounts::of_task(about);
            let is_in_time = now + machine.duration(job) <= reservation.start;
            let least = missed.entry((task, is_in_time)).or_insert(u32::MAX);
            let needed = task.cpu * u64::from(about.tasks);
            let found = (about.tasks < *least && needed <= free_cpu).then(|| {
                Tasks::find(about, queue.free.len(), |node| {
                    let free = queue.free[node].holds(task);
                    let with_reservation =
                        queue.free[node].least(reservation.left[node]).holds(task);
                    match is_in_time {
                        // Jobs that end by then leave to others what can be held for longer.
                        true => (free - with_reservation, free),
                        false => (with_reservation, with_reservation),
                    }
                })
            });
            let Some(tasks) = found.flatten() else {
                *least = about.tasks.min(*least);
                queue.jobs.push_back(job);
                continue;
            };
            free_cpu -= needed;
            if !is_in_time {
                tasks.take_from(&mut reservation.left);
            }
            queue.start(machine, now, job, tasks);
        }
    }

    /// The first of the queue is to have what is not free before.
    fn reserve(queue: &Queue<Self>, machine: &Machine<'_>) -> QueueReservation<Self> {
        let mut left = queue.free.clone();
        let mut start = None;
        let Some(first) = queue.jobs.front().map(|job| &machine.jobs[*job]) else {
            return QueueReservation { start: LAST, left };
        };
        let task = NodeAmounts::of_task(first);
        let holds = |room: &NodeAmounts| u64::from(room.holds(task));
        let mut found: u64 = left.iter().map(holds).sum();
        for (end, job) in machine.by_expected_end() {
            if found >= u64::from(first.tasks) && start.is_some_and(|start| start < end) {
                break;
            }
            start = Some(end);
            let Some(tasks) = queue.running.get(&job) else {
                continue;
            };
            for run in &tasks.runs {
                let room = &mut left[run.node.index()];
                found -= holds(room);
                room.give(tasks.task, run.tasks);
                found += holds(room);
            }
        }
        let place = Tasks::find(first, left.len(), |node| {
            let then = left[node].holds(task);
            (then - queue.free[node].holds(task), then)
        });
        if let Some(place) = place {
            place.take_from(&mut left);
        }
        QueueReservation {
            start: start.unwrap_or(LAST),
            left,
        }
    }
}
