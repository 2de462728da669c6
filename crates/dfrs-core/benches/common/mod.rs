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
pub enum MemoryDemandKind {
    /// As in the papers: 10% of a node for 55% of jobs, else 20% to 100% in steps of 10%, all
    /// divided by this.
    Papers(u64),
    /// No two jobs alike: anything from 2% to 60%, divided by this.
    Distinct(u64),
}

/// Equal nodes, and pending jobs with this many tasks in all. A quarter of jobs have one task and
/// need a quarter of a node's CPU; the others have up to 128, mostly powers of two, and each task
/// needs a whole node's CPU.
pub fn cluster(nodes: u32, tasks: u32, memory: MemoryDemandKind, seed: u64) -> Cluster {
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
            MemoryDemandKind::Papers(divisor) => {
                let tenths = if numbers.below(100) < 55 {
                    1
                } else {
                    2 + numbers.below(9)
                };
                MEMORY.0 / 10 * tenths / divisor
            }
            MemoryDemandKind::Distinct(divisor) => {
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

/// The cluster with its jobs running: tasks dealt to nodes cyclically, whatever the memory.
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

/// The cluster with nodes of 75% to 125% of the capacities, no two alike.
pub fn heterogeneous(mut cluster: Cluster) -> Cluster {
    let mut numbers = Numbers(11);
    for node in &mut cluster.nodes {
        node.cpu = Cores(CPU.0 * 3 / 4 + numbers.below(CPU.0 / 2));
        node.memory = Bytes(MEMORY.0 * 3 / 4 + numbers.below(MEMORY.0 / 2));
    }
    cluster
}

/// Equal nodes of 64 cores and 256 GiB with jobs on them, and jobs that wait, in so many shapes.
/// Where jobs run, others hold the rest of the memory, so that nothing more fits. All can move.
pub fn loaded_cluster(nodes: u32, running: u64, waiting: u64, shapes: u64) -> Cluster {
    let node = Node::new("n", Cores::from_cores(64), Bytes::from_mebibytes(256 << 10));
    let mut cluster = Cluster {
        nodes: vec![node; nodes as usize],
        jobs: Vec::new(),
    };
    let mut numbers = Numbers(13);
    for id in 0..running + waiting {
        let shape = numbers.below(shapes);
        let submit = Time::from_seconds(id.cast_signed());
        let tasks = 1 + u32::try_from(shape % 4).unwrap();
        let cpu = Cores::from_cores(8 + shape % 24);
        let memory = Bytes::from_mebibytes((24 << 10) + 8_000 * shape / shapes);
        let mut job = Job::new(JobId(id), submit, tasks, cpu, memory);
        if id < running {
            job.virtual_time = Span::from_seconds(700 + numbers.below(50_000).cast_signed());
        }
        cluster.jobs.push(job);
    }
    let mut node = 0;
    let mut left: Vec<Bytes> = cluster.nodes.iter().map(|node| node.memory).collect();
    for job in cluster
        .jobs
        .iter_mut()
        .take(usize::try_from(running).unwrap())
    {
        let mut places = Vec::new();
        for _ in 0..job.tasks {
            node = (node + 1) % nodes;
            let free = (0..nodes)
                .map(|next| (node + next) % nodes)
                .find(|node| left[*node as usize] >= job.memory);
            let Some(found) = free else { break };
            left[found as usize] -= job.memory;
            places.push(NodeIndex(found));
        }
        assert_eq!(places.len(), job.tasks as usize, "memory holds them");
        job.state = JobState::Running(Mapping::from_tasks(places));
    }
    if running > 0 {
        for (node, left) in cluster.nodes.iter_mut().zip(left) {
            node.held_memory = left;
        }
    }
    cluster
}

/// So many identities from this one on.
pub fn numbered(first: u64, count: u64) -> impl Iterator<Item = JobId> {
    (first..first + count).map(JobId)
}
