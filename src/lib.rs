//! The Slurm plugin `sched/dfrs`: the reconciler of [`dfrs_agent`] inside slurmctld. Here are the
//! ABI, the thread, the life of DFRS, the breaker, the calls through the C shim, the messages to the
//! nodes, and the files.

// Without the shim there are no symbols for slurmctld to load: that is no plugin. Tests, clippy and
// documentation of the rest need none.
#[cfg(all(no_slurm, not(any(test, doc, clippy))))]
compile_error!(
    "DFRS_SLURM_SOURCE is not set: it names the source tree of exactly the Slurm version that the plugin is for; `DFRS_SLURM_SOURCE=$(docker/slurm-source 24.11.5) cargo build --release` fetches one and builds for it"
);

#[cfg(not(no_slurm))]
mod abi;
pub mod breaker;
pub mod daemons;
pub mod explain;
pub mod histogram;
pub mod host;
mod journal_file;
mod library;
pub mod life;
#[cfg(not(no_slurm))]
mod live;
pub mod log;
pub mod measures;
pub mod node_link;
pub mod recorder;
pub mod runtime;
mod scheduler;
#[cfg(any(test, not(no_slurm)))]
#[cfg_attr(no_slurm, allow(dead_code))]
mod shim;
pub mod state_file;
pub mod status;
pub mod stopwatch;
pub mod watched;
mod writer_queue;
