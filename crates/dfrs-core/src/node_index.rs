//! Which node of a cluster.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Position of a node in [`crate::Cluster::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeIndex(pub u32);

impl NodeIndex {
    /// The position as an index into [`crate::Cluster::nodes`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for NodeIndex {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
