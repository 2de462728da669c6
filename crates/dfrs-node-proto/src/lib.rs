//! What the node daemon and the programs that query it have in common: frames on its socket, what it
//! says about itself, and how it counts a node's swap and spare memory.
//!
//! Its orders are in [`dfrs_proto::message`], which the plugin writes and slurmd frames, so
//! nothing here is linked into slurmctld.

pub mod framing;
pub mod report;
pub mod spare;
pub mod swap;
