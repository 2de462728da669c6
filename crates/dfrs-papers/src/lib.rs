//! Policies that only the experiments of the DFRS papers need: the greatest average yield
//! (`OPT=AVG`; TPDS, Section 4.6), the lowest stretch (`/stretch-per`, there with `OPT=AVG` and
//! `OPT=MAX`; TPDS, Section 4.7), and those of the IPDPS 2010 paper with its average-yield
//! heuristic, by its names. slurmctld does not link them.
//!
//! ```
//! use dfrs_core::{Policy, PolicyError};
//! let policy = dfrs_papers::policy("DYNMCB8-PER-300")?;
//! assert_eq!(policy.to_string(), "DYNMCB8-PER 300");
//! assert!("DYNMCB8-PER-300".parse::<Policy>().is_err());
//! # Ok::<(), PolicyError>(())
//! ```
//!
//! - [`policy()`] reads names; [`all`] and [`description`] list them.
//! - [`PaperGoal`]: what these policies are good for.
//!
//! Pure, as dfrs-core is: no I/O, clock, thread or global. The papers are named there.
#![forbid(unsafe_code)]

mod average;
mod catalogue;
mod connected;
mod goal;
mod heuristic;
mod ipdps;
mod name;
mod simplex;
mod stretch;

pub use catalogue::{all, catalogue, description};
pub use goal::PaperGoal;
pub use name::policy;
pub use stretch::StretchGoal;
