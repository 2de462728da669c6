//! What one look at slurmctld shows, as plain data. Filled by the shim, read by everything else.

/// What a job holds on one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Index into Slurm's node table ([`ObservedNode::index`]).
    pub node: u32,
    /// Tasks there, at least 1.
    pub tasks: u32,
    /// MiB that Slurm counts for the job there; 0 while released.
    pub memory: u64,
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

/// One job of a DFRS partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedJob {
    /// Slurm's job id, unique among the jobs that Slurm knows now.
    pub id: u32,
    /// UNIX seconds; Slurm moves it at each requeue.
    pub submit_time: i64,
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
    /// Held by a user or an administrator.
    pub held: bool,
    /// Pending record that stands for several tasks of an array.
    pub array_master: bool,
    /// How often it was requeued.
    pub restarts: u32,
    /// Number of tasks, at least 1.
    pub tasks: u32,
    /// CPUs a task, at least 1.
    pub cpus_per_task: u32,
    /// `--ntasks-per-node`, 0: not given.
    pub tasks_per_node: u32,
    /// `-N`, lower end.
    pub min_nodes: u32,
    /// `-N`, upper end; 0: not given.
    pub max_nodes: u32,
    /// MiB per node, or per CPU if `memory_per_cpu`; 0: not given.
    pub memory: u64,
    /// Which of the two `memory` is.
    pub memory_per_cpu: bool,
    /// Asked for whole nodes.
    pub exclusive: bool,
    /// Asks for what exact placement does not cover: DFRS cannot start it.
    pub special: bool,
    /// UNIX seconds at which it last started or began a step: since when its processes may still be being
    /// launched. 0 unless it runs.
    pub last_launch: i64,
    /// UNIX seconds at which its time limit ends it; 0: none.
    pub end_time: i64,
    /// `--signal=…@seconds`, 0: none.
    pub warn_seconds: u32,
    /// Where it is, while it holds nodes (also while completing).
    pub places: Vec<Place>,
    /// Nodes that it may be on, ascending; `None`: all of its partition.
    pub eligible: Option<Vec<u32>>,
    /// It must get all of its eligible nodes (`--nodelist`).
    pub all_eligible: bool,
}

impl ObservedJob {
    /// Whether Slurm counts its memory anywhere: not while it is parked.
    #[must_use]
    pub fn is_counted(&self) -> bool {
        self.places.iter().any(|place| place.memory > 0)
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
    /// CPUs that jobs may use.
    pub cpus: u32,
    /// MiB that jobs may use.
    pub memory: u64,
    /// MiB that Slurm counts as used.
    pub allocated_memory: u64,
}

/// One look at slurmctld.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    /// Jobs of the DFRS partitions: not ended, or ended and still completing; ascending by id.
    pub jobs: Vec<ObservedJob>,
    /// Nodes of the DFRS partitions, ascending by index.
    pub nodes: Vec<ObservedNode>,
}

impl Observation {
    /// The job with this id. O(log jobs).
    #[must_use]
    pub fn job(&self, id: u32) -> Option<&ObservedJob> {
        let position = self.jobs.binary_search_by_key(&id, |job| job.id).ok()?;
        self.jobs.get(position)
    }

    /// Counts so many MiB more as used on the node with this Slurm index. O(log nodes).
    pub fn take_memory(&mut self, index: u32, memory: u64) {
        if let Some(position) = self.node_position(index) {
            self.nodes[position].allocated_memory += memory;
        }
    }

    /// Position in `nodes` of the node with this Slurm index. O(log nodes).
    #[must_use]
    pub fn node_position(&self, index: u32) -> Option<usize> {
        self.nodes
            .binary_search_by_key(&index, |node| node.index)
            .ok()
    }
}
