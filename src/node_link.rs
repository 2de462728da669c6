//! The way to the node daemons.

/// Carries bytes to sockets on nodes.
pub trait NodeLink: Send + Sync {
    /// Sends `data` to the UNIX socket `address` on each of `nodes`; returns the nodes that did not
    /// get it. May block for Slurm's message timeout.
    fn push(&self, nodes: &[String], address: &str, data: &[u8]) -> Vec<String>;
}
