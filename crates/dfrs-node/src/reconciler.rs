//! Compares what is desired with the state in the kernel, and does what is missing.
//!
//! One [`Reconciler::tick`] looks at every job and takes each one step; nothing is assumed to have
//! worked, the next tick looks again. So lost messages, restarts (of this daemon, of Slurm, of the
//! job) and other programs' interference all mend in the same way.

mod adopt;
mod cap;
mod carry;
mod cores;
mod end;
mod freeze;
mod node;
mod park;
mod usage;

use std::collections::BTreeMap;
use std::time::Duration;

use cores::HeldCores;
use dfrs_node_proto::report::{IntervalEnd, JobStatus, NodeStatus};
use dfrs_proto::message::{JobOrder, NodeOrder, Share, VERSION};

use crate::Now;
use crate::capacity::{CapacityOptions, Processors};
use crate::carry::CarryWorker;
use crate::cgroup::core_set::CoreSet;
use crate::cgroup::process::ProcessTable;
use crate::cgroup::{
    CgroupDriver, CgroupError, CpuUse, Freezer, JobDirectory, MemoryUse, StepDirectory,
};
use crate::facts::{FactsDirectory, JobFact};
use crate::job::{FreezeStep, FrozenBy, NodeJob};
use crate::log::{self, ActiveWarnings};
use crate::measure::{MeasurementFile, Meter, Setting};
use crate::needs::{NeedMeter, cores};
use crate::orders::{Desired, Orders};
use crate::parking::{self, Parking};
use crate::quota::Quota;
use crate::reclaimer::{ReclaimOutcome, ReclaimRequest, Reclaimer};
use crate::swap;

/// How often the node itself is looked at: its CPUs, its limits, its swap.
const NODE_INTERVAL: Duration = Duration::from_secs(1);

/// How often it is looked whether a job of which no directory is found has ended: all processes are looked at.
const ABSENCE_INTERVAL: Duration = Duration::from_secs(1);

/// What problems with directories of jobs that have ended are about.
const LEFTOVERS: &str = "left-over job cgroups";

/// Why a job of which nothing is found is not reported as gone.
const NO_DIRECTORY: &str = "a slurmstepd of it runs, and no directory of its cgroups is found: it does not count as parked \
    or ended; check ProctrackType=proctrack/cgroup, CgroupPlugin and CgroupSlice";
const HIDDEN_PROCESSES: &str = "no directory of it is found, and /proc does not show all processes: it does not count as \
    parked or ended; let dfrsd see them (hidepid=, gid= of proc(5))";

/// What stays the same for the life of a daemon.
#[derive(Debug, Clone)]
pub struct ReconcilerSettings {
    /// Slurm's name of the node.
    pub node: String,
    /// What the administrator sets about its CPUs.
    pub capacity: CapacityOptions,
    /// The longest interval of a measurement.
    pub measure_period: Duration,
    /// As `/proc/swaps`.
    pub swaps: std::path::PathBuf,
    /// As `/proc/meminfo`.
    pub meminfo: std::path::PathBuf,
    /// As `/sys/module/zswap/parameters/enabled`.
    pub zswap: std::path::PathBuf,
    /// As `/proc`.
    pub processes: std::path::PathBuf,
    /// As `/sys/devices/system/cpu`.
    pub processors: std::path::PathBuf,
    /// What may stay in RAM of a parked job at most, in bytes.
    pub max_resident_bytes: u64,
    /// Running jobs may use swap beyond their memory.
    pub jobs_may_swap: bool,
}

