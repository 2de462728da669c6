//! What jobs of partitions that DFRS does not schedule hold of nodes that it schedules, too.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::{Bytes, Cores, NodeIndex, Span, Time};
use dfrs_proto::journal::{EventKind, JobOutcome, JournalEvent};

use crate::batch::{Batch, NodeAmounts};
use crate::error::SimulationError;
use crate::outcome::{JobRecord, SimOutcome};
use crate::scheduler::Scheduler;
use crate::settings::SimSettings;
use crate::simulate::simulate;
use crate::trace::{NODE_CPU, NODE_MEMORY, Trace, TraceJob};

/// What others hold of a node from this time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldChange {
    /// Since when.
    pub time: Time,
    /// The node.
    pub node: NodeIndex,
    /// CPU of jobs there: whole CPUs, at most [`NODE_CPU`].
    pub cpu: Cores,
    /// Memory of jobs there, at most [`NODE_MEMORY`].
    pub memory: Bytes,
}

/// A run of others' jobs as if there were no DFRS, and what they hold in it.
#[derive(Clone, Debug)]
pub struct HeldByOthers {
    outcome: SimOutcome,
    changes: Vec<HeldChange>,
    from: Time,
    until: Time,
    /// Millionths of a core times microseconds.
    held: u128,
    nodes: u32,
    without_room: usize,
}

impl HeldByOthers {
    /// Runs the jobs under [`Batch::EasyShared`], alone, on the nodes of the settings.
    ///
    /// # Errors
    ///
    /// See [`SimulationError`].
    pub fn run(trace: &Trace, settings: &SimSettings) -> Result<Self, SimulationError> {
        let mut tracker = Tracker::new(trace, settings.nodes);
        let mut sink = |event: &JournalEvent| {
            tracker.take(event);
            Ok(())
        };
        let easy = Scheduler::Batch(Batch::EasyShared);
        let outcome = simulate(trace, &easy, settings, Some(&mut sink))?;
        let from = trace.jobs.first().map_or(Time::ZERO, |job| job.submit);
        let until = outcome.jobs.iter().map(|record| record.finish).max();
        let held = trace.jobs.iter().map(|job| {
            let cpu = u128::from(job.allocated_cpu.0) * u128::from(job.tasks);
            cpu * u128::from(job.runtime.0.unsigned_abs())
        });
        Ok(Self {
            held: held.sum(),
            changes: tracker.finish(),
            until: until.unwrap_or(from),
            from,
            nodes: settings.nodes,
            without_room: 0,
            outcome,
        })
    }

    /// Takes the jobs as they ran, from start to finish, each task on a node of its own: the first ones that have room
    /// then, else together where there is room, else where most is left. `records` are in the order of the trace.
    /// O(n (log n + nodes log nodes + tasks)).
    pub fn recorded(trace: &Trace, records: &[JobRecord], nodes: u32) -> Self {
        let mut tracker = Tracker::new(trace, nodes);
        let all = NodeAmounts::of_nodes(trace, nodes, NodeAmounts::NODE);
        let ran = || {
            records
                .iter()
                .enumerate()
                .filter(|(_, record)| record.finish > record.start)
        };
        let ends = ran().map(|(job, record)| (record.finish, false, job));
        let starts = ran().map(|(job, record)| (record.start, true, job));
        let mut events: Vec<(Time, bool, usize)> = ends.chain(starts).collect();
        // What ends makes room for what starts at the same time.
        events.sort_unstable();
        let mut without_room = 0;
        for (time, is_start, position) in events {
            let job = &trace.jobs[position];
            let name = job.id.clone();
            let kind = if is_start {
                let (nodes, is_room) = own_nodes(job, &all, &tracker.held);
                without_room += usize::from(!is_room);
                EventKind::Start { job: name, nodes }
            } else {
                let outcome = JobOutcome::Completed;
                EventKind::Finish { job: name, outcome }
            };
            tracker.take(&JournalEvent::new(time, kind));
        }
        let changes = tracker.finish();
        let from = trace.jobs.first().map_or(Time::ZERO, |job| job.submit);
        let until = records.iter().map(|record| record.finish).max();
        Self {
            held: held_by(&changes, nodes),
            changes,
            from,
            until: until.unwrap_or(from),
            nodes,
            without_room,
            outcome: SimOutcome {
                jobs: records.to_vec(),
                ..SimOutcome::default()
            },
        }
    }

    /// How many jobs had no room when they started as they were recorded: they hold what there is.
    pub fn without_room(&self) -> usize {
        self.without_room
    }

    /// What became of the jobs, with or without DFRS.
    pub fn outcome(&self) -> &SimOutcome {
        &self.outcome
    }

