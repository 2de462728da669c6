//! The snapshot as owned Rust data.

use super::bindings;

/// What a job holds on one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Index into Slurm's node table ([`Node::index`]).
    pub node: u32,
    /// Tasks there: its CPUs there over its CPUs a task, rounded up.
    pub tasks: u32,
    /// CPUs there.
    pub cpus: u32,
    /// MiB that Slurm counts for the job there; 0 while released; of a job that is completing: what
    /// it had there.
    pub memory: u64,
}

/// Slurm's job states, as far as they differ here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// In the queue.
    Pending,
    /// Has nodes, also while they are being configured.
    Running,
    /// Has nodes, its processes are stopped.
    Suspended,
    /// Over, in whatever way.
    Ended,
}

/// One job: not ended, or ended and still completing.
// Slurm has these flags, and they do not exclude one another.
#[allow(clippy::struct_excessive_bools)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Slurm's job id.
    pub job_id: u32,
    /// Job id of the array it belongs to.
    pub array_job_id: Option<u32>,
    /// Which task of the array it is, if it is one.
    pub array_task_id: Option<u32>,
    /// User id of the owner.
    pub user_id: u32,
    /// Slurm's priority; 0: held.
    pub priority: u32,
    /// State.
    pub state: State,
    /// Its processes may still live on `places`.
    pub completing: bool,
    /// Nodes are being prepared: it must not be suspended or requeued.
    pub configuring: bool,
    /// Has a batch script.
    pub batch: bool,
    /// May be requeued.
    pub requeue: bool,
    /// Asked for whole nodes.
    pub exclusive: bool,
    /// Priority 0.
    pub held: bool,
    /// Pending record that stands for several tasks of an array.
    pub array_master: bool,
    /// Asks for generic resources.
    pub gres: bool,
    /// Its warning signal was sent in this run.
    pub warned: bool,
    /// Step records or a prolog are still there, or the second of its requeue is not over.
    pub steps_alive: bool,
    /// Asks for what exact placement does not cover; it cannot be started.
    pub special: bool,
    /// It must get all of its eligible nodes.
    pub all_eligible: bool,
    /// Slurm's wait reason number.
    pub reason: u32,
    /// How often it was requeued.
    pub restarts: u32,
    /// Number of tasks, at least 1.
    pub tasks: u32,
    /// CPUs a task, at least 1.
    pub cpus_per_task: u32,
    /// `--ntasks-per-node`; 0: not given.
    pub tasks_per_node: u32,
    /// `-N`, lower end, at least 1.
    pub min_nodes: u32,
    /// `-N`, upper end; 0: not given.
    pub max_nodes: u32,
    /// MiB per node, or per CPU; 0: all of each node's.
    pub memory: u64,
    /// Which of the two `memory` is.
    pub memory_per_cpu: bool,
    /// `--signal`; 0: none.
    pub warn_signal: u32,
    /// `--signal=…@seconds`; 0: none.
    pub warn_seconds: u32,
    /// Minutes; `None`: none, or the partition's.
    pub time_limit: Option<u32>,
    /// UNIX seconds; a requeue sets it anew.
    pub submit_time: i64,
    /// UNIX seconds before which it must not start; 0: none.
    pub begin_time: i64,
    /// UNIX seconds; 0: not started.
    pub start_time: i64,
    /// UNIX seconds; 0: not started.
    pub end_time: i64,
    /// UNIX seconds; 0: not suspended.
    pub suspend_time: i64,
    /// UNIX seconds at which it last started, was resumed or began a step; 0: not running.
    pub last_launch: i64,
    /// Where it is, ascending nodes.
    pub places: Vec<Place>,
    /// Nodes that a pending job may use, ascending; `None`: all of its partition.
    pub eligible: Option<Vec<u32>>,
    /// Partition.
    pub partition: String,
    /// `--comment`.
    pub comment: String,
    /// Name.
    pub name: String,
    /// Its nodes as Slurm writes them.
    pub node_list: String,
}

/// Whether a node takes work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeState {
    /// Takes new work.
    Up,
    /// Keeps its jobs, takes none.
    Draining,
    /// Gone, powered down, or on its way.
    Down,
}

/// One node of these partitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Index into Slurm's node table.
    pub index: u32,
    /// Name.
    pub name: String,
    /// State.
    pub state: NodeState,
    /// CPUs that jobs may use.
    pub cpus: u32,
    /// MiB that jobs may use.
    pub memory: u64,
    /// MiB that Slurm counts as used, by all jobs.
    pub allocated_memory: u64,
}

/// What slurmctld knows at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// UNIX seconds.
    pub now: i64,
    /// Ascending by id.
    pub jobs: Vec<Job>,
    /// Ascending by index.
    pub nodes: Vec<Node>,
}

/// The arrays of a raw snapshot.
struct Arrays<'a> {
    places: &'a [bindings::dfrs_place_t],
    eligible: &'a [u32],
    strings: &'a [u8],
}

impl Arrays<'_> {
    fn text(&self, offset: u32) -> String {
        let tail = self.strings.get(offset as usize..).unwrap_or_default();
        let end = tail
            .iter()
            .position(|&byte| byte == 0)
            .unwrap_or(tail.len());
        String::from_utf8_lossy(&tail[..end]).into_owned()
    }
}

