//! The status file: how the plugin is, for people and tools. `docs/observing.md` says what each field
//! means; later versions of this one only add fields.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What `version` says.
pub const VERSION: u32 = 1;
/// The file's name in its directory.
pub const FILE: &str = "dfrs_status.json";

/// The whole file. Instants are UNIX seconds, lengths of time microseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// [`VERSION`].
    pub version: u32,
    /// slurm-dfrs's own version.
    pub software: String,
    /// When this was written down.
    pub written: f64,
    /// Since when DFRS runs with this configuration.
    pub started: f64,
    /// False: slurmctld, or DFRS in it, has ended in order.
    pub running: bool,
    /// `off`, `shadow` or `full`.
    pub mode: String,
    /// Why DFRS is off although it is configured, if so.
    pub problem: Option<String>,
    /// The policy's name; empty while DFRS is off.
    pub policy: String,
    /// The partitions that DFRS is about.
    pub partitions: Vec<String>,
    /// The partitions whose jobs are moldable and get whole nodes (`Policy=DEMT`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moldable_partitions: Vec<String>,
    /// Whether it schedules, or why not.
    pub breaker: BreakerStatus,
    /// The jobs of its partitions.
    pub jobs: JobCounts,
    /// Yields and stretches of these jobs.
    #[serde(default)]
    pub job_metrics: JobMetrics,
    /// What was done with jobs.
    #[serde(default)]
    pub done: ActionCounts,
    /// The nodes of its partitions.
    pub nodes: NodeCounts,
    /// The devices of these nodes, by kind; empty if there are none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub devices: BTreeMap<String, DeviceCounts>,
    /// Messages to the nodes.
    pub messages: MessageCounts,
    /// The passes.
    pub passes: Passes,
    /// The shim's locks.
    pub locks: Locks,
    /// The state file.
    pub state_file: StateFileStatus,
    /// The journal, if there is one.
    pub journal: Option<JournalStatus>,
}

/// Whether DFRS schedules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BreakerState {
    /// There is nothing to break: DFRS is off.
    #[default]
    Off,
    /// DFRS works.
    Closed,
    /// DFRS is giving the cluster back to Slurm.
    StandingDown,
    /// DFRS has given the cluster back to Slurm, or must not touch it.
    Open,
}

/// The breaker.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BreakerStatus {
    /// The breaker's state.
    pub state: BreakerState,
    /// Since when; `None` while it has never been tripped.
    pub since: Option<f64>,
    /// What tripped it last.
    pub why: Option<String>,
    /// How often it was tripped since an administrator last requested a start.
    pub trips: u32,
    /// When DFRS resumes by itself, if it does.
    pub reset_at: Option<f64>,
}

/// Numbers of jobs, each of which is in one of these. The waiting rest of an array is one job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobCounts {
    /// Wait for their first start, or to start again.
    pub waiting: u32,
    /// Run.
    pub running: u32,
    /// Are parked.
    pub parked: u32,
    /// Wait after a checkpoint.
    pub paused: u32,
    /// Are on their way from one of these to another.
    pub under_way: u32,
    /// Were suspended by an operator.
    pub suspended: u32,
    /// For what those wait that wait for their start, are parked or paused.
    #[serde(default)]
    pub waits_for: WaitsFor,
    /// Those of these jobs that ask for devices.
    #[serde(default)]
    pub with_devices: DeviceJobCounts,
}

/// Numbers of jobs that ask for devices, in all and by what they wait for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceJobCounts {
    /// All of them, wherever they are.
    pub all: u32,
    /// For what those wait that wait for their start, are parked or paused.
    pub waits_for: WaitsFor,
}

/// Numbers of jobs by what they wait for, as the last decision said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitsFor {
    /// Free memory; parked ones for that of their own nodes.
    pub memory: u32,
    /// Free devices.
    #[serde(default)]
    pub devices: u32,
    /// CPU, where a load or a least yield limits which jobs come.
    pub cpu: u32,
    /// Nodes that are down or draining.
    pub nodes: u32,
    /// The next decision, which may give them a place.
    pub decision: u32,
    /// Nothing that will come: no nodes hold them.
    pub nothing: u32,
    /// Something that is Slurm's to say, as a dependency, a limit or a hold; or nothing was decided
    /// about them yet.
    pub slurm: u32,
}

