//! What the processors and the memory of an SWF job are on nodes.

use dfrs_core::{Bytes, Cores};

use super::{NODE_CPU, NODE_MEMORY};

/// Memory of an HPC2N node in KiB, the unit of SWF: 2 GiB.
const HPC2N_NODE: u64 = 2 << 20;

/// How jobs of an SWF trace are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Model {
    /// A processor is a node: a task for each, which needs all of it and requires no memory.
    #[default]
    Processors,
    /// The HPC2N cluster of dual-core nodes with 2 GB, as the papers take it (IPDPS 2010, Section
    /// IV). Memory per processor is at least 10% of a node, and 10% if unknown. A job of an even number
    /// of processors with less than 50% each has half as many tasks of two threads, which need a whole
    /// node's CPU and twice the memory; any other job has a task for each processor, which needs
    /// half of a node's CPU.
    Hpc2n,
}

/// The tasks of a job.
pub(super) struct OnNodes {
    pub tasks: u32,
    pub cpu: Cores,
    pub memory: Bytes,
}

impl Model {
    /// Whether jobs require memory.
    pub(super) const fn has_memory(self) -> bool {
        matches!(self, Self::Hpc2n)
    }

    /// How many nodes so many processors are.
    pub(super) const fn nodes(self, processors: u32) -> u32 {
        match self {
            Self::Processors => processors,
            Self::Hpc2n => processors.div_ceil(2),
        }
    }

    /// The tasks of a job with so many processors and so much memory, where known, for each.
    pub(super) fn on_nodes(self, processors: u32, kibibytes: Option<u64>) -> OnNodes {
        match self {
            Self::Processors => OnNodes {
                tasks: processors,
                cpu: NODE_CPU,
                memory: Bytes::ZERO,
            },
            Self::Hpc2n => hpc2n(processors, kibibytes),
        }
    }
}

fn hpc2n(processors: u32, kibibytes: Option<u64>) -> OnNodes {
    let part = NODE_MEMORY.0 / 10;
    let share = u128::from(NODE_MEMORY.0) * u128::from(kibibytes.unwrap_or(0));
    let share = u64::try_from(share / u128::from(HPC2N_NODE)).unwrap_or(u64::MAX);
    let memory = Bytes(share.clamp(part, NODE_MEMORY.0));
    if processors.is_multiple_of(2) && memory.times(2) < NODE_MEMORY {
        return OnNodes {
            tasks: processors / 2,
            cpu: NODE_CPU,
            memory: memory.times(2),
        };
    }
    OnNodes {
        tasks: processors,
        cpu: Cores(NODE_CPU.0 / 2),
        memory,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes_of(processors: u32, kibibytes: Option<u64>) -> (u32, u64, u64) {
        let found = Model::Hpc2n.on_nodes(processors, kibibytes);
        let percent = |parts: u64, all: u64| parts * 100 / all;
        let memory = percent(found.memory.0, NODE_MEMORY.0);
        (found.tasks, percent(found.cpu.0, NODE_CPU.0), memory)
    }

    #[test]
    fn hpc2n_pairs_processors_where_memory_allows() {
        let share = |percent: u64| Some(HPC2N_NODE * percent / 100 + 1);
        assert_eq!(nodes_of(4, share(20)), (2, 100, 40));
        assert_eq!(nodes_of(4, share(49)), (2, 100, 98));
        assert_eq!(nodes_of(4, Some(HPC2N_NODE / 2)), (4, 50, 50));
        assert_eq!(nodes_of(4, share(70)), (4, 50, 70));
        assert_eq!(nodes_of(3, share(20)), (3, 50, 20));
        assert_eq!(nodes_of(1, None), (1, 50, 10));
        assert_eq!(nodes_of(2, share(3)), (1, 100, 20));
        assert_eq!(nodes_of(1, share(900)), (1, 50, 100));
        assert_eq!(nodes_of(1, Some(u64::MAX)), (1, 50, 100));
        assert_eq!(Model::Hpc2n.nodes(240), 120);
    }
}
