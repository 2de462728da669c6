//! What a job asks for, made when its record changes.

use std::sync::Arc;

use crate::slurm::devices::RequestedDevices;

pub mod layout;
pub mod memory;
pub mod together;
pub mod whole_nodes;

/// What a job asks for, as its record in slurmctld says it. By default one task with one CPU, and
/// all memory of its node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Number of tasks, at least 1.
    pub tasks: u32,
    /// CPUs that a task holds, at least 1.
    pub cpus_per_task: u32,
    /// The CPUs of a task that stay idle, threads of cores of which it is not to use all
    /// (`--threads-per-core`): memory per CPU does not count them.
    pub idle_cpus: u32,
    /// `--ntasks-per-node`, 0: not given.
    pub tasks_per_node: u32,
    /// `-N`, lower end.
    pub min_nodes: u32,
    /// `-N`, upper end; 0: not given.
    pub max_nodes: u32,
    /// Its partition's `MaxNodes`; 0: none that holds for it.
    pub partition_max_nodes: u32,
    /// MiB per node, or per CPU if `memory_per_cpu`; 0: not given.
    pub memory: u64,
    /// Whether `memory` is per CPU.
    pub memory_per_cpu: bool,
    /// Devices on each of its nodes.
    pub devices: Vec<RequestedDevices>,
    /// Requested whole nodes, or was started on such.
    pub exclusive: bool,
    /// Wants no other users' jobs on its nodes (`--exclusive=user`, or a partition with
    /// `ExclusiveUser=YES`).
    pub exclusive_user: bool,
    /// Its MCS label, if that decides which jobs may share its nodes: jobs of different labels are
    /// on no node together. 0: none, which is as good as a label of its own.
    pub mcs_label: u32,
    /// What of it exact placement does not cover, in words: DFRS cannot start the job.
    pub unsupported: Option<Arc<str>>,
    /// Nodes that it may be on, ascending; `None`: all of its partition. Jobs with the same ones
    /// share them.
    pub eligible: Option<Arc<[u32]>>,
    /// Nodes that it prefers (`--prefer`), likewise; `None`: none.
    pub preferred: Option<Arc<[u32]>>,
    /// `--contiguous`: its nodes follow each other in Slurm's order.
    pub contiguous: bool,
    /// `--switches`: at most so many leaf switches; 0: any number.
    pub switches: u32,
    /// For how long a waiting job insists on that (`--switches=…@time`, `max_switch_wait`), in
    /// seconds from when it is eligible.
    pub switch_wait_seconds: u32,
    /// It must get all of its eligible nodes (`--nodelist`).
    pub all_eligible: bool,
    /// `-N` without `-n`: it has as many tasks as its nodes make, one on each or `tasks_per_node`.
    /// `tasks` are those on `min_nodes`, or on the nodes that it has.
    pub sized_by_nodes: bool,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            tasks: 1,
            cpus_per_task: 1,
            idle_cpus: 0,
            tasks_per_node: 0,
            min_nodes: 1,
            max_nodes: 0,
            partition_max_nodes: 0,
            memory: 0,
            memory_per_cpu: false,
            devices: Vec::new(),
            exclusive: false,
            exclusive_user: false,
            mcs_label: 0,
            unsupported: None,
            eligible: None,
            preferred: None,
            contiguous: false,
            switches: 0,
            switch_wait_seconds: 0,
            all_eligible: false,
            sized_by_nodes: false,
        }
    }
}

impl Request {
    /// Its tasks on each node, if it is the nodes that make them.
    pub fn tasks_on_each(&self) -> Option<u32> {
        self.sized_by_nodes.then_some(self.tasks_per_node.max(1))
    }

    /// CPUs of a task that count where memory is per CPU, at least 1.
    pub fn memory_cpus(&self) -> u32 {
        self.cpus_per_task.saturating_sub(self.idle_cpus).max(1)
    }

    /// MiB of each task, if its memory is per CPU.
    pub fn memory_per_task(&self) -> Option<u64> {
        let task = self.memory.saturating_mul(u64::from(self.memory_cpus()));
        self.memory_per_cpu.then_some(task)
    }

    /// The fewest and the most tasks that it may have: both the same, unless it is its nodes that
    /// make them.
    pub fn task_range(&self) -> (u32, u32) {
        self.tasks_on_each()
            .map_or((self.tasks, self.tasks), |each| {
                let least = self.min_nodes.max(1);
                let max_nodes = self.max_nodes.max(least);
                (least.saturating_mul(each), max_nodes.saturating_mul(each))
            })
    }

    /// Whether it asks for all memory of each of its nodes: for whole nodes, or for no amount.
    pub fn wants_whole_nodes(&self) -> bool {
        self.exclusive || self.memory == 0
    }
}
