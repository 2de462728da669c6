//! Jobs and nodes as slurmctld shows them, as plain data. Filled by the shim, read by everything else.

use std::fmt;
use std::sync::Arc;

use dfrs_core::Span;

/// What a job holds on one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedPlace {
    /// Index into Slurm's node table ([`ObservedNode::index`]).
    pub node: u32,
    /// Tasks there, at least 1.
    pub tasks: u32,
    /// MiB that Slurm counts for the job there; 0 while released.
    pub memory_mib: u64,
}

/// Slurm's job states, as far as they differ for a scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObservedState {
    /// In the queue.
    Pending,
    /// Has nodes (also while they are being configured).
    Running,
    /// Has nodes, its processes are stopped.
    Suspended,
    /// Over, in whatever way.
    Ended,
}

/// A request of a job that exact placement does not cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnsupportedRequest {
    /// `--gres`, `--gpus` and their like.
    GenericResources,
    /// A job of several components.
    Heterogeneous,
    /// Runs on one of several clusters.
    Federation,
    /// `--bb`.
    BurstBuffer,
    /// `--reboot`.
    Reboot,
    /// `--reservation` with more than one name.
    Reservations,
    /// `--switches`.
    Switches,
    /// `--contiguous`.
    Contiguous,
    /// `--dependency=expand`.
    Expansion,
    /// `--core-spec` or `--thread-spec`.
    SpecializedCores,
    /// `--distribution=arbitrary`.
    Arbitrary,
    /// `--distribution=plane`, on more than one node.
    Plane,
    /// `--nodelist` with fewer nodes than the job requests.
    NodeList,
    /// `--constraint` with counts, parentheses or brackets.
    Features,
    /// Slurm's record of it is incomplete.
    Incomplete,
    /// `--segment`.
    Segments,
    /// `--resv-ports` of the job.
    ReservedPorts,
    /// `--qos` with more than one name.
    QosList,
    /// `--licenses` with a hierarchical resource.
    HierarchicalResources,
    /// `--mem-update`.
    MemoryUpdates,
}

impl fmt::Display for UnsupportedRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::GenericResources => "generic resources (--gres, --gpus)",
            Self::Heterogeneous => "several components (a heterogeneous job)",
            Self::Federation => "one of several clusters (a federation)",
            Self::BurstBuffer => "a burst buffer (--bb)",
            Self::Reboot => "a reboot of its nodes (--reboot)",
            Self::Reservations => "several reservations",
            Self::Switches => "a number of switches (--switches)",
            Self::Contiguous => "contiguous nodes (--contiguous)",
            Self::Expansion => "to expand another job (--dependency=expand)",
            Self::SpecializedCores => "specialized cores or threads (--core-spec, --thread-spec)",
            Self::Arbitrary => "an arbitrary distribution (-m arbitrary)",
            Self::Plane => "tasks in blocks on several nodes (-m plane)",
            Self::NodeList => "some nodes by name and more of any (--nodelist)",
            Self::Features => "counted or grouped features (--constraint)",
            Self::Incomplete => "something that slurmctld has no details of",
            Self::Segments => "nodes in segments (--segment)",
            Self::ReservedPorts => "reserved ports (--resv-ports)",
            Self::QosList => "one of several QOS (--qos)",
            Self::HierarchicalResources => "hierarchical resources (--licenses)",
            Self::MemoryUpdates => "memory that shrinks while it runs (--mem-update)",
        })
    }
}

