//! The reconciler of slurm-dfrs, without Slurm: looks at the cluster, has `dfrs-core` decide, and
//! carries the plan out step by step. Data flows one way: [`observation`] → [`cluster`] → the
//! core's plan → [`life`] of each job in the [`ledger`] → its next step → [`slurm`].
//!
//! It has no I/O, no clock and no thread: its driver gives it the time and three ports, to Slurm
//! ([`slurm::Slurm`]), to the node daemons ([`daemons::Daemons`]) and to where its state is kept
//! ([`state::Store`]). The plugin has real ones; [`model`] has a model of a whole cluster.
#![forbid(unsafe_code)]

pub mod actual;
pub mod agent;
pub mod apply;
pub mod clock;
pub mod cluster;
pub mod daemons;
pub mod excluded;
mod exclusivity;
mod ignored_in_eq;
pub mod launches;
pub mod ledger;
pub mod life;
pub mod limits;
pub mod live_journal;
pub mod mobility;
pub mod model;
pub mod moldable;
pub mod need_queries;
pub mod needs;
pub mod node_changes;
pub mod node_orders;
mod node_sets;
pub mod observation;
mod open_nodes;
pub mod placement;
pub mod planned;
pub mod probe;
pub mod recorder;
pub mod records;
pub mod recovery;
pub mod refusals;
pub mod request;
pub mod reservations;
pub mod simulation;
pub mod slurm;
pub mod state;
pub mod sync;
pub mod weights;
pub mod whole_nodes;

pub use agent::{Agent, Counts, PassReport, Ports};
