//! What Slurm runs with, as far as DFRS depends on it.

use super::host_list;

/// Settings, partitions and nodes. Words are as Slurm writes them; where there is none they are
/// empty.
///
/// The plugin fills in what is refused for, and leaves the rest as [`SlurmFacts::default`] has it,
/// which nothing is said about.
#[derive(Clone, Debug, PartialEq)]
pub struct SlurmFacts {
    /// `SchedulerType=sched/dfrs`: slurmctld runs the plugin. If not, this is its name.
    pub other_scheduler: Option<String>,
    /// `burst_buffer_dfrs.so` keeps Slurm's own schedulers from jobs of DFRS.
    pub is_withheld: bool,
    /// `SchedulerParameters`.
    pub scheduler_parameters: String,
    /// `SlurmctldParameters`.
    pub slurmctld_parameters: String,
    /// `SelectType`.
    pub select_type: String,
    /// `SelectTypeParameters`: memory is counted.
    pub counts_memory: bool,
    /// `SelectTypeParameters`: cores or CPUs are counted.
    pub counts_cores: bool,
    /// `PreemptMode` has `GANG`.
    pub slices_time: bool,
    /// `PreemptType`.
    pub preempt_type: String,
    /// `PreemptParameters`.
    pub preempt_parameters: String,
    /// `ProctrackType`.
    pub proctrack_type: String,
    /// `TaskPlugin`.
    pub task_plugin: String,
    /// `JobAcctGatherType`.
    pub gather_type: String,
    /// `TopologyPlugin`.
    pub topology_plugin: String,
    /// `JobRequeue`: jobs may be requeued unless they say otherwise.
    pub requeues: bool,
    /// `JobFileAppend`: a job that runs again appends to its output.
    pub appends_output: bool,
    /// `RequeueExitHold`: exit codes of jobs that are requeued and held.
    pub requeue_exit_hold: String,
    /// `DefMemPerCPU` or `DefMemPerNode` of all partitions: jobs that request no memory get so
    /// much.
    pub has_default_memory: bool,
    /// Jobs have an `Extra` (23.02 and later).
    pub has_extra: bool,
    /// slurmctld learns which nodes a message has not reached (not in 23.11).
    pub is_delivery_known: bool,
    /// Power saving, as for all partitions.
    pub power: PowerSaving,
    /// cgroup.conf.
    pub cgroups: CgroupConf,
    /// All partitions.
    pub partitions: Vec<SlurmPartition>,
    /// All nodes.
    pub nodes: Vec<SlurmNode>,
}

/// Power saving.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PowerSaving {
    /// There are a `SuspendProgram` and a `ResumeProgram`.
    pub has_programs: bool,
    /// `SuspendTime`.
    pub idle: Idle,
    /// `SuspendExcNodes`.
    pub excepted_nodes: String,
    /// `SuspendExcParts`.
    pub excepted_partitions: String,
}

/// `SuspendTime`: whether idle nodes are powered down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Idle {
    /// A partition says nothing: as for all of them. For all of them: no.
    #[default]
    AsAll,
    /// No.
    StaysUp,
    /// After some time.
    GoesDown,
}

/// cgroup.conf, with the values that Slurm takes for lines that are not there.
#[derive(Clone, Debug, PartialEq)]
pub struct CgroupConf {
    /// `CgroupPlugin`.
    pub plugin: String,
    /// `ConstrainRAMSpace`.
    pub constrains_ram: bool,
    /// `AllowedRAMSpace`: percent of what a job requested.
    pub allowed_ram_percent: f64,
    /// `MaxRAMPercent`: percent of the node's memory.
    pub max_ram_percent: f64,
    /// `ConstrainSwapSpace`.
    pub constrains_swap: bool,
    /// `SignalChildrenProcesses`: signals go to all processes of a step, not only to its tasks.
    pub signals_children: bool,
}

