//! The port to the node daemons.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_proto::message::NodeState;

/// What the nodes said, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeFacts {
    /// Jobs that are frozen, with their memory in swap, on all the nodes asked about.
    pub parked: BTreeSet<u32>,
    /// Nodes with swap.
    pub can_park: BTreeSet<String>,
    /// Nodes whose daemon does not answer.
    pub silent: BTreeSet<String>,
}

/// The node daemons as the agent sees them.
pub trait Daemons {
    /// Sets what all nodes shall enforce and which jobs are being parked where; sends what changed.
    fn set(&mut self, orders: BTreeMap<String, NodeState>, parking: BTreeMap<u32, Vec<String>>);
    /// What is known of the nodes now.
    fn facts(&self) -> NodeFacts;
    /// Sends what is still to be sent and ends.
    fn stop(&mut self);
}
