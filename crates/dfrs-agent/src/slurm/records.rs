//! Jobs and nodes as slurmctld shows them, as plain data. Filled by the shim, read by everything else.

use std::sync::Arc;

use dfrs_core::Span;

use crate::slurm::devices::{ObservedDevices, RequestedDevices, of_kind};
use crate::slurm::request::Request;

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
    /// Of a heterogeneous job, whose other components go on whatever becomes of this one.
    pub component: bool,
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
    /// What it asks for.
    pub request: Request,
    /// It runs, and DFRS has sent it its warning signal.
    pub warned: bool,
    /// It waits in a partition that gives it whole nodes, whatever it requests. Slurm does not
    /// know.
    pub starts_whole: bool,
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
    /// When the `GraceTime` ends in which Slurm preempts it for a job of another partition, UNIX
    /// seconds; 0: it does not.
    pub grace_end_seconds: i64,
    /// `--deadline`, UNIX seconds; 0: none.
    pub deadline_seconds: i64,
    /// When the reservation ends that it has its nodes in, and Slurm ends it, UNIX seconds; 0:
    /// none, or that is past.
    pub reservation_end_seconds: i64,
    /// `--signal=…@seconds`, 0: none.
    pub warn_seconds: u32,
    /// Where it is, while it holds nodes (also while completing).
    pub places: Vec<ObservedPlace>,
}

impl ObservedJob {
    /// Its time limit, if it has one.
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
            &mut self.grace_end_seconds,
            &mut self.deadline_seconds,
            &mut self.reservation_end_seconds,
        ];
        for time in times.into_iter().filter(|time| **time > 0) {
            *time = time.saturating_add(seconds);
        }
        self
    }

    /// Whether it has nodes: it runs or is suspended.
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
    pub fn may_be_suspended_by_operator(&self) -> bool {
        self.state == ObservedState::Suspended && self.priority == 0
    }

    /// Whether an operator wants a job suspended that DFRS has suspended. If the job was also held,
    /// that cannot be known: it counts as held.
    pub fn is_suspended_by_operator(&self) -> bool {
        self.may_be_suspended_by_operator() && !self.on_hold
    }

    /// Whether it has devices, or will with its next start.
    pub fn holds_devices(&self) -> bool {
        self.holds_gres || !self.request.devices.is_empty()
    }

    /// Whether it is to have all memory of each of its nodes: it requested them whole, or no
    /// amount, or it starts so anyway.
    pub fn wants_whole_nodes(&self) -> bool {
        self.starts_whole || self.request.wants_whole_nodes()
    }

    /// Whether both make the same request, may use the same nodes for as long, and are both kept
    /// from running by an operator, or neither is.
    pub fn same_request(&self, other: &Self) -> bool {
        self.request == other.request
            && self.free_until_seconds == other.free_until_seconds
            && self.is_suspended_by_operator() == other.is_suspended_by_operator()
    }

    /// Whether Slurm counts its memory anywhere: not while it is parked.
    pub fn is_counted(&self) -> bool {
        self.places.iter().any(|place| place.memory_mib > 0)
    }

    /// Whether Slurm no longer counts its memory although its processes may still be there: Slurm
    /// gives it back when a job ends, not when they do.
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
    /// Of all CPUs, those that jobs of other partitions have for themselves.
    pub others_cpus: u32,
    /// MiB that jobs may use.
    pub memory: u64,
    /// MiB that Slurm counts as used.
    pub allocated_memory_mib: u64,
    /// Its devices, a kind once.
    pub devices: Vec<ObservedDevices>,
    /// Its `Weight`: Slurm takes nodes of the lowest first.
    pub weight: u32,
    /// The switch that it is connected to, where Slurm knows the network as a tree.
    pub leaf_switch: Option<Arc<str>>,
}

impl ObservedNode {
    /// Whether it takes nothing new, but what is there may run on.
    pub fn drains(&self) -> bool {
        !self.up && !self.down
    }

    /// CPUs that jobs may use now: what jobs of other partitions leave.
    pub fn cpus_left(&self) -> u32 {
        self.cpus
            .min(self.all_cpus.saturating_sub(self.others_cpus))
    }

    /// Whether it has so many devices.
    pub fn has_devices(&self, asked: &[RequestedDevices]) -> bool {
        asked.iter().all(|asked| {
            let devices = of_kind(&self.devices, &asked.kind);
            devices.map_or(0, |devices| devices.count) >= asked.count
        })
    }

    /// Whether it has more free devices of some kind than that one.
    pub(crate) fn has_more_devices_than(&self, before: &Self) -> bool {
        self.devices.iter().any(|devices| {
            let known = of_kind(&before.devices, &devices.kind);
            devices.free() > known.map_or(0, ObservedDevices::free)
        })
    }

    /// Whether it has another amount of memory (MiB) than a job is for, if the job is for one.
    pub(crate) fn has_other_size(&self, whole_node_mib: Option<u64>) -> bool {
        whole_node_mib.is_some_and(|size| self.memory != size)
    }
}
