//! Which nodes a site has.

use std::collections::BTreeMap;
use std::fmt;

use super::nodes::ConfNode;

/// Nodes that are alike to DFRS.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeKind {
    /// CPUs as Slurm counts them: cores or threads.
    pub cpus: u64,
    /// Threads of each core.
    pub threads_per_core: u64,
    /// `RealMemory` in MB; `None` if slurm.conf does not say.
    pub memory: Option<u64>,
    /// `Gres`, as `gpu:a100:4`; empty if there is none.
    pub gres: String,
}

impl NodeKind {
    /// GPUs of one node, of all types.
    pub fn gpus(&self) -> u64 {
        let parts = self.gres.split(',');
        let numbers = parts.filter_map(|part| {
            let mut words = part.trim().split(':');
            (words.next()? == "gpu").then_some(())?;
            // Without a number there is one.
            let number = words.next_back().and_then(|word| word.parse().ok());
            Some(number.unwrap_or(1))
        });
        numbers.fold(0, u64::saturating_add)
    }
}

/// How many nodes there are of each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteNodes {
    /// All nodes.
    pub count: usize,
    /// The kinds and their nodes, most frequent first.
    pub kinds: Vec<(NodeKind, usize)>,
}

/// How many kinds are shown.
const MAX_KINDS: usize = 4;

impl SiteNodes {
    pub(super) fn of<'a>(nodes: impl IntoIterator<Item = &'a ConfNode>) -> Self {
        let mut counts: BTreeMap<NodeKind, usize> = BTreeMap::new();
        for node in nodes {
            let kind = NodeKind {
                cpus: node.cpus(),
                threads_per_core: node.threads_per_core(),
                memory: node.memory(),
                gres: node.gres(),
            };
            *counts.entry(kind).or_default() += 1;
        }
        let mut kinds: Vec<(NodeKind, usize)> = counts.into_iter().collect();
        kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        Self {
            count: kinds.iter().map(|(_, count)| count).sum(),
            kinds,
        }
    }
}

impl fmt::Display for NodeKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} CPUs", self.cpus)?;
        match self.memory {
            Some(memory) => write!(formatter, ", {memory} MB")?,
            None => write!(formatter, ", memory not known")?,
        }
        if !self.gres.is_empty() {
            write!(formatter, ", {}", self.gres)?;
        }
        Ok(())
    }
}

impl fmt::Display for SiteNodes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = if self.count == 1 { "node" } else { "nodes" };
        write!(formatter, "{} {unit}", self.count)?;
        for (index, (kind, count)) in self.kinds.iter().take(MAX_KINDS).enumerate() {
            let before = if index == 0 { ":" } else { ";" };
            write!(formatter, "{before} {count} x {kind}")?;
        }
        match self.kinds.len().saturating_sub(MAX_KINDS) {
            0 => Ok(()),
            more => write!(formatter, "; and {more} other kinds"),
        }
    }
}
