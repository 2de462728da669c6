//! The events of a journal.

use dfrs_core::{NodeIndex, Span, Time};
use serde::{Deserialize, Serialize};

use super::seconds;
use crate::devices::DevicesByKind;

/// One line of a journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalEvent {
    /// When it happened: seconds on the line, since the start of the trace (simulated) or since the
    /// UNIX epoch (live).
    #[serde(with = "seconds::time")]
    pub t: Time,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
    /// Why, in words for people; live journals have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl JournalEvent {
    /// An event without a reason.
    pub fn new(t: Time, kind: EventKind) -> Self {
        Self {
            t,
            kind,
            reason: None,
        }
    }

    /// The event with a reason.
    #[must_use]
    pub fn because(self, reason: impl Into<String>) -> Self {
        Self {
            reason: Some(reason.into()),
            ..self
        }
    }
}

/// What can happen. A job's `job` is its id as text: Slurm's job id live, the trace's id in the
/// simulator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum EventKind {
    /// The cluster. First event of every journal; a program that goes on with an existing journal
    /// writes it again, with the same nodes in the same places and perhaps new ones after them.
    Platform {
        /// [`super::VERSION`].
        version: u32,
        /// Name of the policy that decides.
        policy: String,
        /// Time between two remaps; absent for a policy that has none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(with = "seconds::span")]
        period: Option<Span>,
        /// The nodes; other events refer to them by position.
        nodes: Vec<PlatformNode>,
    },
    /// A job entered the system.
    Submit {
        /// The job.
        job: String,
        /// Number of its tasks, at least 1; of a moldable job whose nodes make its tasks, the
        /// fewest.
        tasks: u32,
        /// The most tasks that it may have, where its size is chosen at its start.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        most_tasks: Option<u32>,
        /// CPU need of one task, in the unit of the nodes' `cpu`.
        cpu: f64,
        /// Memory requirement of one task, in the unit of the nodes' `mem`.
        mem: f64,
        /// Memory required once on each node that the job uses, however many tasks it has there.
        #[serde(default, skip_serializing_if = "is_zero")]
        mem_per_node: f64,
        /// Devices that it holds on each of its nodes.
        #[serde(default, skip_serializing_if = "DevicesByKind::is_empty")]
        devices: DevicesByKind,
        /// Dedicated execution time, where known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(with = "seconds::span")]
        runtime: Option<Span>,
    },
    /// Whether a job that has not started waits for nothing but room, from now on. One that is
    /// submitted does, unless this follows at the same `t`.
    Eligible {
        /// The job.
        job: String,
        /// False: a dependency, a begin time, a limit or a hold keeps it back.
        value: bool,
        /// For how long it has been so already: it waited before the journal recorded it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(with = "seconds::span")]
        waited: Option<Span>,
    },
    /// A job that waits or is paused was to get this place, and Slurm refused. It is tried
    /// elsewhere or later.
    Refused {
        /// The job.
        job: String,
        /// One node for each task.
        nodes: Vec<NodeIndex>,
    },
    /// A waiting job starts.
    Start {
        /// The job.
        job: String,
        /// One node for each task.
        nodes: Vec<NodeIndex>,
    },
    /// A running job's yield from now on. Every job that starts has one at the same `t`.
    Yield {
        /// The job.
        job: String,
        /// CPU allocated over CPU needed, 0 to 1.
        value: f64,
    },
    /// A running job gives up its place.
    Pause {
        /// The job.
        job: String,
        /// The job's progress is lost: when it comes back it starts from its beginning.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        lost: bool,
    },
    /// A paused job gets a place again, with the yield that it had unless a yield event follows.
    Resume {
        /// The job.
        job: String,
        /// One node for each task.
        nodes: Vec<NodeIndex>,
        /// Time from now in which it holds its place and makes no progress.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(with = "seconds::span")]
        stall: Option<Span>,
    },
    /// A running job changes its place.
    Migrate {
        /// The job.
        job: String,
        /// One node for each task.
        nodes: Vec<NodeIndex>,
        /// Time from now in which it holds its place and makes no progress.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(with = "seconds::span")]
        stall: Option<Span>,
    },
    /// A job leaves the system.
    Finish {
        /// The job.
        job: String,
        /// How it ended.
        #[serde(default, skip_serializing_if = "JobOutcome::is_completed")]
        outcome: JobOutcome,
    },
    /// An event of a later version of this program; it changes nothing that earlier versions read.
    #[serde(other)]
    Unknown,
}

impl EventKind {
    /// The job that it is about; none of a platform, or of an event that is not known.
    pub fn job(&self) -> Option<&str> {
        match self {
            Self::Submit { job, .. }
            | Self::Eligible { job, .. }
            | Self::Refused { job, .. }
            | Self::Start { job, .. }
            | Self::Yield { job, .. }
            | Self::Pause { job, .. }
            | Self::Resume { job, .. }
            | Self::Migrate { job, .. }
            | Self::Finish { job, .. } => Some(job),
            Self::Platform { .. } | Self::Unknown => None,
        }
    }

    /// Whether all its real numbers are finite, so that JSON can hold them.
    pub fn is_finite(&self) -> bool {
        match self {
            Self::Platform { nodes, .. } => nodes
                .iter()
                .all(|node| node.cpu.is_finite() && node.mem.is_finite()),
            Self::Submit {
                cpu,
                mem,
                mem_per_node,
                ..
            } => cpu.is_finite() && mem.is_finite() && mem_per_node.is_finite(),
            Self::Yield { value, .. } => value.is_finite(),
            _ => true,
        }
    }
}

/// One node of a platform. Units are the writer's choice, the same for all nodes and jobs of a
/// journal: the simulator writes fractions of a node, the plugin cores and bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlatformNode {
    /// The node's name.
    pub name: String,
    /// CPU capacity.
    pub cpu: f64,
    /// Memory capacity.
    pub mem: f64,
    /// Its devices, those included that jobs of other partitions hold.
    #[serde(default, skip_serializing_if = "DevicesByKind::is_empty")]
    pub devices: DevicesByKind,
}

/// How a job ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobOutcome {
    /// The job did all its work (the default, not written).
    #[default]
    Completed,
    /// The job was cancelled; it may never have started.
    Cancelled,
    /// The job failed, timed out or lost a node; it may never have started.
    Failed,
    /// Any outcome of a later version of this program.
    #[serde(other)]
    Other,
}

impl JobOutcome {
    /// Whether the job did all its work.
    pub fn is_completed(&self) -> bool {
        matches!(self, Self::Completed)
    }
}

// The signature is serde's.
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}
