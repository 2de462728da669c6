//! Which nodes are different from what is known of them.

use std::collections::BTreeSet;

/// Nodes that are different, by Slurm's index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeChanges {
    /// Nodes came, went or have other positions: all of them are to be looked at.
    pub all: bool,
    /// Nodes that are different otherwise.
    pub some: BTreeSet<u32>,
}

impl NodeChanges {
    /// Whether no node is different.
    pub fn is_empty(&self) -> bool {
        !self.all && self.some.is_empty()
    }
}
