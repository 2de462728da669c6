//! Whether a running job can be carried. Nothing of it is stopped or changed.

mod facts;
mod judge;
mod read;
mod sockets;
mod unix_peers;

use std::collections::BTreeSet;

use super::criu::MAX_DELETED_FILE_BYTES;
use super::tree::JobTree;
pub use judge::{Obstacle, is_script};

/// Directories that a node has to itself, unless the site says otherwise.
const LOCAL_DIRECTORIES: [&str; 5] = ["/tmp", "/var", "/run", "/dev/shm", "/local"];
/// What an image has beside memory, at most, but for deleted files.
const REST_BYTES: u64 = 16 << 20;

/// What a site says about its directories.
#[derive(Debug, Clone)]
pub struct SitePolicy {
    /// Directories that all nodes share, whatever their file system.
    pub shared: Vec<String>,
    /// Directories that a node has to itself.
    pub local: Vec<String>,
}

/// What an inspection found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// Why it cannot be carried; none: it can be.
    pub obstacles: Vec<Obstacle>,
    /// Processes that would be dumped.
    pub processes: usize,
    /// Bytes of them in RAM and in swap; what several share counts for each.
    pub bytes: u64,
    /// Bytes of their deleted files.
    pub deleted_bytes: u64,
}

impl SitePolicy {
    /// Usual directories, and those that the site adds.
    pub fn new(shared: &[String], local: &[String]) -> SitePolicy {
        let usual = LOCAL_DIRECTORIES.iter().map(|name| (*name).to_owned());
        SitePolicy {
            shared: shared.to_vec(),
            local: usual.chain(local.iter().cloned()).collect(),
        }
    }
}

impl Inspection {
    /// The obstacles in one line.
    pub fn reasons(&self) -> String {
        let reasons: Vec<String> = self.obstacles.iter().map(Obstacle::to_string).collect();
        reasons.join("; ")
    }

    /// How large an image may be, in bytes.
    pub fn image_bytes(&self) -> u64 {
        let known = self.bytes.saturating_add(self.deleted_bytes);
        known.saturating_add(REST_BYTES)
    }
}

/// Looks at a job's processes. O(processes and descriptors of the node).
///
/// # Errors
///
/// If they cannot be listed; one line. What cannot be looked at of one of them is an obstacle.
pub fn inspect(tree: &JobTree, policy: &SitePolicy) -> Result<Inspection, String> {
    Ok(judge(&read::facts(tree, None)?, policy))
}

/// Looks at a job once more, of which criu has all stopped, with these processes of its own.
///
/// # Errors
///
/// As [`inspect`].
pub fn inspect_stopped(
    tree: &JobTree,
    policy: &SitePolicy,
    criu: &BTreeSet<u32>,
) -> Result<Inspection, String> {
    Ok(judge(&read::facts(tree, Some(criu))?, policy))
}

fn judge(facts: &facts::JobFacts, policy: &SitePolicy) -> Inspection {
    let bytes = facts.processes.iter().map(|process| process.bytes);
    let deleted = facts.processes.iter().flat_map(|process| &process.uses);
    let deleted = deleted.filter_map(|used| match &used.what {
        facts::Thing::File(file) if file.deleted => Some(file.bytes.min(MAX_DELETED_FILE_BYTES)),
        _ => None,
    });
    Inspection {
        obstacles: judge::obstacles(facts, policy),
        processes: facts.processes.len(),
        bytes: bytes.fold(0, u64::saturating_add),
        deleted_bytes: deleted.fold(0, u64::saturating_add),
    }
}
