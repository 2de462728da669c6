//! What can be wrong with a journal whose lines are all events.

use dfrs_core::Time;

/// One broken promise, where and when.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("line {line}, t={}: {what}", .t.seconds())]
pub struct JournalViolation {
    /// Line, counted from 1. Of a sum over a node: the last line of that instant.
    pub line: usize,
    /// Time of the event.
    pub t: Time,
    /// What is broken.
    pub what: Violated,
}

/// The promises of a journal. `used` and `capacity` are in the units of the platform.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs)] // each variant's text says what its fields are
pub enum Violated {
    #[error("an event before the platform; the first line of a journal must be its platform")]
    NoPlatform,
    #[error("the platform has no nodes; there must be at least one")]
    NoNodes,
    #[error("node {index} was '{before}' and is now '{now}'; a repeated platform keeps its nodes")]
    PlatformChanged {
        index: usize,
        before: String,
        now: String,
    },
    #[error("node '{node}' has a negative capacity")]
    BadNodeCapacity { node: String },
    #[error("earlier than the event before it, at t={}; lines must be in time order", .before.seconds())]
    TimeOrder { before: Time },
    #[error("job '{job}' is submitted while it is in the system; it must finish first")]
    SubmittedTwice { job: String },
    #[error("job '{job}' must have at least one task and no negative need")]
    BadJob { job: String },
    #[error("{event} of job '{job}', which is not in the system; a submit must come first")]
    UnknownJob { event: &'static str, job: String },
    #[error("{event} of job '{job}', which is {phase}; it must be {allowed}")]
    WrongPhase {
        event: &'static str,
        job: String,
        phase: &'static str,
        allowed: &'static str,
    },
    #[error("job '{job}' is placed on node {index}, but the platform has nodes 0 to {last}")]
    BadNode { job: String, index: u32, last: i64 },
    #[error("job '{job}' is placed with {placed} tasks and has {tasks}")]
    WrongTaskCount {
        job: String,
        placed: usize,
        tasks: u32,
    },
    #[error("yield {value} of job '{job}' is outside 0 to 1")]
    YieldRange { job: String, value: f64 },
    #[error("job '{job}' runs without a yield; a yield event must come at the time of its start")]
    NoYield { job: String },
    #[error("node '{node}' holds {used} of {capacity} memory; requirements must fit")]
    Memory {
        node: String,
        used: f64,
        capacity: f64,
    },
    #[error("node '{node}' promises {used} of {capacity} CPU; yields must fit")]
    Cpu {
        node: String,
        used: f64,
        capacity: f64,
    },
    #[error(
        "job '{job}' completed after {progress} s of progress, but its run time is {runtime} s"
    )]
    Progress {
        job: String,
        progress: f64,
        runtime: f64,
    },
}
