//! Scheduling of moldable jobs for makespan and weighted completion time at once (DEMT): pure
//! functions.
//!
//! The algorithm is that of P.-F. Dutot, L. Eyraud, G. Mounié, D. Trystram: Bi-criteria Algorithm
//! for Scheduling Jobs on Cluster Platforms (SPAA 2004). Sections that are named without a paper
//! are of that one.
//!
//! No I/O, no clock, no thread, no `unsafe`, no hash map: the same input always gives the same
//! schedule.
//!
//! - [`Task`], [`MoldableInstance`], [`mod@file`]: what is to be scheduled.
//! - [`Schedule`], [`Criteria`], [`check()`]: what comes out, and what must hold of it.
//! - [`Algorithm`]: DEMT and what the paper compares it with; [`online()`]: tasks with releases.
//! - [`bounds`]: lower bounds on both criteria; [`Estimate`]: the dual approximation.
//! - [`workload`]: the paper's tasks, from seeds.
//! - [`live`]: what to start now, for an agent.
#![forbid(unsafe_code)]

mod algorithm;
pub mod check;
mod comparators;
mod demt;
mod dual;
pub mod file;
mod instance;
mod knapsack;
mod list;
pub mod live;
mod minsum;
mod online;
mod optimum;
mod problem;
mod processors;
mod schedule;
mod task;
mod tree;
pub mod workload;

pub use algorithm::{Algorithm, UnknownAlgorithm, bounds, online_bounds};
pub use check::{Releases, ScheduleViolation, check};
pub use comparators::{Order, gang, list_graham, sequential};
pub use demt::{Shuffles, batches, demt, improved};
pub use dual::Estimate;
pub use instance::{InstanceError, MAX_TASKS, MAX_TIMES, MoldableInstance};
pub use list::{Busy, ListEntry};
pub use minsum::weighted_completion_bound;
pub use online::online;
pub use optimum::optimum;
pub use problem::Problem;
pub use processors::ProcessorSet;
pub use schedule::{Criteria, Placement, Schedule};
pub use task::{Allotment, MAX_PROCESSORS, MAX_WEIGHT, TIMES, Task, TaskError};
