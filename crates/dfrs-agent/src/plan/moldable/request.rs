//! A job's request: on which nodes, on how many of them, and how long it takes on each number.

use std::ops::RangeInclusive;

use dfrs_core::{JobState, NodeIndex, Span};
use dfrs_moldable::{TIMES, Task};
use dfrs_proto::conf::{Config, DEFAULT_LINEAR_SPEEDUP};

use super::speedup::{Speedup, parse_comment};
use crate::job::ledger::LedgerRecord;
use crate::plan::cluster::{PassFacts, eligible};
use crate::saturating_u32;
use crate::slurm::records::{ObservedJob, ObservedNode};

/// How long a job without a time limit is taken to last: a year, in seconds.
pub(super) const NO_LIMIT: f64 = 365.0 * 86_400.0;

/// Why a job cannot start, as nodes are now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// No number of nodes that it allows is there, even if all were free and up.
    Never {
        /// The fewest nodes that it requests; 0: no node is large enough for one of its tasks.
        needed: u32,
        /// Nodes that it may use and that are large enough.
        nodes: u32,
    },
    /// Too few of its nodes are up.
    Unavailable {
        /// The fewest that would do.
        needed: u32,
        /// So many are.
        up: u32,
    },
    /// It has a rule about which nodes it may have together.
    Together,
}

/// How tasks are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TaskLayout {
    /// So many on each node.
    OnEach(u32),
    /// So many on all nodes together, as evenly as can be.
    Together(u32),
}

/// A job's request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MoldableRequest {
    /// On how many nodes it may run.
    pub(super) sizes: RangeInclusive<u32>,
    /// Positions of the nodes that it may use and that are large enough, ascending.
    pub(super) allowed: Vec<u32>,
    tasks: TaskLayout,
}

/// The request of this job, which waits. O(nodes).
///
/// # Errors
///
/// It can never start.
pub(super) fn request(
    job: &ObservedJob,
    record: &LedgerRecord,
    facts: &PassFacts,
) -> Result<MoldableRequest, Unfit> {
    let counts_switches = job.request.switches > 0 && !facts.seen.leaves().is_empty();
    if job.request.contiguous || counts_switches {
        return Err(Unfit::Together);
    }
    let unconfirmed = record.life.unconfirmed_nodes();
    let may = eligible(job, &JobState::Pending, unconfirmed, facts);
    let positions: Vec<u32> = match may {
        Some(nodes) => nodes.iter().map(|NodeIndex(position)| *position).collect(),
        None => (0..saturating_u32(facts.seen.nodes().len())).collect(),
    };
    let nodes = positions.into_iter();
    let holds = |position: u32| {
        let node = facts.seen.nodes().get(position as usize)?;
        Some((position, holds(job, node)))
    };
    let holds: Vec<(u32, u32)> = nodes.filter_map(holds).collect();
    let tasks = job.request.tasks_on_each().map_or(
        TaskLayout::Together(job.request.tasks.max(1)),
        TaskLayout::OnEach,
    );
    let listed = job
        .request
        .all_eligible
        .then_some(saturating_u32(holds.len()));
    let tried = facts.refusals.max_nodes(job.id, facts.now);
    let mut levels: Vec<u32> = holds.iter().map(|(_, holds)| *holds).collect();
    levels.sort_unstable();
    levels.dedup();
    let levels = levels.into_iter().filter(|level| *level > 0);
    // The more nodes the better: the smallest ones that will do.
    let mut found = levels.filter_map(|level| {
        let large = holds.iter().filter(|(_, holds)| *holds >= level);
        let allowed: Vec<u32> = large.map(|(position, _)| *position).collect();
        let (min, max) = sizes(job, tasks, level, listed)?;
        // Its least is tried again and again, as a limit may have room for it later.
        let max = max.min(saturating_u32(allowed.len())).min(tried.max(min));
        (min <= max).then_some(MoldableRequest {
            sizes: min..=max,
            allowed,
            tasks,
        })
    });
    found.next().ok_or_else(|| {
        let large = holds.iter().filter(|(_, holds)| *holds > 0).count();
        let best = holds.iter().map(|(_, holds)| *holds).max().unwrap_or(0);
        let needed = sizes(job, tasks, best, listed).map_or(0, |(min, _)| min);
        Unfit::Never {
            needed,
            nodes: saturating_u32(large),
        }
    })
}

