//! Clusters shaped like the TPDS paper's synthetic workloads, always the same for the same numbers.
#![allow(dead_code, reason = "each bench uses a part")]

use dfrs_core::{
    Bytes, Cluster, Cores, Job, JobId, JobState, Mapping, Node, NodeIndex, Run, Span, Time,
};

/// A node's CPU: four cores.
const CPU: Cores = Cores::from_cores(4);
/// A node's memory: 8 GB.
const MEMORY: Bytes = Bytes(8_000_000_000);

/// Numbers that look random (SplitMix64).
pub struct Numbers(pub u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

/// How memory requirements are drawn.
#[derive(Clone, Copy)]
pub enum Memory {
    /// As in the papers: 10% of a node for 55% of jobs, else 20% to 100% in steps of 10%, all
    /// divided by this.
    Papers(u64),
    /// No two jobs alike: anything from 2% to 60%, divided by this.
    Distinct(u64),
}

/// Equal nodes, and pending jobs with this many tasks in all. A quarter of jobs have one task and
/// need a quarter of a node's CPU; the others have up to 128, mostly powers of two, and each task
/// needs a whole node's CPU.
pub fn cluster(nodes: u32, tasks: u32, memory: Memory, seed: u64) -> Cluster {
    let mut numbers = Numbers(seed);
    let mut left = tasks;
    let mut jobs = Vec::new();
    while left > 0 {
        let wanted = if numbers.below(4) == 0 {
            1
        } else {
            1 << (1 + numbers.below(7))
        };
        let wanted = if numbers.below(4) == 0 {
            wanted + numbers.below(wanted)
        } else {
            wanted
        };
        let count = u32::try_from(wanted.min(128)).unwrap().min(left);
        left -= count;
        let required = match memory {
            Memory::Papers(divisor) => {
                let tenths = if numbers.below(100) < 55 {
                    1
                } else {
                    2 + numbers.below(9)
                };
                MEMORY.0 / 10 * tenths / divisor
            }
            Memory::Distinct(divisor) => {
                (MEMORY.0 / 50 + numbers.below(MEMORY.0 * 58 / 100)) / divisor
            }
        };
        let id = jobs.len() as u64;
        let need = if count == 1 { Cores(CPU.0 / 4) } else { CPU };
        let mut job = Job::new(
            JobId(id),
            Time::from_seconds(id.cast_signed()),
            count,
            need,
            Bytes(required),
        );
        job.virtual_time = Span::from_seconds(1 + numbers.below(5_000).cast_signed());
        jobs.push(job);
    }
    let nodes = (0..nodes)
        .map(|node| Node::new(format!("n{node}"), CPU, MEMORY))
        .collect();
    Cluster { nodes, jobs }
}

/// The same cluster with its jobs running: tasks dealt to nodes in turn, whatever the memory.
pub fn dealt(mut cluster: Cluster) -> Cluster {
    let count = u32::try_from(cluster.nodes.len()).unwrap();
    let mut numbers = Numbers(7);
    for job in &mut cluster.jobs {
        let first = u32::try_from(numbers.below(u64::from(count))).unwrap();
        let runs = (0..job.tasks).map(|task| Run {
            node: NodeIndex((first + task) % count),
            tasks: 1,
        });
        job.state = JobState::Running(Mapping::new(runs.collect()));
    }
    cluster
}

/// The same cluster with nodes of 75% to 125% of the capacities, no two alike.
pub fn unlike(mut cluster: Cluster) -> Cluster {
    let mut numbers = Numbers(11);
    for node in &mut cluster.nodes {
        node.cpu = Cores(CPU.0 * 3 / 4 + numbers.below(CPU.0 / 2));
        node.memory = Bytes(MEMORY.0 * 3 / 4 + numbers.below(MEMORY.0 / 2));
    }
    cluster
}
