//! The node daemon: applies the plugin's desired state to the cgroups that Slurm made, and measures.
//!
//! Decisions are in modules without I/O or clock ([`orders`], [`quota`], [`needs`], the rules in
//! [`parking`]);
//! [`reconciler`] compares what is desired with what the kernel says, through the [`cgroup`] trait,
//! and [`daemon`] is the shell around it: socket, signals, time.

pub mod capacity;
pub mod carry;
pub mod cgroup;
pub mod client;
pub mod daemon;
pub mod deadline;
pub mod facts;
pub mod job;
pub mod log;
pub mod measure;
pub mod needs;
pub mod options;
pub mod orders;
pub mod panics;
pub mod parking;
pub mod peer;
pub mod quota;
pub mod reclaimer;
pub mod reconciler;
#[cfg(test)]
mod scratch;
pub mod swap;

use std::time::Duration;

/// A moment, as the daemon sees it. Always an input, so that tests choose it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Now {
    /// Time since some fixed moment; never goes back.
    pub monotonic: Duration,
    /// UNIX time in seconds, for records only: it may jump.
    pub unix: f64,
}
