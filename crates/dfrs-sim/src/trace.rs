//! Traces: which jobs were submitted when.

mod bad_line;
mod csv;
mod decimal;
mod file;
mod ids;
mod kind;
mod limits;
mod lines;
mod model;
mod overlap;
mod read;
pub mod sacct;
mod swf;
mod values;
mod write;

use dfrs_core::{Amount, Bytes, Cores, Job, JobId, Mobility, Node, Span, Time};

use crate::outcome::JobRecord;
pub use bad_line::BadLine;
pub use decimal::scaled;
pub use file::open;
pub use kind::foreign_text;
pub use limits::InvalidLimits;
pub use lines::decompressed;
pub use model::Model;
pub use overlap::most_at_once;
pub use read::{Reading, TRACES, TraceError, read, read_file};
pub use write::write_csv;

/// CPU capacity of a simulated node. Needs are fractions of it, to a millionth.
pub const NODE_CPU: Cores = Cores::from_cores(1);

/// Memory of a simulated node, in parts of which it has this many. Requirements are fractions of
/// it, to a part.
pub const NODE_MEMORY: Bytes = Bytes(1_000_000_000_000);

/// All GPUs of a simulated node, in parts of which it has this many. A task has a share of them, to a part:
/// whole ones, as the trace says.
pub const NODE_GPUS: Amount = Amount(1_000_000);

/// The longest time limit of a short job: what a partition for short jobs usually allows (`MaxTime=60`).
/// The same run time, where a job has no limit.
pub const MAX_SHORT: Span = Span::from_seconds(3600);

/// GPUs of nodes that differ, for a machine on which each node with GPUs has as many: as many as the node that has most,
/// and the number of nodes that hold all of them. `nodes`: GPUs of a node, and how many nodes are so. (0, 0): there are
/// none. O(n).
pub fn gpus_of_equal_nodes(nodes: impl IntoIterator<Item = (u64, u64)>) -> (u64, u64) {
    let (mut most, mut all) = (0, 0_u64);
    for (gpus, count) in nodes {
        most = gpus.max(most);
        all = all.saturating_add(gpus.saturating_mul(count));
    }
    (most, if most > 0 { all.div_ceil(most) } else { 0 })
}

/// How many of so many nodes have GPUs, where a trace says so for so many of them (none: all have).
pub(crate) fn number_with_gpus(nodes: u32, gpu_nodes: Option<u32>) -> u32 {
    gpu_nodes.unwrap_or(nodes).min(nodes)
}

/// CPUs of a simulated node where nothing else is said: the nodes of the TPDS paper are quad-core.
pub const NODE_CPUS: u32 = 4;

/// The most tasks that a job of a trace may have. More is taken for an error in the trace.
pub const MAX_TASKS: u32 = 1 << 20;

/// The most nodes that a machine may have. What a trace says beyond that is ignored.
pub const MAX_NODES: u32 = 1_000_000;

/// The longest time that a trace may name, in seconds; the journal's limit.
pub const MAX_SECONDS: i64 = 1 << 32;

/// One job of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TraceJob {
    /// The job's id as the trace has it, unique in the trace.
    pub id: String,
    /// When it is submitted.
    pub submit: Time,
    /// Number of its tasks, 1 to [`MAX_TASKS`].
    pub tasks: u32,
    /// CPU need of one task, above 0 and at most [`NODE_CPU`].
    pub cpu: Cores,
    /// CPU that a batch scheduler keeps for one task where jobs share nodes: whole CPUs, at least the need
    /// and at most [`NODE_CPU`].
    pub allocated_cpu: Cores,
    /// Memory requirement of one task, at most [`NODE_MEMORY`].
    pub memory: Bytes,
    /// GPUs of one task, at most [`NODE_GPUS`].
    pub gpus: Amount,
    /// Dedicated execution time, not negative.
    pub runtime: Span,
    /// What its user said that it would take, above 0; `None` if the trace does not say.
    pub estimate: Option<Span>,
    /// How it can give up its place.
    pub mobility: Mobility,
    /// The mobility if the trace says it; then it is not drawn.
    pub declared_mobility: Option<Mobility>,
    /// How long the job waited where the trace comes from, not negative; `None` if the trace does
    /// not say.
    pub waited: Option<Span>,
    /// How long it was suspended there, after its start; not part of the run time.
    pub suspended: Span,
    /// Hundredths of its CPU need that it can use, 1 to 100, in each of its phases, which are equal parts of its run
    /// time; empty: all of it, always.
    pub uses: Vec<u8>,
    /// The job's user; `None`: not known, and decisions take the job for its user's only one. No
    /// format of traces says it yet.
    pub user: Option<u32>,
    /// The job is submitted when the job at this position of the trace ends, not at `submit`, under
    /// policies of DFRS. Such jobs are the last of their trace, and none follows on a later one.
    pub follows: Option<usize>,
}