/// The fewest and the most nodes for the job, if each holds so many tasks; none if that is too few.
fn sizes(
    job: &ObservedJob,
    tasks: TaskLayout,
    holds: u32,
    listed: Option<u32>,
) -> Option<(u32, u32)> {
    let asked = job.request.min_nodes.max(1);
    let (min, max) = match tasks {
        TaskLayout::OnEach(each) if each > holds => return None,
        TaskLayout::OnEach(_) => (asked, job.request.max_nodes.max(asked)),
        TaskLayout::Together(_) if holds == 0 => return None,
        TaskLayout::Together(all) => {
            let min = all.div_ceil(holds).max(asked);
            // Without -N it gets what Slurm alone would give it.
            let max = if job.request.max_nodes > 0 {
                job.request.max_nodes
            } else {
                min
            };
            (min, max.min(all).max(asked))
        }
    };
    let bound = match job.request.partition_max_nodes {
        0 => u32::MAX,
        nodes => nodes,
    };
    let max = max.min(bound);
    match listed {
        Some(listed) => (min <= listed).then_some((listed, listed)),
        None => (min <= max).then_some((min, max)),
    }
}

/// How many of the job's tasks the node holds, if nothing else is there.
fn holds(job: &ObservedJob, node: &ObservedNode) -> u32 {
    if !node.has_devices(&job.request.devices) {
        return 0;
    }
    let cpus = job.request.cpus_per_task.max(1);
    let by_cpus = node.cpus / cpus;
    let by_memory = match job.request.memory_per_task() {
        Some(task) => node.memory.checked_div(task).unwrap_or(u64::MAX),
        None if job.request.memory > node.memory => 0,
        None => u64::MAX,
    };
    let by_memory = saturating_u32(by_memory);
    let stated = (job.request.tasks_per_node > 0).then_some(job.request.tasks_per_node);
    by_cpus.min(by_memory).min(stated.unwrap_or(u32::MAX))
}

impl MoldableRequest {
    /// The job as a task: its time limit is how long it takes on its smallest number of nodes.
    ///
    /// # Errors
    ///
    /// Its times are no times.
    pub(super) fn task(
        &self,
        job: &ObservedJob,
        config: &Config,
        weight: f64,
    ) -> Result<Task, Unfit> {
        let (min, max) = (*self.sizes.start(), *self.sizes.end());
        let speedup = speedup(job, config);
        let estimate = estimate(job);
        let base = speedup.on(min);
        let time = |nodes: u32| {
            if nodes < min {
                f64::INFINITY
            } else {
                let time = estimate * base / speedup.on(nodes);
                time.clamp(*TIMES.start(), *TIMES.end())
            }
        };
        let times = (1..=max).map(time).collect();
        let machine = saturating_u32(self.allowed.len());
        Task::new(job.id.to_string(), weight, 0.0, times, machine).map_err(|_| Unfit::Never {
            needed: min,
            nodes: machine,
        })
    }

    /// How many tasks are on each of so many nodes.
    pub(super) fn tasks_on(&self, nodes: u32) -> impl Iterator<Item = u32> + use<> {
        let tasks = self.tasks;
        (0..nodes).map(move |place| match tasks {
            TaskLayout::OnEach(each) => each,
            TaskLayout::Together(all) => all / nodes + u32::from(place < all % nodes),
        })
    }
}

/// What the job says of its speedup, else what its partition does.
pub(super) fn speedup(job: &ObservedJob, config: &Config) -> Speedup {
    let moldable = config.moldable(&job.partition);
    let linear = moldable.map_or(DEFAULT_LINEAR_SPEEDUP, |moldable| moldable.linear_speedup);
    parse_comment(&job.comment)
        .ok()
        .flatten()
        .unwrap_or(Speedup::Linear(linear))
}

/// How long the job takes on its smallest number of nodes, in seconds.
pub(super) fn estimate(job: &ObservedJob) -> f64 {
    job.limit().map_or(NO_LIMIT, Span::seconds)
}