/// One job of a DFRS partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedJob {
    /// Slurm's job id, unique among the jobs that Slurm knows now.
    pub id: u32,
    /// The user whose it is, by number.
    pub user: u32,
    /// UNIX seconds; Slurm moves it at each requeue.
    pub submit_seconds: i64,
    /// Partition name.
    pub partition: String,
    /// The user's `--comment`.
    pub comment: String,
    /// State.
    pub state: ObservedState,
    /// Its processes may still live on `places`.
    pub completing: bool,
    /// Nodes are being prepared: it must not be suspended or requeued yet.
    pub configuring: bool,
    /// Steps or a prolog of its last run are still there: too early to start it again.
    pub steps_alive: bool,
    /// Has a batch script.
    pub batch: bool,
    /// May be requeued.
    pub requeue: bool,
    /// Slurm's priority; 0: held, or not known yet.
    pub priority: u32,
    /// It has no priority: it is held, or an operator suspended it.
    pub held: bool,
    /// A hold took its priority. For a job with nodes that does not decide whether it is to run.
    pub on_hold: bool,
    /// An operator's hold (`WAIT_HELD`): its own user may hold it, too, also while it runs.
    pub admin_hold: bool,
    /// Of scrontab: each of its runs is a submission of its own, under the same id.
    pub cron: bool,
    /// Has devices (GRES), though it may not have requested them: they do not go to swap with its
    /// memory.
    pub holds_gres: bool,
    /// The array's job id (Slurm's `array_job_id`); 0: not of an array.
    pub array: u32,
    /// Its index in its array; 0 also if it has none, or stands for several.
    pub array_task: u32,
    /// Waiting: how many tasks of its array may run at once; 0: all.
    pub array_throttle: u32,
    /// Pending record that stands for several tasks of an array.
    pub array_master: bool,
    /// How often it was requeued.
    pub restarts: u32,
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
    /// Which of the two `memory_mib` is.
    pub memory_per_cpu: bool,
    /// Requested whole nodes, or was started on such.
    pub exclusive: bool,
    /// It runs, and DFRS has sent it its warning signal.
    pub warned: bool,
    /// It waits in a partition that gives it whole nodes, whatever it requests. Slurm does not
    /// know.
    pub starts_whole: bool,
    /// Wants no other users' jobs on its nodes (`--exclusive=user`, or a partition with
    /// `ExclusiveUser=YES`).
    pub exclusive_user: bool,
    /// Its MCS label, if that decides which jobs may share its nodes: jobs of different labels are
    /// on no node together. 0: none, which is as good as a label of its own.
    pub mcs_label: u32,
    /// The request that exact placement does not cover: DFRS cannot start it.
    pub unsupported: Option<UnsupportedRequest>,
    /// UNIX seconds at which it last started or began a step: since when its processes may still be
    /// being launched. 0 unless it runs.
    pub last_launch_seconds: i64,
    /// Since when it waits for no other job, time or release, UNIX seconds; 0: it does, or that is
    /// not known.
    pub eligible_seconds: i64,
    /// UNIX seconds at which it last came back from a suspension; 0: never, or it does not run.
    pub resumed_seconds: i64,
    /// Its time limit, or its partition's default if it gave none, in minutes; 0: none.
    pub limit_minutes: u32,
    /// Its partition's `MaxTime`, in minutes; 0: none.
    pub partition_max_minutes: u32,
    /// UNIX seconds at which its time limit ends it; 0: none.
    pub end_seconds: i64,
    /// UNIX seconds; 0: never. Of a job with nodes: until when these are free for it, that is when
    /// the first reservation of others begins on one of them. Of a waiting one: when the first
    /// reservation begins that keeps it from nodes; 1 if it is one that always begins so many
    /// seconds from now.
    pub free_until_seconds: i64,
    /// `--deadline`, UNIX seconds; 0: none.
    pub deadline_seconds: i64,
    /// When the reservation ends that it has its nodes in, and Slurm ends it, UNIX seconds; 0:
    /// none, or that is past.
    pub reservation_end_seconds: i64,
    /// `--signal=…@seconds`, 0: none.
    pub warn_seconds: u32,
    /// Where it is, while it holds nodes (also while completing).
    pub places: Vec<ObservedPlace>,
    /// Nodes that it may be on, ascending; `None`: all of its partition. Jobs with the same ones
    /// share them.
    pub eligible: Option<Arc<[u32]>>,
    /// It must get all of its eligible nodes (`--nodelist`).
    pub all_eligible: bool,
    /// `-N` without `-n`: it has as many tasks as its nodes make, one on each or `tasks_per_node`.
    /// `tasks` are those on `min_nodes`, or on the nodes that it has.
    pub sized_by_nodes: bool,
}

impl ObservedJob {
    /// Its tasks on each node, if it is the nodes that make them.
    #[must_use]
    pub fn tasks_on_each(&self) -> Option<u32> {
        self.sized_by_nodes.then_some(self.tasks_per_node.max(1))
    }

    /// CPUs of a task that count where memory is per CPU, at least 1.
    #[must_use]
    pub fn memory_cpus(&self) -> u32 {
        self.cpus_per_task.saturating_sub(self.idle_cpus).max(1)
    }

    /// The fewest and the most tasks that it may have: both the same, unless it is its nodes that
    /// make them.
    #[must_use]
    pub fn task_range(&self) -> (u32, u32) {
        self.tasks_on_each()
            .map_or((self.tasks, self.tasks), |each| {
                let least = self.min_nodes.max(1);
                let max_nodes = self.max_nodes.max(least);
                (least.saturating_mul(each), max_nodes.saturating_mul(each))
            })
    }