impl TraceJob {
    /// A job that can move as in the papers, and whose user said nothing about its run time. A node has
    /// [`NODE_CPUS`].
    pub fn new(
        id: impl Into<String>,
        submit: Time,
        tasks: u32,
        cpu: Cores,
        memory: Bytes,
        runtime: Span,
    ) -> Self {
        Self {
            id: id.into(),
            submit,
            tasks,
            cpu,
            allocated_cpu: whole_cpus(cpu, NODE_CPUS),
            memory,
            gpus: Amount(0),
            runtime,
            estimate: None,
            mobility: Mobility::Checkpoint,
            declared_mobility: None,
            waited: None,
            suspended: Span::ZERO,
            uses: Vec::new(),
            user: None,
            follows: None,
        }
    }

    /// The job as decisions see it when it is submitted.
    pub fn to_job(&self, id: JobId) -> Job {
        let gpus = (self.gpus > Amount(0)).then_some(self.gpus);
        Job {
            mobility: self.mobility,
            limit: self.estimate,
            rigid: gpus.into_iter().collect(),
            ..Job::new(id, self.submit, self.tasks, self.cpu, self.memory)
        }
    }

    /// Whether its tasks fit on so many empty nodes, of which so many have GPUs (none: all), several on one node where
    /// memory allows.
    pub fn fits_shared(&self, nodes: u32, gpu_nodes: Option<u32>) -> bool {
        let by = |all: u64, each: u64| all.checked_div(each).unwrap_or(u64::MAX);
        let per_node = by(NODE_MEMORY.0, self.memory.0).min(by(NODE_GPUS.0, self.gpus.0));
        let nodes = match self.gpus {
            Amount(0) => nodes,
            _ => number_with_gpus(nodes, gpu_nodes),
        };
        per_node.saturating_mul(u64::from(nodes)) >= u64::from(self.tasks)
    }

    /// Whether a partition for short jobs takes it: its time limit, or without one its run time, is at most
    /// [`MAX_SHORT`]. That does not depend on what the scheduler knows of run times.
    pub fn is_short(&self) -> bool {
        self.estimate.unwrap_or(self.runtime) <= MAX_SHORT
    }

    /// CPU need of all tasks, in nodes.
    pub fn nodes_needed(&self) -> f64 {
        // Precise enough: a share of a node, to the microcore.
        let need = self.cpu.0 as f64 / NODE_CPU.0 as f64;
        f64::from(self.tasks) * need
    }

    /// Its work, in nodes times seconds.
    pub fn work(&self) -> f64 {
        self.nodes_needed() * self.runtime.seconds()
    }

    /// Whether dfrsd could carry it, as far as a trace can say: its tasks are on one node, and it
    /// has no devices.
    pub fn can_be_carried(&self) -> bool {
        self.tasks == 1 && self.gpus.0 == 0
    }
}

/// A trace: its jobs ascending by submission; those of one instant in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Trace {
    /// The jobs.
    pub jobs: Vec<TraceJob>,
    /// Number of nodes of the machine, where the trace says so.
    pub nodes: Option<u32>,
    /// Whether the format says how much memory jobs require. Without it they require none.
    pub has_memory: bool,
    /// How many of the nodes have GPUs, the last ones: batch schedulers fill the first ones first. None: all.
    pub gpu_nodes: Option<u32>,
}

impl Trace {
    /// Nodes have so many CPUs, at least 1, which are kept for tasks as wholes.
    pub fn count_cpus(&mut self, cpus: u32) {
        for job in &mut self.jobs {
            job.allocated_cpu = whole_cpus(job.cpu, cpus);
        }
    }

    /// Whether some job has GPUs.
    pub fn has_gpus(&self) -> bool {
        self.jobs.iter().any(|job| job.gpus > Amount(0))
    }

    /// Whether the node at this position of so many has GPUs.
    pub(crate) fn is_gpu_node(&self, node: usize, nodes: u32) -> bool {
        let without = nodes - number_with_gpus(nodes, self.gpu_nodes);
        node >= without as usize
    }

    /// What became of the jobs where the trace comes from: each waited, and then ran but for the time in
    /// which it was suspended.
    /// `None` unless the trace says of all jobs how long they waited.
    pub fn recorded_schedule(&self) -> Option<Vec<JobRecord>> {
        let record = |job: &TraceJob| {
            let start = job.submit + job.waited?;
            Some(JobRecord {
                start,
                finish: start + job.runtime + job.suspended,
                ..JobRecord::default()
            })
        };
        self.jobs.iter().map(record).collect()
    }
}

/// As many whole CPUs as the need is, of a node that has so many: a part of the node that as many jobs can
/// have as have CPUs there. The need may be a microcore more than these CPUs are, as a third of a node is none
/// without rounding.
pub(crate) fn whole_cpus(need: Cores, cpus: u32) -> Cores {
    let cpus = u64::from(cpus.max(1));
    let least = need.0.saturating_mul(cpus).saturating_sub(cpus - 1);
    let count = least.div_ceil(NODE_CPU.0).max(1);
    Cores(count.saturating_mul(NODE_CPU.0) / cpus)
}

/// So many equal nodes, named `n0` and so on.
pub fn platform(nodes: u32) -> Vec<Node> {
    (0..nodes)
        .map(|node| Node::new(format!("n{node}"), NODE_CPU, NODE_MEMORY))
        .collect()
}