/// A partition of slurm.conf.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlurmPartition {
    /// The partition's name.
    pub name: String,
    /// `OverSubscribe=FORCE:1`.
    pub is_forced_to_one: bool,
    /// `OverSubscribe=NO`, or with 1 job to a core: jobs have cores of their own.
    pub shares_no_cores: bool,
    /// `Exclusive=TOPO`.
    pub has_exclusive_topology: bool,
    /// `PowerDownOnIdle`.
    pub powers_down_on_idle: bool,
    /// `SuspendTime`.
    pub idle: Idle,
    /// The partition's state lets Slurm start jobs there: `UP` or `DRAIN`.
    pub takes_jobs: bool,
    /// Positions in [`SlurmFacts::nodes`], ascending.
    pub nodes: Vec<usize>,
    /// `CpuBind`.
    pub cpu_bind: String,
    /// `PriorityTier`.
    pub tier: u32,
    /// `PreemptMode` is not `OFF`.
    pub has_preemption: bool,
    /// `GraceTime`, in seconds.
    pub grace_seconds: u32,
    /// `DefMemPerCPU` or `DefMemPerNode`.
    pub has_default_memory: bool,
}

/// A node of slurm.conf.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlurmNode {
    /// The node's name.
    pub name: String,
    /// `CpuBind`.
    pub cpu_bind: String,
    /// `ThreadsPerCore`; 0: not known.
    pub threads_per_core: u32,
}

impl Default for SlurmFacts {
    /// A Slurm about which no check has anything to say, but that it has no partition.
    fn default() -> Self {
        Self {
            other_scheduler: None,
            is_withheld: true,
            scheduler_parameters: String::new(),
            slurmctld_parameters: String::new(),
            select_type: "select/cons_tres".to_owned(),
            counts_memory: true,
            counts_cores: true,
            slices_time: false,
            preempt_type: String::new(),
            preempt_parameters: String::new(),
            proctrack_type: "proctrack/cgroup".to_owned(),
            task_plugin: "task/cgroup".to_owned(),
            gather_type: "jobacct_gather/cgroup".to_owned(),
            topology_plugin: String::new(),
            requeues: true,
            appends_output: true,
            requeue_exit_hold: "125".to_owned(),
            has_default_memory: true,
            has_extra: true,
            is_delivery_known: true,
            power: PowerSaving::default(),
            cgroups: CgroupConf::default(),
            partitions: Vec::new(),
            nodes: Vec::new(),
        }
    }
}

impl Default for CgroupConf {
    fn default() -> Self {
        Self {
            plugin: String::new(),
            constrains_ram: true,
            allowed_ram_percent: 100.0,
            max_ram_percent: 100.0,
            constrains_swap: false,
            signals_children: false,
        }
    }
}

impl SlurmFacts {
    /// The partition of this name.
    pub fn partition(&self, name: &str) -> Option<&SlurmPartition> {
        self.partitions.iter().find(|it| it.name == name)
    }

    /// The nodes of a partition.
    pub(super) fn nodes_of<'a>(
        &'a self,
        partition: &'a SlurmPartition,
    ) -> impl Iterator<Item = &'a SlurmNode> {
        let nodes = partition.nodes.iter();
        nodes.filter_map(|&index| self.nodes.get(index))
    }
}

impl PowerSaving {
    /// Whether `SuspendExcNodes` has this node for good. Of an entry with a count, as `n[1-8]:4`,
    /// no node is sure to stay up.
    pub(super) fn excepts(&self, node: &str) -> bool {
        host_list::entries(&self.excepted_nodes)
            .filter(|entry| !entry.contains(':'))
            .any(|entry| host_list::matches_host(entry, node))
    }
}

impl SlurmPartition {
    /// Whether it has a node in common with the other one. O(nodes of both).
    pub(super) fn overlaps(&self, other: &SlurmPartition) -> bool {
        let mut theirs = other.nodes.iter().peekable();
        self.nodes.iter().any(|node| {
            while theirs.next_if(|other| *other < node).is_some() {}
            theirs.peek() == Some(&node)
        })
    }
}

/// Whether a comma-separated list has this item, in any case.
pub(super) fn lists(list: &str, item: &str) -> bool {
    items(list).any(|found| found.eq_ignore_ascii_case(item))
}

/// What a list has after `KEY=`.
pub(super) fn value<'a>(list: &'a str, key: &str) -> Option<&'a str> {
    items(list).find_map(|item| {
        let (name, value) = item.split_once('=')?;
        name.eq_ignore_ascii_case(key).then_some(value)
    })
}

fn items(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim)
}