    /// What is held, in time order; of each instant one change for each node.
    pub fn changes(&self) -> &[HeldChange] {
        &self.changes
    }

    /// From the first submission to the last completion.
    pub fn window(&self) -> (Time, Time) {
        (self.from, self.until)
    }

    /// The part of the CPU of all nodes in the window that is held, 0 to 1. 0 if there is none.
    // Precise enough: a result to be looked at.
    pub fn utilization(&self) -> f64 {
        let length: Span = self.until.since(self.from);
        let all = u128::from(NODE_CPU.0) * u128::from(self.nodes);
        let all = all * u128::from(length.0.unsigned_abs());
        if all == 0 {
            return 0.0;
        }
        self.held as f64 / all as f64
    }
}

/// What these come to, which end with nothing held: millionths of a core times microseconds.
fn held_by(changes: &[HeldChange], nodes: u32) -> u128 {
    let mut last = vec![(Time::ZERO, Cores(0)); nodes as usize];
    let mut sum = 0;
    for change in changes {
        let (since, cpu) = &mut last[change.node.index()];
        let length = change.time.since(*since).0.unsigned_abs();
        sum += u128::from(cpu.0) * u128::from(length);
        (*since, *cpu) = (change.time, change.cpu);
    }
    sum
}

/// A node for each task of the job, and whether there is room for all. O(nodes log nodes + tasks).
fn own_nodes(job: &TraceJob, all: &[NodeAmounts], held: &[NodeAmounts]) -> (Vec<NodeIndex>, bool) {
    let task = NodeAmounts::of_task(job);
    let node = |position: usize| NodeIndex(u32::try_from(position).unwrap_or(u32::MAX));
    let free = |position: usize| all[position].left_by(held[position]);
    let tasks = job.tasks as usize;
    let counts = || (0..all.len()).map(|position| (position, free(position).holds(task) as usize));
    let with_room = counts().filter(|(_, count)| *count > 0);
    let own = with_room.map(|(position, _)| position);
    // Where nodes do not suffice, tasks are together.
    let together = counts()
        .flat_map(|(position, count)| std::iter::repeat_n(position, count.saturating_sub(1)));
    let mut nodes: Vec<usize> = own.chain(together).take(tasks).collect();
    let missing = tasks - nodes.len();
    if missing > 0 {
        let left = |(position, count): (usize, usize)| {
            let cpu = task.cpu.saturating_mul(count as u64);
            (position, free(position).cpu.saturating_sub(cpu))
        };
        let mut others: Vec<(usize, u64)> = counts().map(left).collect();
        others.sort_by_key(|(_, cpu)| std::cmp::Reverse(*cpu));
        let again = others.into_iter().map(|(position, _)| position).cycle();
        nodes.extend(again.take(missing));
    }
    (nodes.into_iter().map(node).collect(), missing == 0)
}

/// Follows what is held.
struct Tracker<'a> {
    tasks: BTreeMap<&'a str, NodeAmounts>,
    places: BTreeMap<String, Vec<NodeIndex>>,
    held: Vec<NodeAmounts>,
    now: Time,
    touched: BTreeSet<NodeIndex>,
    changes: Vec<HeldChange>,
}

impl<'a> Tracker<'a> {
    fn new(trace: &'a Trace, nodes: u32) -> Self {
        let jobs = trace.jobs.iter();
        Self {
            tasks: jobs
                .map(|job| (job.id.as_str(), NodeAmounts::of_task(job)))
                .collect(),
            places: BTreeMap::new(),
            held: vec![NodeAmounts::default(); nodes as usize],
            now: Time::ZERO,
            touched: BTreeSet::new(),
            changes: Vec::new(),
        }
    }

    fn take(&mut self, event: &JournalEvent) {
        if event.t > self.now {
            self.settle();
            self.now = event.t;
        }
        match &event.kind {
            EventKind::Start { job, nodes } => {
                let task = self.task(job);
                for node in nodes {
                    self.held[node.index()].give(task, 1);
                }
                self.touched.extend(nodes);
                self.places.insert(job.clone(), nodes.clone());
            }
            EventKind::Finish { job, .. } => {
                let task = self.task(job);
                for node in self.places.remove(job).unwrap_or_default() {
                    self.held[node.index()].take(task, 1);
                    self.touched.insert(node);
                }
            }
            _ => {}
        }
    }

    fn task(&self, job: &str) -> NodeAmounts {
        self.tasks.get(job).copied().unwrap_or_default()
    }

    /// The instant is over.
    fn settle(&mut self) {
        for node in std::mem::take(&mut self.touched) {
            let held = self.held[node.index()];
            self.changes.push(HeldChange {
                time: self.now,
                node,
                cpu: Cores(held.cpu.min(NODE_CPU.0)),
                memory: Bytes(held.memory.min(NODE_MEMORY.0)),
            });
        }
    }