    /// Its time limit, if it has one.
    #[must_use]
    pub fn limit(&self) -> Option<Span> {
        let limit = Span::from_seconds(i64::from(self.limit_minutes) * 60);
        Some(limit).filter(|limit| *limit > Span::ZERO)
    }

    /// The job with all that is to come, or has begun, so many seconds later.
    pub(crate) fn shifted_by(mut self, seconds: i64) -> Self {
        let times = [
            &mut self.last_launch_seconds,
            &mut self.resumed_seconds,
            &mut self.eligible_seconds,
            &mut self.end_seconds,
            &mut self.free_until_seconds,
            &mut self.deadline_seconds,
            &mut self.reservation_end_seconds,
        ];
        for time in times.into_iter().filter(|time| **time > 0) {
            *time = time.saturating_add(seconds);
        }
        self
    }

    /// Whether it has nodes: it runs or is suspended.
    #[must_use]
    pub fn has_place(&self) -> bool {
        matches!(
            self.state,
            ObservedState::Running | ObservedState::Suspended
        )
    }

    /// Whether an operator suspended it, or wants it suspended that was suspended before: Slurm
    /// takes its priority away (`_job_suspend_op()`), and gives it back when the operator resumes
    /// it. DFRS's own suspensions leave it alone. A hold takes it away, too: a suspension that is
    /// not known to be DFRS's counts as an operator's all the same.
    #[must_use]
    pub fn may_be_suspended_by_operator(&self) -> bool {
        self.state == ObservedState::Suspended && self.priority == 0
    }

    /// Whether an operator wants a job suspended that DFRS has suspended. If the job was also held,
    /// that cannot be known: it counts as held.
    #[must_use]
    pub fn is_suspended_by_operator(&self) -> bool {
        self.may_be_suspended_by_operator() && !self.on_hold
    }

    /// Whether it is to have all memory of each of its nodes: it requested them whole, or no
    /// amount, or it starts so anyway.
    #[must_use]
    pub fn wants_whole_nodes(&self) -> bool {
        self.exclusive || self.starts_whole || self.memory == 0
    }

    /// Whether both make the same request, may use the same nodes for as long, and are both kept
    /// from running by an operator, or neither is.
    #[must_use]
    pub fn same_request(&self, other: &Self) -> bool {
        let size = |job: &Self| {
            let tasks = (job.tasks_per_node, job.sized_by_nodes);
            (job.tasks, job.cpus_per_task, job.idle_cpus, tasks)
        };
        let nodes = |job: &Self| {
            (
                job.min_nodes,
                job.max_nodes,
                job.partition_max_nodes,
                job.all_eligible,
                job.free_until_seconds,
            )
        };
        let memory = |job: &Self| {
            let alone = (job.exclusive, job.exclusive_user, job.mcs_label);
            (job.memory, job.memory_per_cpu, alone)
        };
        (size(self), nodes(self), memory(self)) == (size(other), nodes(other), memory(other))
            && self.eligible == other.eligible
            && self.is_suspended_by_operator() == other.is_suspended_by_operator()
    }

    /// Whether Slurm counts its memory anywhere: not while it is parked.
    #[must_use]
    pub fn is_counted(&self) -> bool {
        self.places.iter().any(|place| place.memory_mib > 0)
    }

    /// Whether Slurm no longer counts its memory although its processes may still be there: Slurm
    /// gives it back when a job ends, not when they do.
    #[must_use]
    pub fn has_released(&self) -> bool {
        self.completing
    }
}

/// One node of a DFRS partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedNode {
    /// Index into Slurm's node table.
    pub index: u32,
    /// Name.
    pub name: String,
    /// Takes new work.
    pub up: bool,
    /// Gone (no slurmd, or marked so).
    pub down: bool,
    /// CPUs that Slurm counts: of these a cap is a part.
    pub all_cpus: u32,
    /// CPUs that jobs may use, no more than all.
    pub cpus: u32,
    /// MiB that jobs may use.
    pub memory: u64,
    /// MiB that Slurm counts as used.
    pub allocated_memory_mib: u64,
}

impl ObservedNode {
    /// Whether it takes nothing new, but what is there may run on.
    #[must_use]
    pub fn drains(&self) -> bool {
        !self.up && !self.down
    }

    /// Whether it has another amount of memory (MiB) than a job is for, if the job is for one.
    pub(crate) fn has_other_size(&self, whole_node_mib: Option<u64>) -> bool {
        whole_node_mib.is_some_and(|size| self.memory != size)
    }
}
