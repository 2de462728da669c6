//! How long things take in the model, and what its nodes have.

use dfrs_agent::fixtures::mix;
use dfrs_core::Span;

const SECOND: i64 = 1_000_000;
const MILLISECOND: i64 = 1_000;

/// Latencies and sizes. All latencies are those of a quiet machine; with `jitter`, each single one
/// is between half and three times as long.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelSettings {
    /// From a start to the end of the prolog: the job is CONFIGURING so long.
    pub launch: Span,
    /// What a call into slurmctld takes: so long after it was looked at, it may show something
    /// else.
    pub call: Span,
    /// From slurmctld to the processes on a node.
    pub message: Span,
    /// From slurmctld to dfrsd.
    pub orders: Span,
    /// From a query of slurmctld's about a fact on a node to the answer.
    pub probe: Span,
    /// From the end, or the termination signal, to the end of the epilog.
    pub kill: Span,
    /// From SIGTERM to SIGKILL (`KillWait`), for programs that do not end before.
    pub kill_wait: Span,
    /// Slurm's delay of a requeued job (`batch_requeue_fini()`: cred_expire + 1 s).
    pub requeue_delay: Span,
    /// Time between two saves of slurmctld's state (`SAVE_MAX_WAIT`, state_save.c).
    pub save_interval: Span,
    /// A node that does not answer for so long is DOWN (`SlurmdTimeout`).
    pub node_timeout: Span,
    /// How long slurmd remembers a job's batch script after its end: its next one is a second copy.
    pub time_to_live: Span,
    /// MiB of swap of each node.
    pub swap_mib: u64,
    /// MiB a second that a node can move to swap.
    pub swap_mib_per_second: u64,
    /// What a job has in swap when it comes back stays there until it ends.
    pub keeps_swap: bool,
    /// Jobs that one user may have running (a limit such as QOS have); `None`: any number.
    pub user_limit: Option<u32>,
    /// Latencies differ from job to job and from message to message, seeded by this number; `None`:
    /// not at all.
    pub jitter: Option<u64>,
}

impl Default for ModelSettings {
    /// The mini-Slurm's, about.
    fn default() -> Self {
        Self {
            launch: Span(300 * MILLISECOND),
            call: Span(0),
            message: Span(50 * MILLISECOND),
            orders: Span(100 * MILLISECOND),
            probe: Span(500 * MILLISECOND),
            kill: Span(300 * MILLISECOND),
            kill_wait: Span(30 * SECOND),
            requeue_delay: Span(121 * SECOND),
            save_interval: Span(5 * SECOND),
            node_timeout: Span(30 * SECOND),
            time_to_live: Span(60 * SECOND),
            swap_mib: 10_000,
            swap_mib_per_second: 500,
            keeps_swap: false,
            user_limit: None,
            jitter: None,
        }
    }
}

impl ModelSettings {
    /// The latency `usual` of one thing, which `about` names.
    pub(super) fn latency(&self, usual: Span, about: [u64; 3]) -> Span {
        let Some(seed) = self.jitter else {
            return usual;
        };
        let drawn = about.iter().fold(seed, |state, part| mix(state ^ part));
        // Most are near to the usual one, some are much longer.
        let thousandths = match drawn % 8 {
            7 => 1000 + (drawn >> 8) % 2000,
            _ => 500 + (drawn >> 8) % 1000,
        };
        Span(
            usual
                .0
                .saturating_mul(i64::try_from(thousandths).unwrap_or(1000))
                / 1000,
        )
    }
}
