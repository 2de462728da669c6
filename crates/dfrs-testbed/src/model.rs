//! A model of slurmctld, of the nodes and of where the state is kept: a whole cluster with latencies
//! and faults. It decides nothing by chance and has no clock of its own: the same acts at the same
//! times lead to the same end.

pub mod acts;
mod backfill;
mod calls;
mod cluster;
mod device_counts;
mod devices;
mod dfrsd;
mod events;
mod gauge;
mod images;
mod jobs;
mod lifecycle;
mod look;
mod machine;
mod messages;
mod needs;
mod others;
mod ports;
mod program;
mod records;
mod reservations;
mod settings;
mod slurmctld;
mod work;

pub use cluster::ClusterModel;
pub use devices::HeldDevice;
pub(crate) use devices::{counted, is_of_kind};
pub(crate) use messages::MESSAGE_TIMEOUT;
pub use others::OtherPartitionJob;
pub use ports::{DaemonsPort, SharedModel, SlurmPort, StorePort};
pub use program::{ImageOutcome, JobProgram, JobSubmission, ProgramOutcome};
pub use settings::ModelSettings;
pub use slurmctld::{JobEntry, NodeEntry};