/// See the module.
pub struct Reconciler {
    settings: ReconcilerSettings,
    cgroups: Box<dyn CgroupDriver>,
    processes: ProcessTable,
    facts: FactsDirectory,
    reclaimer: Box<dyn Reclaimer>,
    /// Carries jobs; none: this node does not.
    images: Option<Box<dyn CarryWorker>>,
    measurements: MeasurementFile,
    warnings: ActiveWarnings,
    jobs: BTreeMap<u32, NodeJob>,
    leftovers: Vec<JobDirectory>,
    /// What looked like leftovers when the node was last looked at.
    leftover_candidates: Vec<JobDirectory>,
    /// A predecessor's traces were looked for.
    adopted: bool,
    /// When the node itself was looked at.
    node_checked_at: Option<Duration>,
    /// The node's CPUs, and the list of them by which they were looked up.
    processors: Option<(Option<String>, Processors)>,
    /// CPUs of the node as the orders count them.
    slurm_cpus: Option<u32>,
    held_cores: HeldCores,
    capacity_cores: f64,
    swap_bytes: u64,
    /// Bytes of swap outside of RAM that are free.
    free_swap_bytes: u64,
    /// Bytes of swap that the orders request.
    requested_swap_bytes: Option<u64>,
    /// What was published of that, in eighths.
    reported_eighths: Option<u8>,
    /// Bytes that Slurm has for jobs, by the orders.
    slurm_memory_bytes: Option<u64>,
    /// Bytes for what parked jobs keep in RAM.
    spare_memory_bytes: u64,
    /// How often in a row there may have been jobs that are not seen.
    unseen_checks: u32,
    /// What was published: some job needs more than it counts with, and one needs less.
    reported_need_changes: (bool, bool),
}

impl Reconciler {
    /// A reconciler that knows of no job yet.
    pub fn new(
        settings: ReconcilerSettings,
        cgroups: Box<dyn CgroupDriver>,
        facts: FactsDirectory,
        reclaimer: Box<dyn Reclaimer>,
        measurements: MeasurementFile,
    ) -> Reconciler {
        Reconciler {
            processes: ProcessTable::new(&settings.processes),
            settings,
            cgroups,
            facts,
            reclaimer,
            images: None,
            measurements,
            warnings: ActiveWarnings::default(),
            jobs: BTreeMap::new(),
            leftovers: Vec::new(),
            leftover_candidates: Vec::new(),
            adopted: false,
            node_checked_at: None,
            processors: None,
            slurm_cpus: None,
            held_cores: HeldCores::default(),
            capacity_cores: crate::capacity::MIN_CORES,
            swap_bytes: 0,
            free_swap_bytes: 0,
            requested_swap_bytes: None,
            reported_eighths: None,
            slurm_memory_bytes: None,
            spare_memory_bytes: 0,
            unseen_checks: 0,
            reported_need_changes: (false, false),
        }
    }

    /// Has jobs carried by this worker.
    #[must_use]
    pub fn with_images(mut self, worker: Box<dyn CarryWorker>) -> Reconciler {
        self.images = Some(worker);
        self
    }

    /// Brings the node one step nearer to what is desired. O(jobs + their processes).
    pub fn tick(&mut self, desired: &Desired<'_>, now: Now) {
        let found = self.cgroups.jobs();
        let Some(present) = self.warnings.check("jobs", found) else {
            return;
        };
        self.check_node(now);
        if !self.adopt_once(&present, now) {
            return;
        }
        if matches!(desired, Desired::Wait) {
            self.give_back_to_thawed();
            return;
        }
        match desired {
            Desired::Enforce(node) => {
                self.note_cpus(node);
                self.note_memory(node);
                self.note_wanted(node, now);
            }
            Desired::Wait | Desired::Uncap => self.abandon_all(now),
        }
        self.find_held_cores(&present, now);
        for outcome in self.reclaimer.finished() {
            self.note_reclaim(outcome, now);
        }
        self.note_carried(now);
        // Taken out, so that a job and the rest can be changed side by side.
        let mut jobs = std::mem::take(&mut self.jobs);
        for job in jobs.values_mut() {
            let directory = present.iter().find(|directory| directory.id == job.id);
            self.serve(job, directory, now);
        }
        jobs.retain(|_, job| job.is_wanted() || job.directory.is_some());
        self.jobs = jobs;
        self.report_need_changes();
        self.remove_leftovers(&present);
    }

