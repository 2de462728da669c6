//! Nodes that jobs share: whole CPUs, memory and GPUs, of which nothing is given out twice, as Slurm's
//! select/cons_tres does with CR_Core_Memory and OverSubscribe=NO.

use dfrs_core::{Mapping, NodeIndex, Run};

use crate::trace::{NODE_CPU, NODE_GPUS, NODE_MEMORY, Trace, TraceJob};

/// The CPU of a node that is restricted to jobs with GPUs, by Slurm's RestrictedCoresPerGPU: a quarter, which is 8 cores
/// for each of 4 GPUs where a node has 128. Each GPU has an equal part.
const RESTRICTED_CPU: u64 = NODE_CPU.0 / 4;

/// An amount of CPU (microcores), memory and GPUs (parts of a node's).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NodeAmounts {
    pub cpu: u64,
    pub memory: u64,
    pub gpus: u64,
    /// CPU that is not restricted to jobs with GPUs; it is part of the CPU.
    pub open_cpu: u64,
}

impl NodeAmounts {
    /// All of a node, no part of which is restricted: that CPU is open bounds nothing.
    pub const NODE: Self = Self {
        cpu: NODE_CPU.0,
        memory: NODE_MEMORY.0,
        gpus: NODE_GPUS.0,
        open_cpu: u64::MAX / 2,
    };

    /// All of a node with cores that only jobs with GPUs have.
    pub const RESTRICTED_NODE: Self = Self {
        open_cpu: NODE_CPU.0 - RESTRICTED_CPU,
        ..Self::NODE
    };

    /// All of a node without GPUs, where others have some: no part of it is restricted.
    pub const NODE_WITHOUT_GPUS: Self = Self {
        gpus: 0,
        ..Self::NODE
    };

    /// All of each of so many nodes: this, where a node has GPUs.
    pub fn of_nodes(trace: &Trace, nodes: u32, with_gpus: Self) -> Vec<Self> {
        let of_node = |node: u32| match trace.is_gpu_node(node as usize, nodes) {
            true => with_gpus,
            false => Self::NODE_WITHOUT_GPUS,
        };
        (0..nodes).map(of_node).collect()
    }

    /// What is kept for each task of the job. It takes the restricted cores of its own GPUs first.
    pub fn of_task(job: &TraceJob) -> Self {
        let cpu = job.allocated_cpu.0;
        Self {
            cpu,
            memory: job.memory.0,
            gpus: job.gpus.0,
            open_cpu: cpu.saturating_sub(RESTRICTED_CPU * job.gpus.0 / NODE_GPUS.0),
        }
    }

    /// How many tasks that take so much each have room here.
    pub fn holds(&self, task: Self) -> u32 {
        let by = |all: u64, each: u64| all.checked_div(each).unwrap_or(u64::MAX);
        let count = by(self.cpu, task.cpu)
            .min(by(self.memory, task.memory))
            .min(by(self.gpus, task.gpus))
            .min(by(self.open_cpu, task.open_cpu));
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// What is made of each of both.
    fn zip(self, other: Self, make: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            cpu: make(self.cpu, other.cpu),
            memory: make(self.memory, other.memory),
            gpus: make(self.gpus, other.gpus),
            open_cpu: make(self.open_cpu, other.open_cpu),
        }
    }

    /// What is left of it by so much.
    pub fn left_by(self, held: Self) -> Self {
        self.zip(held, u64::saturating_sub)
    }

    /// The smaller of each.
    pub fn least(self, other: Self) -> Self {
        self.zip(other, u64::min)
    }

    /// Takes the room of so many tasks, each of this size.
    pub fn take(&mut self, task: Self, tasks: u32) {
        *self = self.zip(task, |all, each| all - each * u64::from(tasks));
    }

    /// Gives back the room of so many tasks, each of this size.
    pub fn give(&mut self, task: Self, tasks: u32) {
        *self = self.zip(task, |all, each| all + each * u64::from(tasks));
    }
}

/// The nodes that a job's tasks are on, and what each of them takes.
#[derive(Clone, Debug, Default)]
pub(super) struct Tasks {
    pub task: NodeAmounts,
    pub runs: Vec<Run>,
}

impl Tasks {
    /// Takes nodes in their order, of each as many tasks as `node_amounts` says: first what it says they should
    /// rather have, in a second round up to all. `None` if there is not room for all. O(nodes).
    pub fn find(job: &TraceJob, nodes: usize, room: impl Fn(usize) -> (u32, u32)) -> Option<Self> {
        let mut missing = job.tasks;
        let mut given: Vec<(usize, u32, u32)> = Vec::new();
        for node in 0..nodes {
            let (rather, all) = room(node);
            if all == 0 {
                continue;
            }
            let tasks = rather.min(all).min(missing);
            missing -= tasks;
            given.push((node, tasks, all));
            if missing == 0 {
                break;
            }
        }
        for (_, tasks, all) in &mut given {
            let more = (*all - *tasks).min(missing);
            *tasks += more;
            missing -= more;
        }
        if missing > 0 {
            return None;
        }
        let runs = given.into_iter().filter(|(_, tasks, _)| *tasks > 0);
        let run = |(node, tasks, _)| Run {
            node: NodeIndex(u32::try_from(node).unwrap_or(u32::MAX)),
            tasks,
        };
        Some(Self {
            task: NodeAmounts::of_task(job),
            runs: runs.map(run).collect(),
        })
    }

    pub fn take_from(&self, rooms: &mut [NodeAmounts]) {
        for run in &self.runs {
            rooms[run.node.index()].take(self.task, run.tasks);
        }
    }

    pub fn give_to(&self, rooms: &mut [NodeAmounts]) {
        for run in &self.runs {
            rooms[run.node.index()].give(self.task, run.tasks);
        }
    }

    pub fn mapping(&self) -> Mapping {
        Mapping::new(self.runs.clone())
    }
}
