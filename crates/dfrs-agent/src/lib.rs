//! The reconciler of slurm-dfrs, without Slurm: looks at the cluster, has `dfrs-core` decide, and
//! carries the plan out step by step. Data flows one way: [`slurm::observation`] →
//! [`plan::cluster`] → the core's plan → [`job::life`] of each job in the [`job::ledger`] → its next
//! step → [`slurm::port`].
//!
//! It has no I/O, no clock and no thread: its driver gives it the time and three ports, to Slurm
//! ([`slurm::port::Slurm`]), to the node daemons ([`daemons::Daemons`]) and to where its state is
//! kept ([`publish::state::Store`]). The plugin has real ones; the crate `dfrs-testbed` has a model
//! of a whole cluster.
#![forbid(unsafe_code)]

mod changes;
pub mod clock;
pub mod daemons;
mod due_times;
#[cfg(any(test, feature = "fixtures"))]
pub mod fixtures;
mod ignored_in_eq;
pub mod job;
pub mod panics;
pub mod pass;
pub mod plan;
pub mod probe;
pub mod publish;
pub mod slurm;
pub mod sync;

/// A number in 32 bits, or the largest that these hold.
fn saturating_u32(number: impl TryInto<u32>) -> u32 {
    number.try_into().unwrap_or(u32::MAX)
}

/// Whether a field that is kept has its usual value, and need not be written.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

pub use pass::{Agent, Counts, PassReport, Ports};