/// Yields of jobs that have a share, stretches of those that have done something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobMetrics {
    /// Jobs that have a share of their nodes' CPU.
    pub sharing: u32,
    /// Jobs that have a share and count with less than their request, as they use less
    /// (`Needs=measured`).
    #[serde(default)]
    pub lowered: u32,
    /// The smallest of their yields; 1 if there are none.
    pub lowest_yield: f64,
    /// The mean of them; 1 if there are none.
    pub mean_yield: f64,
    /// The mean of their stretches so far, of at least 10 s of work; 1 if there are none.
    pub mean_stretch: f64,
    /// The largest of these; 1 if there are none.
    pub largest_stretch: f64,
}

impl Default for JobMetrics {
    /// There are no jobs.
    fn default() -> Self {
        Self {
            sharing: 0,
            lowered: 0,
            lowest_yield: 1.0,
            mean_yield: 1.0,
            mean_stretch: 1.0,
            largest_stretch: 1.0,
        }
    }
}

/// What was done with jobs since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionCounts {
    /// Jobs that came.
    pub came: u64,
    /// Jobs that ended.
    pub ended: u64,
    /// Starts.
    pub starts: u64,
    /// Suspensions of jobs to be parked.
    pub suspends: u64,
    /// Returns of parked jobs.
    pub resumes: u64,
    /// Warnings that a checkpoint is to be written.
    pub warnings: u64,
    /// Requeues of jobs that gave up their places.
    pub requeues: u64,
}

/// Numbers of nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeCounts {
    /// All.
    pub all: u32,
    /// Nodes that take work.
    pub up: u32,
    /// Nodes that can park jobs.
    pub can_park: u32,
    /// Nodes whose dfrsd does not answer.
    pub silent: u32,
    /// The names of the first of these.
    pub silent_names: Vec<String>,
}

/// Numbers of devices of one kind, on nodes of DFRS's partitions. Those of a type count as devices of their name, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceCounts {
    /// All.
    pub all: u64,
    /// Allocated to jobs, of whatever partition.
    pub held: u64,
    /// Not allocated, on nodes that take work.
    pub free: u64,
}

/// Messages to the nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageCounts {
    /// Nodes that are due to get orders and wait for a message.
    pub due: u32,
    /// Messages with orders that are under way.
    pub under_way: u32,
    /// Messages under way that are late: a node of theirs hangs.
    pub late: u32,
    /// Queries that are under way.
    pub queries: u32,
}

/// The passes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Passes {
    /// Wall-clock time of a pass.
    pub wall: Distribution,
    /// CPU time of its thread in it.
    pub cpu: Distribution,
    /// Wall-clock time of its parts, by name.
    pub parts: BTreeMap<String, Distribution>,
    /// Passes in which Slurm could not be looked at.
    pub skipped: u64,
    /// Plans that broke a rule and were dropped.
    pub plans_dropped: u64,
    /// Decisions that were ended by their timeout.
    #[serde(default)]
    pub decisions_ended: u64,
}

/// The locks of slurmctld as the shim takes them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Locks {
    /// How long it held those for reading.
    pub read_holds: Distribution,
    /// How long it waited for them.
    pub read_waits: Distribution,
    /// How long it held those for writing.
    pub write_holds: Distribution,
    /// How long it waited for them.
    pub write_waits: Distribution,
}

/// How far the disk is behind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateFileStatus {
    /// Changes that are not on the disk yet.
    pub changes: u64,
    /// For how long the oldest of them has not been.
    pub age: u64,
    /// The last attempt failed.
    pub fails: bool,
}

/// The journal's file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalStatus {
    /// Lines that are not written yet.
    pub lines: u64,
    /// For how long the oldest of them has not been.
    pub age: u64,
    /// Lines that were lost because too many waited.
    pub lost: u64,
    /// The last attempt failed.
    pub fails: bool,
}

/// How lengths of time are spread, in microseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Distribution {
    /// How many there were since the start.
    pub count: u64,
    /// The longest since the start.
    pub max: u64,
    /// The times of the last minute or so.
    pub lately: DistributionSummary,
    /// Since the start: how many took at most so long and longer than the entry before says.
    /// Entries without any are left out.
    pub buckets: Vec<(u64, u64)>,
}

/// A few figures of a spread, each at most an eighth too large.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DistributionSummary {
    /// How many there were.
    pub count: u64,
    /// Half of them took at most so long.
    pub p50: u64,
    /// 99 of 100 took at most so long.
    pub p99: u64,
    /// The longest.
    pub max: u64,
}
