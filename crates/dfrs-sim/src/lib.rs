//! The simulator: replays traces of jobs under the policies of `dfrs-core`, which the plugin runs
//! too, and under the batch schedulers that they are compared with.
//!
//! [`trace`] reads traces, [`simulate()`] runs one of them under one [`Scheduler`], [`metrics`] sums
//! up what came of it. Same input, same result, on any machine; only the time that decisions take
//! is measured and differs.
#![forbid(unsafe_code)]

mod batch;
mod bound;
mod coupling;
mod error;
pub mod gaming;
pub mod generate;
mod held;
mod journal;
mod limits;
pub mod metrics;
mod mobility;
mod outcome;
mod overload;
mod scheduler;
mod settings;
mod simulate;
mod sink;
pub mod trace;
mod uses;
mod world;

pub use batch::Batch;
pub use bound::{offline_bound, offline_bound_with_progress};
pub use coupling::CouplingLoss;
pub use error::SimulationError;
pub use held::{HeldByOthers, HeldChange};
pub use limits::{false_limits, round_limits};
pub use mobility::{Cost, MobilityShares};
pub use outcome::{DecisionTimes, JobRecord, SimOutcome};
pub use overload::Overload;
pub use scheduler::{Scheduler, SchedulerError};
pub use settings::{Estimates, Needs, SimSettings};
pub use simulate::{never_fits, simulate, simulate_beside, simulate_with_progress};
pub use sink::{OnJobEnd, Sink};
pub use uses::use_less;
