//! GPUs that are idle because cores or memory beside them are short, from the events of a journal.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::{NodeIndex, Time};
use dfrs_proto::journal::{EventKind, JournalEvent};

use crate::batch::{Batch, NodeAmounts};
use crate::scheduler::Scheduler;
use crate::trace::{NODE_GPUS, Trace, number_with_gpus};

/// More CPU than all jobs of a node have together: jobs of DFRS share it.
const SHARED_CPU: u64 = u64::MAX / 2;

/// Takes the events of a simulation, and adds up the time for which GPUs are stranded. A node's idle GPUs are while jobs
/// wait for so many or fewer on each node, and none of these jobs finds the cores and the memory of one of its tasks
/// beside them. Under DFRS no job waits for cores.
#[derive(Debug)]
pub struct StrandedGpus {
    /// What a task of each job takes, by its name; none without GPUs wait here.
    tasks: BTreeMap<String, NodeAmounts>,
    /// What is left of each node.
    rooms: Vec<NodeAmounts>,
    /// Where jobs are.
    places: BTreeMap<String, Vec<NodeIndex>>,
    /// How many jobs wait for GPUs, by what one of their tasks takes.
    waiting: BTreeMap<NodeAmounts, usize>,
    /// What jobs take in this instant: where they go may become free later in it.
    taken: Vec<(NodeIndex, NodeAmounts)>,
    /// Of each node, parts of its GPUs; as of the last change that is not among `changed`.
    stranded: Vec<u64>,
    changed: BTreeSet<usize>,
    since: Option<Time>,
    until: Time,
    /// Parts of nodes' GPUs times microseconds.
    sum: u128,
    gpu_nodes: u32,
}

impl StrandedGpus {
    /// `None`: no job of the trace has GPUs, or the scheduler gives cores out in another way than once each (a node to a
    /// task, or each core to several jobs).
    pub fn of(trace: &Trace, nodes: u32, scheduler: &Scheduler) -> Option<Self> {
        let node = match scheduler {
            Scheduler::Batch(
                batch @ (Batch::FcfsShared
                | Batch::EasyShared
                | Batch::EasyRestricted
                | Batch::ConservativeShared),
            ) => batch.empty_node(),
            Scheduler::Batch(_) => return None,
            Scheduler::Dfrs(_) => NodeAmounts {
                cpu: SHARED_CPU,
                ..NodeAmounts::NODE
            },
        };
        let jobs = trace.jobs.iter();
        let tasks = jobs.map(|job| (job.id.clone(), NodeAmounts::of_task(job)));
        trace.has_gpus().then(|| Self {
            tasks: tasks.collect(),
            rooms: NodeAmounts::of_nodes(trace, nodes, node),
            places: BTreeMap::new(),
            waiting: BTreeMap::new(),
            taken: Vec::new(),
            stranded: vec![0; nodes as usize],
            changed: BTreeSet::new(),
            since: None,
            until: Time::ZERO,
            sum: 0,
            gpu_nodes: number_with_gpus(nodes, trace.gpu_nodes),
        })
    }

    /// Takes the next event, in time order. O(tasks of its job × log), and at the first event of an instant O(nodes that
    /// changed × sizes of tasks that wait).
    pub fn take(&mut self, event: &JournalEvent) {
        self.advance(event.t);
        match &event.kind {
            EventKind::Submit { job, .. } => {
                self.since.get_or_insert(event.t);
                self.wait(job);
            }
            EventKind::Start { job, nodes } | EventKind::Resume { job, nodes, .. } => {
                self.stop_waiting(job);
                self.place(job, nodes);
            }
            EventKind::Migrate { job, nodes, .. } => {
                self.leave(job);
                self.place(job, nodes);
            }
            EventKind::Pause { job, .. } => {
                self.leave(job);
                self.wait(job);
            }
            EventKind::Finish { job, .. } => self.leave(job),
            _ => {}
        }
    }

    /// The part of all GPU time, from the first submission to the last event, in which GPUs were stranded: 0 to 1.
    // Precise enough: a share.
    pub fn share(&self) -> f64 {
        let time = self.until.since(self.since.unwrap_or(self.until));
        let all = u128::from(time.0.unsigned_abs()) * u128::from(self.gpu_nodes);
        match all * u128::from(NODE_GPUS.0) {
            0 => 0.0,
            all => self.sum as f64 / all as f64,
        }
    }

    fn advance(&mut self, to: Time) {
        if to <= self.until {
            return;
        }
        for (node, task) in std::mem::take(&mut self.taken) {
            self.rooms[node.index()].take(task, 1);
        }
        for node in std::mem::take(&mut self.changed) {
            self.stranded[node] = self.stranded_on(node);
        }
        let now: u128 = self.stranded.iter().copied().map(u128::from).sum();
        self.sum += now * u128::from(to.since(self.until).0.unsigned_abs());
        self.until = to;
    }

    fn stranded_on(&self, node: usize) -> u64 {
        let room = self.rooms[node];
        let for_gpus = |task: &&NodeAmounts| task.gpus <= room.gpus;
        let mut wanting = self.waiting.keys().filter(for_gpus).peekable();
        let is_wanted = wanting.peek().is_some();
        if is_wanted && wanting.all(|task| room.holds(*task) == 0) {
            room.gpus
        } else {
            0
        }
    }

    /// The job waits, if it is for GPUs.
    fn wait(&mut self, job: &str) {
        let Some(task) = self.tasks.get(job).filter(|task| task.gpus > 0) else {
            return;
        };
        let count = self.waiting.entry(*task).or_default();
        *count += 1;
        if *count == 1 {
            self.changed.extend(0..self.rooms.len());
        }
    }

