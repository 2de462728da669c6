//! The steps that DFRS requests from Slurm for a job, one step a pass, each behind the condition
//! that makes it safe, each phase with a timeout: a step that cannot be done drops the plan, not
//! the job.

use std::fmt;

use dfrs_core::{Span, Time};

use crate::job::placement::NamedPlacement;

/// The timeout for the memory of a start or a resume to become free: then it is planned again.
pub(super) const ROOM_TIMEOUT: Span = Span(120_000_000);
/// Why, then.
pub(super) const NO_ROOM: LifeStep =
    LifeStep::Abandon("timeout: the memory of its nodes did not become free");

/// Why parking is given up: some node was too slow, or the job is.
pub(crate) const TOO_SLOW: &str = "its nodes did not move its memory to swap in time";
/// Why parking is given up if the job itself keeps its memory in RAM.
pub(super) const STUCK: &str = "its memory cannot leave RAM (locked, or in use by the kernel)";

/// What the nodes of a job have said of its parking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParkStatus {
    /// Not enough to act on.
    Unknown,
    /// All of them: it is parked.
    Parked,
    /// One of them: it cannot be, though there is swap.
    Stuck,
}

/// One request to Slurm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LifeStep {
    /// Start the pending job here.
    Start(NamedPlacement),
    /// Suspend the running job.
    Suspend,
    /// Take the suspended job's memory out of Slurm's accounting.
    ReleaseMemory,
    /// Put it back, if it fits.
    ClaimMemory(Vec<u64>),
    /// Let the suspended job run on.
    Resume,
    /// Send the job its warning signal.
    Warn,
    /// Requeue the running job.
    Requeue,
    /// Let the requeued job start before Slurm's own delay has passed.
    ClearBeginTime,
    /// Give up what is under way; why.
    Abandon(&'static str),
}

/// For the log, where Slurm refused it: "start on n1(2 tasks),n2".
impl fmt::Display for LifeStep {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Start(placement) => return write!(formatter, "start on {placement}"),
            Self::Suspend => "suspension",
            Self::ReleaseMemory => "release of its memory",
            Self::ClaimMemory(_) => "claim of its memory",
            Self::Resume => "resumption",
            Self::Warn => "checkpoint signal",
            Self::Requeue => "requeue",
            Self::ClearBeginTime => "earlier begin time",
            Self::Abandon(_) => "end of what was under way",
        })
    }
}

impl LifeStep {
    /// For the log, when Slurm has done it: "started on n1(2 tasks),n2".
    pub(crate) fn when_done(&self) -> String {
        let done = match self {
            Self::Start(placement) => return format!("started on {placement}"),
            Self::ClaimMemory(memory) => {
                return format!("{} MB claimed", memory.iter().sum::<u64>());
            }
            Self::ReleaseMemory => "memory released",
            Self::Suspend => "suspended",
            Self::Resume => "resumed",
            Self::Warn => "checkpoint signal sent",
            Self::Requeue => "requeued",
            Self::ClearBeginTime => "begin time cleared",
            Self::Abandon(why) => why,
        };
        done.to_owned()
    }
}

/// What Slurm answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepResult {
    /// It is done.
    Done,
    /// It released this memory, MiB per node in its order.
    Released(Vec<u64>),
    /// Nothing is wrong, but it is too early.
    NotYet,
    /// Something else than resources keeps the job from starting now (a throttle, a limit).
    NotEligible,
    /// It refused.
    Refused,
}

/// Whether `limit` has passed since then.
pub(super) fn has_passed(since: Time, limit: Span, now: Time) -> bool {
    now.0 - since.0 >= limit.0
}
