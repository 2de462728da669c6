//! The test bed of slurm-dfrs: a [`model`] of a whole cluster with latencies and faults, and the
//! [`simulation`] of the agent in it, from seeds. No part of it is linked into slurmctld.
#![forbid(unsafe_code)]

pub mod model;
pub mod simulation;
