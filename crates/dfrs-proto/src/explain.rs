//! Questions about single jobs to the running plugin, and its answers (`docs/observing.md`).
//!
//! One line of JSON each way over a UNIX socket, which is then closed. Readers ignore fields that
//! they do not know; a field is never given another meaning.

use serde::{Deserialize, Serialize};

use crate::devices::DevicesByKind;

/// What `version` says, in both.
pub const VERSION: u32 = 1;
/// The socket's name, in the directory of the status file.
pub const SOCKET: &str = "dfrs_explain.sock";
/// The longest question, in bytes, with its newline.
pub const MAX_REQUEST_BYTES: usize = 256;
/// The longest answer, in bytes, with its newline.
pub const MAX_RESPONSE_BYTES: usize = 64 << 10;
/// Of lists in an answer no more than so many entries.
pub const MAX_ENTRIES: usize = 100;

/// About which job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExplainRequest {
    /// [`VERSION`].
    pub version: u32,
    /// Slurm's job id; of an array's task that of the array.
    pub job: u32,
    /// The task's index in the array.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<u32>,
}

/// What the plugin says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExplainResponse {
    /// What the plugin knows of the job.
    Job(Box<Explanation>),
    /// Why it says nothing, in one line.
    Refused(String),
}

/// A job in the plugin's state. Instants are UNIX seconds, lengths of time seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// [`VERSION`].
    pub version: u32,
    /// When this was so.
    pub now: f64,
    /// Slurm's job id.
    pub job: u32,
    /// The user's number.
    pub user: u32,
    /// The job's partition.
    pub partition: String,
    /// `off`, `shadow` or `full`.
    pub mode: String,
    /// Where it is on its way: a word or a few.
    pub phase: String,
    /// Why it waits or does not run, where that is DFRS's to say.
    pub why: Option<String>,
    /// Why DFRS last gave it a place, moved or paused it.
    pub last_change: Option<LastDecision>,
    /// Where it is, or was when it last ran: the first [`MAX_ENTRIES`].
    pub nodes: Vec<OnNode>,
    /// How many nodes there are.
    pub node_count: u32,
    /// How many tasks it has.
    pub tasks: u32,
    /// The CPUs of each.
    pub cpus_per_task: u32,
    /// The devices that it asks for on each of its nodes.
    #[serde(default, skip_serializing_if = "DevicesByKind::is_empty")]
    pub devices: DevicesByKind,
    /// The part of these that it counts with in decisions, above 0 and at most 1
    /// (`Needs=measured`).
    #[serde(default = "whole")]
    pub need: f64,
    /// The share of its CPU need that it has now, 0 to 1.
    pub r#yield: f64,
    /// What it has done, as seconds of having all that it needs.
    pub virtual_time: f64,
    /// Since its first submission.
    pub flow_time: f64,
    /// The one by the other; null while it has done nothing.
    pub stretch: Option<f64>,
    /// Slurm's priority.
    pub priority: u32,
    /// The job's weight beside others, 1 being ordinary.
    pub weight: f64,
    /// How it can give up its place: `park`, `carry`, `checkpoint`, `restart` or `never`.
    pub mobility: String,
    /// Pauses and migrations within the last hour.
    pub recent_moves: u32,
    /// The most of them that are allowed; null: any number.
    pub most_moves: Option<u32>,
    /// When all jobs are next remapped, at the latest. Submissions and ends of jobs are acted on at
    /// once.
    pub next_remap: f64,
    /// Nothing is done to it before; null: no such time.
    pub not_before: Option<f64>,
    /// Other jobs on its nodes now.
    #[serde(rename = "neighbours")]
    pub co_located: u32,
    /// The first [`MAX_ENTRIES`] of the other jobs on its nodes; only root and SlurmUser get them.
    #[serde(
        default,
        rename = "neighbour_jobs",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub co_located_jobs: Vec<u32>,
    /// Further notes, a line each.
    pub notes: Vec<String>,
}

/// Plugins that did not say it count with all.
const fn whole() -> f64 {
    1.0
}

/// Something that DFRS decided about a job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LastDecision {
    /// When.
    pub at: f64,
    /// What: `start`, `park`, ...
    pub what: String,
    /// Why.
    pub why: String,
}

/// What of a job is on a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OnNode {
    /// The node's name.
    pub name: String,
    /// How many tasks.
    pub tasks: u32,
}
