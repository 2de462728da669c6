//! What slurmctld shows, and what it can be asked to do.

pub mod devices;
pub(crate) mod exclusivity;
pub(crate) mod job_name;
pub mod node_changes;
pub(crate) mod node_groups;
pub(crate) mod node_sets;
pub mod observation;
pub(crate) mod open_nodes;
pub mod port;
pub mod records;
pub mod request;
