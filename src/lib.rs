//! The Slurm plugin `sched/dfrs`: looks at slurmctld, has `dfrs-core` decide, and carries the plan
//! out. Data flows one way: [`observation`] → [`cluster`] → the core's plan → [`ledger`] →
//! [`steps`] → [`slurm`].

#[cfg(not(no_slurm))]
mod abi;
pub mod agent;
pub mod apply;
pub mod breaker;
pub mod cluster;
pub mod ledger;
pub mod limits;
#[cfg(not(no_slurm))]
mod live;
pub mod live_journal;
pub mod mobility;
pub mod node_orders;
pub mod observation;
pub mod placement;
mod prober;
pub mod pusher;
pub mod reasons;
pub mod recovery;
pub mod runtime;
#[cfg(not(no_slurm))]
mod shim;
pub mod slurm;
pub mod state_file;
pub mod steps;
pub mod sync;
pub mod weights;

#[cfg(test)]
mod fixtures;