    fn stop_waiting(&mut self, job: &str) {
        let Some(task) = self.tasks.get(job) else {
            return;
        };
        if let Some(count) = self.waiting.get_mut(task) {
            *count -= 1;
            if *count == 0 {
                self.waiting.remove(task);
                self.changed.extend(0..self.rooms.len());
            }
        }
    }

    fn place(&mut self, job: &str, nodes: &[NodeIndex]) {
        let Some(task) = self.tasks.get(job) else {
            return;
        };
        for node in nodes {
            self.taken.push((*node, *task));
            self.changed.insert(node.index());
        }
        self.places.insert(job.to_owned(), nodes.to_vec());
    }

    /// The job leaves its nodes, if it has some.
    fn leave(&mut self, job: &str) {
        let Some(task) = self.tasks.get(job).copied() else {
            return;
        };
        for node in self.places.remove(job).unwrap_or_default() {
            self.changed.insert(node.index());
            // It may have come in this instant.
            let of_job = |taken: &(NodeIndex, NodeAmounts)| *taken == (node, task);
            match self.taken.iter().position(of_job) {
                Some(position) => drop(self.taken.swap_remove(position)),
                None => self.rooms[node.index()].give(task, 1),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SimSettings;
    use crate::simulate::simulate;
    use crate::trace::{NODE_CPU, NODE_MEMORY, TraceJob};
    use dfrs_core::{Amount, Bytes, Cores, Mobility, Span};

    /// A job of one task with these parts of a node, in eighths, for an hour.
    fn job(id: &str, cpu: u64, memory: u64, gpus: u64) -> TraceJob {
        let eighths = |all: u64, parts: u64| all / 8 * parts;
        let (cpu, memory) = (
            Cores(eighths(NODE_CPU.0, cpu)),
            Bytes(eighths(NODE_MEMORY.0, memory)),
        );
        TraceJob {
            gpus: Amount(eighths(NODE_GPUS.0, gpus)),
            mobility: Mobility::Never,
            ..TraceJob::new(id, Time::ZERO, 1, cpu, memory, Span::from_seconds(3600))
        }
    }

    /// The share on one node.
    fn share(jobs: &[TraceJob], policy: &str) -> f64 {
        let trace = Trace {
            jobs: jobs.to_vec(),
            has_memory: true,
            ..Trace::default()
        };
        let settings = SimSettings::new(1);
        let scheduler: Scheduler = policy.parse().expect("a scheduler");
        let mut stranded = StrandedGpus::of(&trace, 1, &scheduler).expect("there are GPUs");
        let mut sink = |event: &JournalEvent| {
            stranded.take(event);
            Ok(())
        };
        simulate(&trace, &scheduler, &settings, Some(&mut sink)).expect("it runs");
        stranded.share()
    }

    #[test]
    fn gpus_beside_which_cores_are_short_are_stranded_but_under_dfrs() {
        // All cores for an hour, and then the half of the GPUs for another.
        let jobs = [job("1", 8, 0, 0), job("2", 1, 0, 4)];
        assert!((share(&jobs, "EASY/shared") - 0.5).abs() < 1e-9);
        assert!(share(&jobs, "default") < 1e-9);
    }

    #[test]
    fn gpus_beside_which_memory_is_short_are_stranded() {
        let jobs = [job("1", 1, 8, 4), job("2", 1, 1, 4)];
        for policy in ["EASY/shared", "default"] {
            let share = share(&jobs, policy);
            assert!((share - 0.25).abs() < 1e-9, "{policy}: {share}");
        }
    }

    #[test]
    fn jobs_that_pause_and_migrate_take_no_more_than_there_is() {
        // Each minute one comes, and they take turns by priority on two nodes.
        let come = |number: i64| TraceJob {
            submit: Time::from_seconds(60 * number),
            mobility: Mobility::Checkpoint,
            ..job(&number.to_string(), 3, 5, 4)
        };
        let trace = Trace {
            jobs: (0..12).map(come).collect(),
            has_memory: true,
            ..Trace::default()
        };
        let scheduler: Scheduler = "GreedyPM*/per/OPT=MIN/MINVT=60".parse().expect("a policy");
        let mut stranded = StrandedGpus::of(&trace, 2, &scheduler).expect("there are GPUs");
        let (mut moves, settings) = (0, SimSettings::new(2));
        let mut sink = |event: &JournalEvent| {
            moves += u32::from(matches!(
                event.kind,
                EventKind::Resume { .. } | EventKind::Migrate { .. }
            ));
            stranded.take(event);
            Ok(())
        };
        simulate(&trace, &scheduler, &settings, Some(&mut sink)).expect("it runs");
        assert!(moves > 5, "{moves}");
        assert!((0.0..=1.0).contains(&stranded.share()));
        assert!(stranded.waiting.is_empty() && stranded.places.is_empty());
    }

    #[test]
    fn gpus_for_which_no_job_waits_are_not_stranded() {
        assert!(share(&[job("1", 8, 8, 1)], "EASY/shared") < 1e-9);
        // It waits for more GPUs than are idle.
        let jobs = [job("1", 8, 0, 4), job("2", 1, 0, 8)];
        assert!(share(&jobs, "EASY/shared") < 1e-9);
    }

    #[test]
    fn cores_that_are_restricted_to_gpus_strand_fewer() {
        let jobs = [job("1", 6, 0, 0), job("2", 2, 0, 0), job("3", 2, 0, 8)];
        // Without, the first two have all cores; else the second waits, and the third runs.
        assert!((share(&jobs, "EASY/shared") - 0.5).abs() < 1e-9);
        assert!(share(&jobs, "EASY/restricted") < 1e-9);
    }
}
