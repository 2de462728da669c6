//! The agent's calls to Slurm. One implementation calls slurmctld through the C shim, one is a fake
//! (`fixtures`), and one a model (`dfrs-testbed`).

use std::fmt;

use dfrs_proto::journal::JobOutcome;
use serde::{Deserialize, Serialize};

use crate::slurm::observation::{Observation, SnapshotDelta};
use crate::slurm::records::ObservedPlace;

/// Slurm's answer when it did not do what was requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlurmError {
    /// Slurm's error number.
    pub code: i32,
    /// Slurm's text for it.
    pub text: String,
}

/// Of slurm_errno.h, 22.05 to 26.05.
const INVALID_LICENSES: i32 = 2048;
pub(crate) const ACCOUNTING_POLICY: i32 = 2050;

impl SlurmError {
    /// Whether a limit on what may run at once is in the way: `ESLURM_ACCOUNTING_POLICY`, or, of
    /// licences, `ESLURM_INVALID_LICENSES`.
    pub fn is_limit(&self) -> bool {
        matches!(self.code, ACCOUNTING_POLICY | INVALID_LICENSES)
    }

    /// Whether it is only too early: EAGAIN.
    pub fn is_transient(&self) -> bool {
        const AGAIN: i32 = 11;
        self.code == AGAIN
    }
}

impl fmt::Display for SlurmError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} (Slurm error {})", self.text, self.code)
    }
}

/// How a job has ended that ended by itself after its warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With an exit code of 0: it has saved what it needs to go on.
    Saved,
    /// It died of the signal, or failed: it restarts.
    Failed,
}

/// How important a line in slurmctld's log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogLevel {
    /// Something is wrong and an administrator should look.
    Error,
    /// What an administrator wants to see of normal operation.
    Info,
    /// Each action.
    Verbose,
    /// Each decision.
    Debug,
}

/// A job's time limit as Slurm has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobTimeLimit {
    /// How long.
    pub minutes: u32,
    /// The user that set it, as Slurm has noted: only Slurm uses it.
    pub set_by: u32,
}

/// What was added to a job's time limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitExtension {
    /// All of it.
    pub minutes: u32,
    /// The limit before that.
    pub from: JobTimeLimit,
}

/// Calls into slurmctld. Each takes and releases Slurm's locks itself.
pub trait Slurm {
    /// One line on why the running slurmctld's records cannot be trusted, if so.
    fn layout_problem(&mut self) -> Option<String>;
    /// Whether this slurmctld is the one that controls the cluster now.
    fn is_primary(&mut self) -> bool;
    /// Newest of Slurm's update times, in UNIX seconds; takes no lock.
    fn last_update(&self) -> i64;
    /// Brings what was seen of the DFRS partitions at the last look up to date, and says what is
    /// different. The first look is handed an empty observation. After an error what was seen is as
    /// before, or partly newer, and the next look says all of what is different.
    fn observe(&mut self, seen: &mut Observation) -> Result<SnapshotDelta, SlurmError>;
    /// How a job that is over ended.
    fn outcome(&mut self, job: u32, submit_time: i64) -> JobOutcome;
    /// Whether these pending jobs may start as far as everything but resources is concerned: an
    /// answer for each.
    fn may_start(&mut self, jobs: &[u32]) -> Vec<Result<(), SlurmError>>;
    /// Whether these pending jobs wait for nothing but room, by what Slurm has noted of them: an
    /// answer for each. Changes nothing, not even reasons; the notes may be older than an answer of
    /// `may_start`.
    fn wait_for_room(&mut self, jobs: &[u32]) -> Vec<bool>;
    /// Gives up to `max_tasks` tasks of an array's pending record records of their own.
    fn split_array(&mut self, job: u32, max_tasks: u32) -> Result<(), SlurmError>;
    /// What squeue shows as the jobs' reasons; `None`: nothing of DFRS's. Jobs that are gone are
    /// passed over.
    fn set_reasons(&mut self, reasons: &[(u32, Option<String>)]);
    /// What existing tools show of the jobs' yields, in hundredths, where dfrs.conf turns that on;
    /// `None`: nothing. Jobs that are over or gone are passed over.
    fn show_yields(&mut self, yields: &[(u32, Option<u32>)]);
    /// How many parked jobs live on these nodes: what administrators see in the reasons of those
    /// that drain or are to be rebooted. Nodes that are gone are passed over.
    fn set_parked(&mut self, parked: &[(String, u32)]);
    /// Starts a pending job exactly here; `whole`: with all CPUs and all memory of these nodes,
    /// whatever it requests.
    fn start(&mut self, job: u32, places: &[ObservedPlace], whole: bool) -> Result<(), SlurmError>;
    /// Suspends a running job, which keeps its nodes and its memory.
    fn suspend(&mut self, job: u32) -> Result<(), SlurmError>;
    /// Lets a suspended job run on.
    fn resume(&mut self, job: u32) -> Result<(), SlurmError>;
    /// Sends the resumption of a running job to its nodes once more. Nodes where it goes on ignore
    /// it.
    fn repeat_resumption(&mut self, job: u32) -> Result<(), SlurmError>;
    /// Takes a suspended job's memory out of Slurm's accounting; MiB per node in Slurm's order.
    fn release_memory(&mut self, job: u32) -> Result<Vec<u64>, SlurmError>;
    /// Puts it back if it fits.
    fn claim_memory(&mut self, job: u32, memory: &[u64]) -> Result<(), SlurmError>;
    /// A parked job holds nothing that Slurm could give to others: it is not preempted.
    fn forget_preemption(&mut self, job: u32) -> Result<(), SlurmError>;
    /// Sends the job its own warning signal, or SIGUSR1 to its script.
    fn warn(&mut self, job: u32) -> Result<(), SlurmError>;
    /// Requeues a running job.
    fn requeue(&mut self, job: u32) -> Result<(), SlurmError>;
    /// Puts a job back into the queue that has ended by itself after its warning, and returns how
    /// it ended. `submit_time`: as it was last seen; `was_warned`: it was for sure, else it is a
    /// job that has died of exactly the signal. Refused if it has ended in any other way.
    fn requeue_warned(
        &mut self,
        job: u32,
        submit_time: i64,
        was_warned: bool,
    ) -> Result<Ending, SlurmError>;
    /// Ends what a node still runs, or remembers, of a pending job that Slurm takes for not
    /// running.
    fn abort_orphaned(&mut self, job: u32, node: &str) -> Result<(), SlurmError>;
    /// Lets a requeued job start before Slurm's own delay has passed.
    fn clear_begin_time(&mut self, job: u32) -> Result<(), SlurmError>;
    /// Hides the cores of running jobs from Slurm's CPU accounting again, if the last look has
    /// shown that it counts any. Returns whether it has.
    fn hide_cores(&mut self) -> bool;
    /// Moves the job's time limit by so many seconds. Returns what it was before.
    fn extend_time(&mut self, job: u32, seconds: u32) -> Result<JobTimeLimit, SlurmError>;
    /// Takes what was added to the time limit of a waiting job off again, or of one of scrontab
    /// whose run is over. What others changed in between stays.
    fn take_back_time(&mut self, job: u32, extended: &LimitExtension) -> Result<(), SlurmError>;
    /// One scheduling cycle, for sdiag.
    fn count_cycle(&mut self, microseconds: u32, queue: u32, depth: u32, started: u32);
    /// Hands the DFRS partitions to Slurm's own backfill (when DFRS gives up).
    fn hand_over_to_backfill(&mut self);
    /// Writes to slurmctld's log.
    fn log(&self, level: LogLevel, message: &str);
}
