//! Why a simulation has no outcome.

use dfrs_core::Time;
use dfrs_proto::journal::WriteError;

/// Why a simulation did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// A job that no empty cluster holds.
    #[error("job {id} does not fit on {nodes} nodes ({why}); use more nodes or leave it out")]
    NeverFits {
        /// The job.
        id: String,
        /// How many nodes there are.
        nodes: u32,
        /// What is too much.
        why: String,
    },
    /// Jobs are left and nothing will ever happen again.
    #[error("job {id} waits at {now} and {scheduler} will never start it; use another policy")]
    Stuck {
        /// The first of the jobs.
        id: String,
        /// When.
        now: Time,
        /// Name of the scheduler.
        scheduler: String,
    },
    /// Time runs beyond all bounds.
    #[error("the jobs of the trace take more than 70,000 years; check its run times")]
    TooLong,
    /// The journal cannot be written.
    #[error("{0}")]
    Journal(#[from] WriteError),
}
