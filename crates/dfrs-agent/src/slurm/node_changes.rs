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
    /// Adds what `other` says.
    pub fn add(&mut self, other: &Self) {
        self.all |= other.all;
        self.some.extend(&other.some);
    }

    /// What is there, and nothing from now on.
    #[must_use]
    pub fn take(&mut self) -> Self {
        std::mem::take(self)
    }
}
