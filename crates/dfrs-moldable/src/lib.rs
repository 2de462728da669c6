//! Scheduling of moldable jobs for makespan and weighted completion time at once (DEMT): pure
//! functions, and no more of them than an agent needs. What experiments need beside them is in
//! dfrs-moldable-lab.
//!
//! The algorithm is that of P.-F. Dutot, L. Eyraud, G. Mounié, D. Trystram: Bi-criteria Algorithm
//! for Scheduling Jobs on Cluster Platforms (SPAA 2004). Sections that are named without a paper
//! are of that one.
//!
//! No I/O, no clock, no thread, no `unsafe`, no hash map, no random number: the same input always
//! gives the same schedule.
//!
//! - [`Task`], [`Problem`]: what is to be scheduled; [`downey`]: times from a speedup.
//! - [`Schedule`], [`Criteria`]: what comes out, and what it is judged by.
//! - [`Estimate`]: the dual approximation; [`demt`], [`list`]: the steps of the algorithm.
//! - [`live`]: what to start now, for an agent.
#![forbid(unsafe_code)]

pub mod demt;
mod dual;
mod knapsack;
pub mod list;
pub mod live;
mod problem;
mod processors;
mod schedule;
mod speedup;
mod task;
mod tree;

pub use dual::Estimate;
pub use list::{Busy, ListEntry};
pub use problem::Problem;
pub use processors::{Free, ProcessorSet};
pub use schedule::{Criteria, Placement, Schedule};
pub use speedup::downey;
pub use task::{Allotment, MAX_PROCESSORS, MAX_WEIGHT, TIMES, Task, TaskError};