    /// Lifts all caps, gives all memory limits back, lets all jobs swap as Slurm does, removes all
    /// links (no daemon answers there any more), and ends the measurements. What is frozen stays
    /// so, for Slurm does not know that we stop; notes inform a successor.
    pub fn release(&mut self, now: Now) {
        if let Ok(present) = self.cgroups.jobs() {
            self.adopt_once(&present, now);
        }
        self.abandon_all(now);
        for request in self.jobs.values_mut().filter_map(|job| job.reclaim.take()) {
            request.cancel();
        }
        self.reclaimer.stop();
        let mut jobs = std::mem::take(&mut self.jobs);
        for job in jobs.values_mut() {
            let Some(directory) = job.directory.clone() else {
                continue;
            };
            self.give_limit_back(job);
            if job.has_frozen_step() {
                log::line(format_args!(
                    "{} stays frozen: `scontrol resume` or the next dfrsd's orders thaw it",
                    log::job(job.id)
                ));
            }
            self.set_swap_allowed(job, &directory, true);
            self.apply_cap(job, &directory, now);
            self.read_meter(job, &directory, now);
            self.end_interval(job, self.cgroups.memory_use(&directory), IntervalEnd::Stop);
        }
        self.warnings.check("links", self.facts.remove_links());
    }

    /// What is enforced, for `dfrsd status` and programs.
    pub fn status(&self, orders: &Orders, now: Now) -> NodeStatus {
        NodeStatus {
            v: VERSION,
            software: Some(env!("CARGO_PKG_VERSION").to_owned()),
            node: self.settings.node.clone(),
            cgroup: self.cgroups.version().to_string(),
            generation: orders.generation(),
            heard_seconds_ago: orders
                .age(now.monotonic)
                .map(|silence| silence.as_secs_f64()),
            time_to_live: orders.time_to_live(),
            failed_open: orders.desired(now.monotonic) == Desired::Uncap,
            capacity_cores: self.capacity_cores,
            slurm_cpus: orders.slurm_cpus(),
            swap_bytes: self.swap_bytes,
            jobs: self.jobs.values().map(|job| self.job_status(job)).collect(),
            troubles: self
                .warnings
                .reported()
                .iter()
                .map(|(subject, text)| format!("{subject}: {text}"))
                .collect(),
        }
    }

    fn job_status(&self, job: &NodeJob) -> JobStatus {
        let directory = job.directory.as_ref();
        let cpu = directory
            .map(|directory| self.cgroups.cpu_use(directory))
            .unwrap_or_default();
        let memory = directory
            .map(|directory| self.cgroups.memory_use(directory))
            .unwrap_or_default();
        let cap = directory.and_then(|directory| self.cgroups.cap(directory).ok().flatten());
        JobStatus {
            id: job.id,
            share: job.share.map(|share| share.fraction()),
            cap_cores: cap.map(Quota::cores),
            present: directory.is_some(),
            frozen: job.frozen,
            parked: job.published.contains(&JobFact::Imaged)
                || (job.parking == Parking::Parked && !job.ended),
            cpu_seconds: cpu.used_seconds,
            throttled_seconds: cpu.throttled_seconds,
            resident_bytes: memory.resident_bytes,
            swap_bytes: memory.swapped_bytes,
            need: job.request.map(|_| job.need().eighths()),
            limit_bytes: job.limit.and_then(|note| note.parked_bytes),
        }
    }

    /// Shares are parts of these CPUs: where they are others, the capacity is found again.
    fn note_cpus(&mut self, wanted: &NodeOrder) {
        if self.slurm_cpus != Some(wanted.cpus) {
            self.slurm_cpus = Some(wanted.cpus);
            self.find_capacity();
        }
    }

    fn note_memory(&mut self, wanted: &NodeOrder) {
        if (self.slurm_memory_bytes, self.requested_swap_bytes) != (wanted.memory, wanted.swap) {
            (self.slurm_memory_bytes, self.requested_swap_bytes) = (wanted.memory, wanted.swap);
            self.node_checked_at = None;
        }
    }

    fn note_wanted(&mut self, wanted: &NodeOrder, now: Now) {
        let wanted: BTreeMap<u32, &JobOrder> =
            wanted.jobs.iter().map(|job| (job.id, job)).collect();
        for &id in wanted.keys() {
            self.jobs
                .entry(id)
                .or_insert_with(|| NodeJob::new(id, now.monotonic));
        }
        for job in self.jobs.values_mut() {
            job.want(wanted.get(&job.id).copied(), now.monotonic);
        }
    }

    fn abandon_all(&mut self, now: Now) {
        for job in self.jobs.values_mut() {
            job.abandon(now.monotonic);
        }
    }

