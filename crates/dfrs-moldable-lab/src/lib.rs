//! What experiments with moldable jobs need beside the algorithm of dfrs-moldable (DEMT), which
//! alone is linked into slurmctld: pure functions.
//!
//! Sections that are named without a paper are of P.-F. Dutot, L. Eyraud, G. Mounié, D. Trystram:
//! Bi-criteria Algorithm for Scheduling Jobs on Cluster Platforms (SPAA 2004).
//!
//! No I/O, no clock, no thread, no `unsafe`, no hash map: the same input always gives the same
//! schedule.
//!
//! - [`MoldableInstance`], [`mod@file`]: what is to be scheduled.
//! - [`check()`]: what must hold of a schedule.
//! - [`Algorithm`]: DEMT and what the paper compares it with; [`online()`]: tasks with releases.
//! - [`Shelves`]: the schedule of the dual approximation.
//! - [`bounds`]: lower bounds on both criteria; [`optimum()`]: the optimum of small instances.
//! - [`workload`]: the paper's tasks, from seeds.
#![forbid(unsafe_code)]

mod algorithm;
pub mod check;
mod comparators;
mod demt;
pub mod file;
mod instance;
mod list;
mod minsum;
mod online;
mod optimum;
mod shelves;
pub mod workload;

pub use algorithm::{Algorithm, UnknownAlgorithm, bounds, online_bounds};
pub use check::{Releases, ScheduleViolation, check};
pub use comparators::{Order, gang, list_graham, sequential};
pub use demt::{Shuffles, demt, improved};
pub use instance::{InstanceError, MAX_TASKS, MAX_TIMES, MoldableInstance};
pub use minsum::weighted_completion_bound;
pub use online::online;
pub use optimum::optimum;
pub use shelves::Shelves;