/// # Safety
///
/// `pointer` is null, or points to `count` elements that live as long as `'a`.
unsafe fn slice_at<'a, T>(pointer: *const T, count: u32) -> &'a [T] {
    if pointer.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(pointer, count as usize) }
}

/// The part of an array that starts at `offset`; cut where the array ends.
fn part<T>(array: &[T], offset: u32, count: u32) -> &[T] {
    let start = (offset as usize).min(array.len());
    let end = start.saturating_add(count as usize).min(array.len());
    &array[start..end]
}

impl Snapshot {
    /// # Safety
    ///
    /// `raw` was filled by `dfrs_snapshot()` and not freed.
    pub(super) unsafe fn copy_from(raw: &bindings::dfrs_snapshot_t) -> Self {
        // SAFETY: the shim sets each count to the number of elements of its array.
        let (jobs, nodes, arrays) = unsafe {
            (
                slice_at(raw.jobs.cast_const(), raw.job_count),
                slice_at(raw.nodes.cast_const(), raw.node_count),
                Arrays {
                    places: slice_at(raw.places.cast_const(), raw.place_count),
                    eligible: slice_at(raw.eligible.cast_const(), raw.eligible_count),
                    strings: slice_at(raw.strings.cast_const().cast(), raw.string_bytes),
                },
            )
        };
        let mut copy = Self {
            now: raw.now,
            jobs: jobs.iter().map(|job| copy_job(job, &arrays)).collect(),
            nodes: nodes.iter().map(|node| copy_node(node, &arrays)).collect(),
        };
        copy.jobs.sort_by_key(|job| job.job_id);
        copy
    }
}

fn copy_node(raw: &bindings::dfrs_node_t, arrays: &Arrays<'_>) -> Node {
    Node {
        index: raw.index,
        name: arrays.text(raw.name),
        state: match raw.state {
            bindings::DFRS_NODE_UP => NodeState::Up,
            bindings::DFRS_NODE_DRAINING => NodeState::Draining,
            _ => NodeState::Down,
        },
        cpus: raw.cpus,
        memory: raw.memory,
        allocated_memory: raw.allocated_memory,
    }
}

fn copy_job(raw: &bindings::dfrs_job_t, arrays: &Arrays<'_>) -> Job {
    let flag = |flag: u32| raw.flags & flag != 0;
    let number = |value: u32| (value != bindings::DFRS_NO_VALUE).then_some(value);
    let restricted = raw.eligible_count > 0 || flag(bindings::DFRS_JOB_NOWHERE);
    Job {
        job_id: raw.job_id,
        array_job_id: Some(raw.array_job_id).filter(|&id| id != 0),
        array_task_id: number(raw.array_task_id),
        user_id: raw.user_id,
        priority: raw.priority,
        state: match raw.state {
            bindings::DFRS_JOB_PENDING => State::Pending,
            bindings::DFRS_JOB_RUNNING => State::Running,
            bindings::DFRS_JOB_SUSPENDED => State::Suspended,
            _ => State::Ended,
        },
        completing: flag(bindings::DFRS_JOB_COMPLETING),
        configuring: flag(bindings::DFRS_JOB_CONFIGURING),
        batch: flag(bindings::DFRS_JOB_BATCH),
        requeue: flag(bindings::DFRS_JOB_REQUEUE),
        exclusive: flag(bindings::DFRS_JOB_EXCLUSIVE),
        held: flag(bindings::DFRS_JOB_HELD),
        array_master: flag(bindings::DFRS_JOB_ARRAY_MASTER),
        gres: flag(bindings::DFRS_JOB_GRES),
        warned: flag(bindings::DFRS_JOB_WARNED),
        steps_alive: flag(bindings::DFRS_JOB_STEPS_ALIVE),
        special: flag(bindings::DFRS_JOB_SPECIAL),
        all_eligible: flag(bindings::DFRS_JOB_ALL_ELIGIBLE),
        reason: raw.reason,
        restarts: raw.restarts,
        tasks: raw.tasks,
        cpus_per_task: raw.cpus_per_task,
        tasks_per_node: raw.tasks_per_node,
        min_nodes: raw.min_nodes,
        max_nodes: if flag(bindings::DFRS_JOB_NO_NODE_LIMIT) {
            0
        } else {
            raw.max_nodes
        },
        memory: raw.memory,
        memory_per_cpu: raw.memory_per_cpu,
        warn_signal: raw.warn_signal,
        warn_seconds: raw.warn_seconds,
        time_limit: number(raw.time_limit),
        submit_time: raw.submit_time,
        begin_time: raw.begin_time,
        start_time: raw.start_time,
        end_time: raw.end_time,
        suspend_time: raw.suspend_time,
        last_launch: raw.last_launch,
        places: part(arrays.places, raw.place_offset, raw.place_count)
            .iter()
            .map(copy_place)
            .collect(),
        eligible: restricted
            .then(|| part(arrays.eligible, raw.eligible_offset, raw.eligible_count).to_vec()),
        partition: arrays.text(raw.partition),
        comment: arrays.text(raw.comment),
        name: arrays.text(raw.name),
        node_list: arrays.text(raw.node_list),
    }
}

fn copy_place(raw: &bindings::dfrs_place_t) -> Place {
    Place {
        node: raw.node,
        tasks: raw.tasks,
        cpus: raw.cpus,
        memory: raw.memory,
    }
}