    fn finish(mut self) -> Vec<HeldChange> {
        self.settle();
        self.changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Model, read};

    #[test]
    fn recorded_jobs_hold_nodes_of_their_own_from_start_to_finish() {
        // Both tasks of a would fit on one node; c finds one full node and one that is half full.
        let text = "a,0,2,0.25,0.1,100\nb,0,1,0.75,0.1,50\nc,10,1,0.5,0.1,10\nd,20,1,0.5,0.1,10\n";
        let trace = read(text.as_bytes(), Model::Processors, true).expect("a trace");
        let record = |start: i64, finish: i64| JobRecord {
            start: Time::from_seconds(start),
            finish: Time::from_seconds(finish),
            ..JobRecord::default()
        };
        let records = [
            record(5, 100),
            record(5, 55),
            record(10, 20),
            record(15, 25),
        ];
        let held = HeldByOthers::recorded(&trace.trace, &records, 2);
        let percent = |change: &HeldChange| {
            let cpu = change.cpu.0 * 100 / NODE_CPU.0;
            (change.time.seconds(), change.node.0, cpu)
        };
        let changes: Vec<_> = held.changes().iter().map(percent).collect();
        let expected = [
            (5.0, 0, 100),
            (5.0, 1, 25),
            (10.0, 1, 75),
            // More than all is all.
            (15.0, 1, 100),
            (20.0, 1, 75),
            (25.0, 1, 25),
            (55.0, 0, 25),
            (100.0, 0, 0),
            (100.0, 1, 0),
        ];
        assert_eq!(changes, expected);
        assert_eq!(held.without_room(), 1);
        // More than a whole node is not held: 0.25 less for 5 s.
        let used = 0.5 * 95.0 + 0.75 * 50.0 + 0.5 * 10.0 + 0.5 * 10.0 - 0.25 * 5.0;
        assert!((held.utilization() - used / 200.0).abs() < 1e-9);
    }

    /// Percent of the CPU of each node that is held while the one job of this line runs, and whether it has room.
    fn held_by_one(line: &str, nodes: u32) -> (Vec<u64>, bool) {
        let trace = read(line.as_bytes(), Model::Processors, true).expect("a trace");
        let record = JobRecord {
            start: Time::from_seconds(5),
            finish: Time::from_seconds(15),
            ..JobRecord::default()
        };
        let held = HeldByOthers::recorded(&trace.trace, std::slice::from_ref(&record), nodes);
        let mut percent = vec![0; nodes as usize];
        let changes = held.changes().iter();
        for change in changes.take_while(|change| change.time == record.start) {
            percent[change.node.index()] = change.cpu.0 * 100 / NODE_CPU.0;
        }
        (percent, held.without_room() == 0)
    }

    #[test]
    fn tasks_are_held_together_when_they_are_more_than_nodes() {
        assert_eq!(held_by_one("a,0,5,0.25,0.1,10\n", 2), (vec![100, 25], true));
        assert_eq!(
            held_by_one("a,0,3,0.75,0.1,10\n", 2),
            (vec![100, 75], false)
        );
        // Memory bounds how many are together; the rest has CPU.
        assert_eq!(held_by_one("a,0,4,0.25,0.9,10\n", 2), (vec![50, 50], false));
    }

    #[test]
    fn whole_cpus_and_memory_are_held_from_start_to_end() {
        // A node has 4 CPUs: 0.3 of it are two of them.
        let text = "a,10,2,0.3,0.25,100\nb,60,1,1.0,0.5,50\n";
        let trace = read(text.as_bytes(), Model::Processors, true).expect("a trace");
        let held = HeldByOthers::run(&trace.trace, &SimSettings::new(2)).expect("a run");
        let percent = |change: &HeldChange| {
            let (cpu, memory) = (change.cpu.0 * 100, change.memory.0 * 100);
            let time = change.time.seconds();
            let node = change.node.0;
            (time, node, cpu / NODE_CPU.0, memory / NODE_MEMORY.0)
        };
        let changes: Vec<_> = held.changes().iter().map(percent).collect();
        // Both tasks of a are on the first node; b has the second.
        let expected = [
            (10.0, 0, 100, 50),
            (60.0, 1, 100, 50),
            (110.0, 0, 0, 0),
            (110.0, 1, 0, 0),
        ];
        assert_eq!(changes, expected);
        assert_eq!(
            held.window(),
            (Time::from_seconds(10), Time::from_seconds(110))
        );
        assert!((held.utilization() - 0.75).abs() < 1e-12);
    }
}