    /// Brings one job to its orders. `directory`: where it is now, if it is here.
    fn serve(&mut self, job: &mut NodeJob, directory: Option<&JobDirectory>, now: Now) {
        if job.directory.as_ref() != directory {
            if let Some(known) = job.directory.take() {
                self.job_ended(job, known);
            }
            job.directory = directory.cloned();
            job.changed = now.monotonic;
        }
        let Some(directory) = directory else {
            self.serve_absent(job, now);
            return;
        };
        if !job.is_due(now.monotonic) {
            return;
        }
        job.checked_at = Some(now.monotonic);
        if self.carry(job, now) {
            self.apply_swap(job, directory);
        } else if job.frozen {
            self.apply_swap(job, directory);
            if self.freeze(job, directory, now) {
                self.park(job, directory, now);
            } else {
                self.interrupt_parking(job);
            }
        } else {
            self.unpark(job);
            // After its memory limit, to which v1's limit on swap is bound.
            self.apply_swap(job, directory);
            self.thaw(job, directory);
        }
        self.end_leftover_processes(job, directory, now);
        let cap = self.apply_cap(job, directory, now);
        self.unbind(job, directory);
        self.measure(job, directory, cap, now);
    }

    /// A job that has no process here, because its last step here has ended or none has begun: it
    /// is parked as soon as it shall be, and reported as ended if orders request that. A step that
    /// was being launched when that was requested is let appear first. That no directory of it was
    /// found is not enough: no process may be its `slurmstepd` either.
    fn serve_absent(&mut self, job: &mut NodeJob, now: Now) {
        if !job.frozen && !job.ended {
            self.unpark(job);
            self.publish(job, JobFact::Void, false);
            return;
        }
        let is_image_left = job.image_is_void && !job.published.contains(&JobFact::Void);
        let is_done = job.parking == Parking::Parked && !is_image_left;
        let is_due = |looked| now.monotonic.saturating_sub(looked) >= ABSENCE_INTERVAL;
        let is_due = job.checked_at.is_none_or(is_due);
        if is_done || !job.is_quiet(now.monotonic) || !is_due {
            return;
        }
        job.checked_at = Some(now.monotonic);
        // There is no image of it, and nothing from which it could go on.
        if job.wants_image() || !self.is_surely_absent(job) {
            return;
        }
        if is_image_left {
            self.discard_image(job, now);
        }
        if job.parking == Parking::Parked {
            return;
        }
        let link = self.facts.set_of_job(job.id, JobFact::Parked, true);
        if self.warnings.check(job.subject("link"), link).is_some() {
            let what = if job.ended { "ended" } else { "parked" };
            log::line(format_args!(
                "{}: no process on this node; reported as {what}",
                log::job(job.id)
            ));
            job.parking = Parking::Parked;
        }
    }

    /// Publishes whether something holds of the job, unless that is published already. Returns
    /// whether what is published is so.
    fn publish(&mut self, job: &mut NodeJob, fact: JobFact, holds: bool) -> bool {
        if job.published.contains(&fact) == holds {
            return true;
        }
        let link = self.facts.set_of_job(job.id, fact, holds);
        let is_done = self.warnings.check(job.subject("link"), link).is_some();
        if is_done {
            match holds {
                true => job.published.insert(fact),
                false => job.published.remove(&fact),
            };
        }
        is_done
    }

    /// Whether a second check confirms it, and could know.
    fn is_surely_absent(&mut self, job: &NodeJob) -> bool {
        let subject = job.subject("absence");
        let trouble = match self.cgroups.unseen_processes() {
            Ok(Some(text)) => Some(text),
            Err(error) => Some(error.to_string()),
            Ok(None) if !self.processes.is_complete() => Some(HIDDEN_PROCESSES.to_owned()),
            Ok(None) => match self.processes.has_step_daemon(job.id) {
                Ok(false) => None,
                Ok(true) => Some(NO_DIRECTORY.to_owned()),
                Err(error) => Some(error.to_string()),
            },
        };
        match trouble {
            None => {
                self.warnings.clear(&subject);
                true
            }
            Some(text) => {
                self.warnings.note(subject, text);
                false
            }
        }
    }
}

#[cfg(test)]
mod tests;
