//! Compares what is desired with what the kernel says, and does what is missing.
//!
//! One [`Reconciler::tick`] looks at every job and takes each one step; nothing is assumed to have
//! worked, the next tick looks again. So lost messages, restarts (of this daemon, of Slurm, of the
//! job) and other programs' interference all mend in the same way.

use std::collections::BTreeMap;
use std::time::Duration;

use dfrs_proto::message::{JobState, NodeState, VERSION};
use dfrs_proto::report::{IntervalEnd, JobStatus, NodeStatus};

use crate::Now;
use crate::capacity::{CapacityOptions, Processors};
use crate::cgroup::{CgroupError, Cgroups, CpuUse, Freezer, JobDirectory, MemoryUse};
use crate::facts::Facts;
use crate::job::{FreezeStep, Hold, Job};
use crate::log::{self, Complaints};
use crate::measure::{MeasurementFile, Meter, Setting};
use crate::needs::{NeedMeter, cores};
use crate::orders::{Desired, Orders};
use crate::parking::{self, Parking};
use crate::quota::Quota;
use crate::reclaimer::{Outcome, Reclaimer, Request};
use crate::swap;

/// How often the node itself is looked at: its CPUs, its limits, its swap.
const NODE_INTERVAL: Duration = Duration::from_secs(1);

/// Why nothing is parked where there is swap that the kernel does not use.
const IGNORED_SWAP: &str = "vm.swappiness is 0, and this kernel cannot be told to swap parked jobs all the same \
    (Linux 6.11 can): no job is parked here; sysctl vm.swappiness=10";

/// What stays the same for the life of a daemon.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Slurm's name of the node.
    pub node: String,
    /// What the administrator says about its CPUs.
    pub capacity: CapacityOptions,
    /// The longest interval of a measurement.
    pub measure_period: Duration,
    /// As `/proc/swaps`.
    pub swaps: std::path::PathBuf,
    /// As `/sys/devices/system/cpu`.
    pub processors: std::path::PathBuf,
    /// What may stay in RAM of a parked job at most, in bytes.
    pub most_resident: u64,
    /// Running jobs may use swap beyond their memory.
    pub jobs_may_swap: bool,
}

/// See the module.
pub struct Reconciler {
    settings: Settings,
    cgroups: Box<dyn Cgroups>,
    facts: Facts,
    reclaimer: Box<dyn Reclaimer>,
    measurements: MeasurementFile,
    complaints: Complaints,
    jobs: BTreeMap<u32, Job>,
    leftovers: Vec<JobDirectory>,
    /// What looked like leftovers when the node was last looked at.
    suspects: Vec<JobDirectory>,
    /// A predecessor's traces were looked for.
    adopted: bool,
    /// When the node itself was looked at.
    node_seen: Option<Duration>,
    /// The node's CPUs, and the list of them by which they were looked up.
    processors: Option<(Option<String>, Processors)>,
    /// CPUs of the node as the orders count them.
    slurm_cpus: Option<u32>,
    capacity: f64,
    swap_bytes: u64,
    /// What was said: some job needs more than it counts with, and one needs less.
    news_of_needs: (bool, bool),
}

impl Reconciler {
    /// A reconciler that knows of no job yet.
    pub fn new(
        settings: Settings,
        cgroups: Box<dyn Cgroups>,
        facts: Facts,
        reclaimer: Box<dyn Reclaimer>,
        measurements: MeasurementFile,
    ) -> Reconciler {
        Reconciler {
            settings,
            cgroups,
            facts,
            reclaimer,
            measurements,
            complaints: Complaints::default(),
            jobs: BTreeMap::new(),
            leftovers: Vec::new(),
            suspects: Vec::new(),
            adopted: false,
            node_seen: None,
            processors: None,
            slurm_cpus: None,
            capacity: crate::capacity::MINIMUM_CORES,
            swap_bytes: 0,
            news_of_needs: (false, false),
        }
    }

    /// Brings the node one step nearer to what is desired. O(jobs + their processes).
    pub fn tick(&mut self, desired: &Desired<'_>, now: Now) {
        let found = self.cgroups.jobs();
        let Some(present) = self.complaints.check("jobs", found) else {
            return;
        };
        self.look_at_node(now);
        if matches!(desired, Desired::Wait) {
            return;
        }
        if !self.adopt_once(&present, now) {
            return;
        }
        match desired {
            Desired::Enforce(node) => {
                self.note_cpus(node);
                self.note_wanted(node, now);
            }
            Desired::Wait | Desired::Uncap => self.abandon_all(now),
        }
        for outcome in self.reclaimer.finished() {
            self.note_reclaim(outcome, now);
        }
        // Taken out, so that a job and the rest can be changed side by side.
        let mut jobs = std::mem::take(&mut self.jobs);
        for job in jobs.values_mut() {
            let directory = present.iter().find(|directory| directory.id == job.id);
            self.serve(job, directory, now);
        }
        jobs.retain(|_, job| job.is_wanted() || job.directory.is_some());
        self.jobs = jobs;
        self.say_news_of_needs();
        self.remove_leftovers(&present);
    }

    /// Lifts all caps, lets all jobs swap as Slurm does, removes all links (nobody answers there any
    /// more), and ends the measurements.
    /// What is frozen stays so, for Slurm does not know that we stop; notes tell a successor.
    pub fn release(&mut self, now: Now) {
        if let Ok(present) = self.cgroups.jobs() {
            self.adopt_once(&present, now);
        }
        self.abandon_all(now);
        let mut jobs = std::mem::take(&mut self.jobs);
        for job in jobs.values_mut() {
            let Some(directory) = job.directory.clone() else {
                continue;
            };
            if let Some(request) = job.reclaim.take() {
                request.cancel();
            }
            if job.is_held() {
                log::line(format_args!(
                    "job {} stays frozen: `scontrol resume` or the next dfrsd's orders wake it",
                    job.id
                ));
            }
            self.set_swap_allowed(job, &directory, true);
            self.apply_cap(job, &directory, now);
            self.read_meter(job, &directory, now);
            self.end_interval(job, self.cgroups.memory_use(&directory), IntervalEnd::Stop);
        }
        self.complaints.check("links", self.facts.remove_links());
    }

    /// What is enforced, for people and programs that ask.
    pub fn status(&self, orders: &Orders, now: Now) -> NodeStatus {
        NodeStatus {
            v: VERSION,
            software: Some(env!("CARGO_PKG_VERSION").to_owned()),
            node: self.settings.node.clone(),
            cgroup: self.cgroups.version().to_string(),
            generation: orders.generation(),
            heard_seconds_ago: orders
                .silence(now.monotonic)
                .map(|silence| silence.as_secs_f64()),
            time_to_live: orders.time_to_live(),
            failed_open: orders.desired(now.monotonic) == Desired::Uncap,
            capacity_cores: self.capacity,
            slurm_cpus: orders.slurm_cpus(),
            swap_bytes: self.swap_bytes,
            jobs: self.jobs.values().map(|job| self.job_status(job)).collect(),
        }
    }

    fn job_status(&self, job: &Job) -> JobStatus {
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
            parked: job.parking == Parking::Parked && !job.ended,
            cpu_seconds: cpu.used_seconds,
            throttled_seconds: cpu.throttled_seconds,
            resident_bytes: memory.resident,
            swap_bytes: memory.swapped,
            need: job.request.map(|_| job.need().eighths()),
        }
    }

    /// CPUs may go on- and offline and a container's limits may change while we run.
    fn look_at_node(&mut self, now: Now) {
        let fresh = |seen: Duration| now.monotonic.saturating_sub(seen) < NODE_INTERVAL;
        if self.node_seen.is_some_and(fresh) {
            return;
        }
        self.node_seen = Some(now.monotonic);
        self.look_for_leftovers();
        self.find_capacity();
        self.swap_bytes = self.swap_for_parking();
        self.complaints
            .check("swap.sock", self.facts.set_swap(self.swap_bytes > 0));
    }

    /// What shares are parts of; stays as it is where a limit cannot be read.
    fn find_capacity(&mut self) {
        let limit = self.cgroups.capacity_limit();
        let Some(limit) = self.complaints.check("capacity", limit) else {
            return;
        };
        let processors = self.processors();
        let options = self.settings.capacity;
        let most = options.capacity(processors.threads, limit);
        let capacity = options.within(most, &processors, self.slurm_cpus);
        self.compare_processors(&processors, limit);
        if capacity != self.capacity {
            log::line(format_args!(
                "node {} has {capacity} cores for jobs",
                self.settings.node
            ));
            self.capacity = capacity;
        }
    }

    /// Looked up anew only if there are others: each is a file.
    fn processors(&mut self) -> Processors {
        let of_root = self.cgroups.processors();
        let known = self.processors.as_ref();
        if let Some((_, known)) = known.filter(|(list, _)| *list == of_root) {
            return *known;
        }
        let processors = Processors::look(of_root.as_deref(), &self.settings.processors);
        self.processors = Some((of_root, processors));
        processors
    }

    /// Says once if Slurm counts other CPUs than there are and nobody has meant that.
    fn compare_processors(&mut self, processors: &Processors, limit: Option<f64>) {
        let cpus = self.slurm_cpus.unwrap_or(0);
        let is_meant = limit.is_some() || !self.settings.capacity.are_default();
        if is_meant || !processors.are_fewer_than(cpus) {
            self.complaints.settle("CPUs");
            return;
        }
        let text = format!(
            "Slurm counts {cpus} of this node, and jobs may run on {}: correct CPUs= in slurm.conf (slurmd -C), or give --cpu-capacity",
            processors.threads
        );
        self.complaints.note("CPUs", text);
    }

    /// Bytes of swap to park jobs in; 0 where none can be parked.
    fn swap_for_parking(&mut self) -> u64 {
        let swap = swap::read(&self.settings.swaps);
        let ignored = swap.outside > 0 && self.cgroups.ignores_swap();
        let trouble = if ignored {
            Some(IGNORED_SWAP)
        } else {
            swap.trouble()
        };
        match trouble {
            Some(trouble) => self.complaints.note("swap", trouble),
            None => self.complaints.settle("swap"),
        }
        let limit = self
            .complaints
            .check("swap limit", self.cgroups.swap_limit());
        match limit {
            Some(limit) if self.cgroups.can_reclaim() && !ignored => swap.usable(limit),
            _ => 0,
        }
    }

    /// Takes over what a predecessor left: caps, frozen jobs, directories of jobs that have ended.
    /// False if that cannot be seen now: then it is tried again before anything else.
    fn adopt_once(&mut self, present: &[JobDirectory], now: Now) -> bool {
        if self.adopted {
            return true;
        }
        let leftovers = self.complaints.check("leftovers", self.cgroups.leftovers());
        let frozen = self.complaints.check("notes", self.facts.frozen());
        let (Some(leftovers), Some(frozen)) = (leftovers, frozen) else {
            return false;
        };
        self.adopted = true;
        self.leftovers = leftovers;
        for directory in present {
            // A cap that cannot be read may be one.
            let capped = !matches!(self.cgroups.cap(directory), Ok(None));
            if capped || frozen.contains(&directory.id) {
                let mut job = Job::new(directory.id, now.monotonic);
                job.adopted = true;
                job.capped = capped;
                job.directory = Some(directory.clone());
                if frozen.contains(&directory.id) {
                    self.adopt_holds(&mut job, directory);
                }
                self.jobs.insert(job.id, job);
            }
        }
        for id in frozen {
            if present.iter().all(|directory| directory.id != id) {
                self.complaints
                    .check(format!("frozen.{id}"), self.facts.set_frozen(id, false));
            }
        }
        true
    }

    /// Takes over the freezing of a job that a predecessor noted; the note goes if somebody has
    /// thawed the job since, lest the next freezing, by Slurm, be taken for ours.
    fn adopt_holds(&mut self, job: &mut Job, directory: &JobDirectory) {
        let steps = self.cgroups.steps(directory);
        let Some(steps) = self.complaints.check(job.subject("steps"), steps) else {
            return;
        };
        // One that cannot be read may be frozen, and nobody else would thaw it.
        let frozen = |step: &_| !matches!(self.cgroups.freezer(step), Ok(Freezer::Thawed));
        job.holds = steps
            .into_iter()
            .filter(frozen)
            .map(|step| (step.name, Hold::Ours))
            .collect();
        job.frozen = job.is_held();
        if !job.frozen {
            self.complaints
                .check(job.subject("note"), self.facts.set_frozen(job.id, false));
        }
    }

    /// Shares are parts of these CPUs: where they are others, the capacity is found again.
    fn note_cpus(&mut self, wanted: &NodeState) {
        if self.slurm_cpus != Some(wanted.cpus) {
            self.slurm_cpus = Some(wanted.cpus);
            self.find_capacity();
        }
    }

    fn note_wanted(&mut self, wanted: &NodeState, now: Now) {
        let wanted: BTreeMap<u32, &JobState> =
            wanted.jobs.iter().map(|job| (job.id, job)).collect();
        for &id in wanted.keys() {
            self.jobs
                .entry(id)
                .or_insert_with(|| Job::new(id, now.monotonic));
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

    /// One job's turn. `directory`: where it is now, if it is here.
    fn serve(&mut self, job: &mut Job, directory: Option<&JobDirectory>, now: Now) {
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
        job.looked = Some(now.monotonic);
        self.apply_swap(job, directory);
        if job.frozen {
            if self.freeze(job, directory, now) {
                self.park(job, directory, now);
            } else {
                self.unpark(job);
            }
        } else {
            // The link first: nobody may believe it parked when it runs.
            self.unpark(job);
            self.thaw(job, directory);
        }
        let cap = self.apply_cap(job, directory, now);
        self.unbind(job, directory);
        self.measure(job, directory, cap, now);
    }

    /// A job that has no process here, because its last step here has ended or none has begun: it is parked
    /// as soon as it shall be, and said to have ended if that is asked. A step that was being launched when
    /// that was asked is let appear first.
    fn serve_absent(&mut self, job: &mut Job, now: Now) {
        if !job.frozen && !job.ended {
            self.unpark(job);
        } else if job.parking != Parking::Parked && job.is_quiet(now.monotonic) {
            let link = self.facts.set_parked(job.id, true);
            if self.complaints.check(job.subject("link"), link).is_some() {
                let what = if job.ended { "has ended" } else { "is parked" };
                log::line(format_args!("job {} {what}: nothing of it is here", job.id));
                job.parking = Parking::Parked;
            }
        }
    }

    /// Sets, changes or lifts the cap, as far as it differs from the kernel's; returns the kernel's.
    fn apply_cap(&mut self, job: &mut Job, directory: &JobDirectory, now: Now) -> Option<Quota> {
        let cap_of = match job.spans_nodes {
            true => Quota::in_short_periods,
            false => Quota::of,
        };
        let wanted = job.share.map(|share| cap_of(share, self.capacity));
        if wanted.is_none() && !job.capped {
            return None;
        }
        let subject = job.subject("cap");
        let actual = self
            .complaints
            .check(&subject, self.cgroups.cap(directory))?;
        // What cannot be seen, the weight, may be ours even where the cap is not (any more).
        if actual != wanted || wanted.is_none() {
            job.capped = true;
            self.complaints
                .check(&subject, self.cgroups.set_cap(directory, wanted))?;
        }
        job.capped = wanted.is_some();
        if job.capped {
            let moved = self.cgroups.gather(directory);
            if self
                .complaints
                .check(job.subject("processes"), moved)
                .is_some_and(|moved| moved > 0)
            {
                // They may have started others in between.
                job.changed = now.monotonic;
            }
        }
        wanted
    }

    /// A cap is time on any core: a job of DFRS is not held to the cores that Slurm has bound it to, which others
    /// of the node may be bound to as well. Who is no longer wanted keeps what it has.
    fn unbind(&mut self, job: &mut Job, directory: &JobDirectory) {
        if !job.is_wanted() {
            return;
        }
        let result = self.cgroups.unbind(directory);
        let changed = self.complaints.check(job.subject("cores"), result);
        if changed.is_some_and(|changed| changed > 0) && !job.unbound {
            log::line(format_args!(
                "job {} was bound to some cores by Slurm (ConstrainCores), and may use all",
                job.id
            ));
            job.unbound = true;
        }
    }

    /// A running job's memory is its own trouble beyond what it asked for; a parked one's goes to
    /// swap. What orders no longer name is as Slurm made it. Silence changes nothing for who runs: what a
    /// job has put into swap meanwhile would not come back when orders are heard again.
    fn apply_swap(&mut self, job: &mut Job, directory: &JobDirectory) {
        if job.frozen || !job.abandoned {
            let allowed = job.frozen || !job.is_wanted() || self.settings.jobs_may_swap;
            self.set_swap_allowed(job, directory, allowed);
        }
    }

    fn set_swap_allowed(&mut self, job: &mut Job, directory: &JobDirectory, allowed: bool) {
        let ours = job.is_wanted() || job.adopted || job.swap_allowed.is_some();
        if !ours || job.swap_allowed == Some(allowed) {
            return;
        }
        let result = self.cgroups.set_swap_allowed(directory, allowed);
        if self.complaints.check(job.subject("swap"), result) == Some(true) {
            job.swap_allowed = Some(allowed);
        }
    }

    /// Freezes the steps that are not, unless nobody wants it any more; true when all are frozen.
    fn freeze(&mut self, job: &mut Job, directory: &JobDirectory, now: Now) -> bool {
        let result = self.freeze_steps(job, directory, now);
        self.complaints
            .check(job.subject("freezing"), result)
            .unwrap_or(false)
    }

    fn freeze_steps(
        &mut self,
        job: &mut Job,
        directory: &JobDirectory,
        now: Now,
    ) -> Result<bool, CgroupError> {
        let steps = self.cgroups.steps(directory)?;
        let mut all_frozen = !steps.is_empty();
        for step in &steps {
            let state = self.cgroups.freezer(step)?;
            all_frozen &= state == Freezer::Frozen;
            let known = job.holds.get(&step.name).copied();
            let hold = match Hold::next(known, state, now.monotonic) {
                FreezeStep::Note(hold) => hold,
                FreezeStep::Freeze if job.abandoned => continue,
                FreezeStep::Freeze => {
                    // The note first: a crash in between must not leave a job frozen for ever.
                    self.complaints
                        .check(job.subject("note"), self.facts.set_frozen(job.id, true));
                    self.cgroups.set_frozen(step, true)?;
                    Hold::Ours
                }
            };
            if hold.is_released() && !known.is_some_and(Hold::is_released) {
                log::line(format_args!(
                    "job {} {}: thawed by somebody else, left so for a while",
                    job.id, step.name
                ));
            }
            job.holds.insert(step.name.clone(), hold);
        }
        Ok(all_frozen)
    }

    /// Thaws what we froze, and forgets how the steps came to be frozen.
    fn thaw(&mut self, job: &mut Job, directory: &JobDirectory) {
        if job.holds.is_empty() {
            return;
        }
        let result = self.thaw_steps(job, directory);
        if self
            .complaints
            .check(job.subject("thawing"), result)
            .is_some()
        {
            job.holds.clear();
            self.complaints
                .check(job.subject("note"), self.facts.set_frozen(job.id, false));
        }
    }

    fn thaw_steps(&self, job: &Job, directory: &JobDirectory) -> Result<(), CgroupError> {
        for step in self.cgroups.steps(directory)? {
            let ours = job.holds.get(&step.name) == Some(&Hold::Ours);
            if ours && self.cgroups.freezer(&step)? != Freezer::Thawed {
                self.cgroups.set_frozen(&step, false)?;
            }
        }
        Ok(())
    }

    /// Reclaims a frozen job's memory, as often as it takes.
    fn park(&mut self, job: &mut Job, directory: &JobDirectory, now: Now) {
        let due = match job.parking {
            Parking::Running => true,
            Parking::Retry { at } => now.monotonic >= at,
            Parking::Reclaiming | Parking::Parked => false,
        };
        if due {
            let memory = self.cgroups.memory_use(directory).total();
            job.memory_when_frozen = job.memory_when_frozen.max(memory);
            let request = Request::new(directory.clone());
            self.reclaimer.request(request.clone());
            job.reclaim = Some(request);
            job.parking = Parking::Reclaiming;
        }
    }

    /// The job runs, or is about to.
    fn unpark(&mut self, job: &mut Job) {
        if let Some(request) = job.reclaim.take() {
            request.cancel();
        }
        // One that shall stay frozen had so much before what was reclaimed of it, file pages included.
        if !job.frozen {
            job.memory_when_frozen = None;
        }
        if std::mem::replace(&mut job.parking, Parking::Running) == Parking::Parked {
            log::line(format_args!("job {} is no longer parked", job.id));
            self.complaints
                .check(job.subject("link"), self.facts.set_parked(job.id, false));
        }
    }

    fn note_reclaim(&mut self, (request, result): Outcome, now: Now) {
        let job = self
            .jobs
            .get_mut(&request.job.id)
            .filter(|_| !request.is_cancelled());
        let Some(job) = job else { return };
        job.reclaim = None;
        job.parking = Parking::Retry {
            at: now.monotonic + parking::RETRY_AFTER,
        };
        let Some(reclaimed) = self.complaints.check(job.subject("reclaim"), result) else {
            return;
        };
        let before = job.memory_when_frozen.unwrap_or(reclaimed.before);
        let mebibytes = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        let (was, is) = (mebibytes(before), mebibytes(reclaimed.after));
        if !parking::is_out_of_memory(before, reclaimed.after, self.settings.most_resident) {
            let text = format!(
                "{is:.1} of {was:.1} MiB stay in RAM; is there enough free swap, and ConstrainSwapSpace=no in cgroup.conf?"
            );
            self.complaints.note(job.subject("parking"), text);
            return;
        }
        if self
            .complaints
            .check(job.subject("link"), self.facts.set_parked(job.id, true))
            .is_some()
        {
            self.complaints.settle(&job.subject("parking"));
            log::line(format_args!(
                "job {} is parked: of {was:.1} MiB {is:.1} stay in RAM",
                job.id
            ));
            job.parking = Parking::Parked;
        }
    }

    fn measure(&mut self, job: &mut Job, directory: &JobDirectory, cap: Option<Quota>, now: Now) {
        let setting = Setting {
            share: job.share.map(|share| share.fraction()),
            cap_cores: cap.map(Quota::cores),
            capacity_cores: self.capacity,
            frozen: job.frozen,
        };
        let reading = self.cgroups.cpu_use(directory);
        if let Some(meter) = &mut job.meter {
            meter.read(now, reading);
        }
        self.follow_need(job, reading, now);
        let period = self.settings.measure_period;
        if let Some(reason) = job
            .meter
            .as_ref()
            .and_then(|meter| meter.ends(&setting, now, period))
        {
            self.end_interval(job, self.cgroups.memory_use(directory), reason);
        }
        if job.meter.is_none() {
            job.meter = Meter::start(setting, now, reading);
        }
    }

    /// What the job needs, if that is asked and it runs; who comes back, or asked for something else, is
    /// measured anew.
    fn follow_need(&mut self, job: &mut Job, reading: CpuUse, now: Now) {
        let request = job.request.filter(|_| !job.frozen);
        let request = request.map(|share| cores(share.fraction() * self.capacity));
        let is_same = |meter: &NeedMeter| Some(meter.request()) == request;
        match &mut job.needs {
            Some(meter) if is_same(meter) => meter.read(now.monotonic, reading, job.capped),
            needs => {
                *needs =
                    request.and_then(|request| NeedMeter::start(request, now.monotonic, reading));
            }
        }
        self.say_need(job);
    }

    fn say_need(&mut self, job: &mut Job) {
        let (before, need) = (job.said_need, job.need());
        if before == need {
            return;
        }
        let said = self.facts.set_need(job.id, before, need);
        if self.complaints.check(job.subject("need"), said).is_some() {
            job.said_need = need;
        }
    }

    /// Whether there is a job to ask about.
    fn say_news_of_needs(&mut self) {
        let news = self.jobs.values().map(Job::has_news_of_need);
        let news = news.fold((false, false), |all, one| (all.0 | one.0, all.1 | one.1));
        if news == self.news_of_needs {
            return;
        }
        let said = self.facts.set_news_of_needs(news.0, news.1);
        if self.complaints.check("news of needs", said).is_some() {
            self.news_of_needs = news;
        }
    }

    fn read_meter(&self, job: &mut Job, directory: &JobDirectory, now: Now) {
        if let Some(meter) = &mut job.meter {
            meter.read(now, self.cgroups.cpu_use(directory));
        }
    }

    fn end_interval(&mut self, job: &mut Job, memory: MemoryUse, reason: IntervalEnd) {
        if let Some(meter) = job.meter.take() {
            let measurement = meter.finish(&self.settings.node, job.id, memory, reason);
            self.complaints
                .check("measurements", self.measurements.append(&measurement));
        }
    }

    fn job_ended(&mut self, job: &mut Job, directory: JobDirectory) {
        self.end_interval(job, MemoryUse::default(), IntervalEnd::End);
        self.unpark(job);
        job.memory_when_frozen = None;
        job.needs = None;
        self.say_need(job);
        job.holds.clear();
        job.adopted = false;
        job.capped = false;
        job.swap_allowed = None;
        job.unbound = false;
        self.complaints
            .check(job.subject("note"), self.facts.set_frozen(job.id, false));
        self.complaints.settle_all(&job.subject(""));
        self.leftovers.push(directory);
    }

    /// Of a job whose cap was lifted, and that no orders named since this daemon began, nothing is known here,
    /// but its directory may be ours. It has to look ended twice: Slurm makes and removes the directories of
    /// a job one after the other.
    fn look_for_leftovers(&mut self) {
        if !self.adopted {
            return;
        }
        let found = self.cgroups.leftovers();
        let found = self
            .complaints
            .check("leftovers", found)
            .unwrap_or_default();
        let known = |directory: &&JobDirectory| !self.leftovers.contains(directory);
        let sure = self.suspects.iter().filter(|job| found.contains(job));
        let new: Vec<JobDirectory> = sure.filter(known).cloned().collect();
        self.leftovers.extend(new);
        self.suspects = found;
    }

    /// What is still busy is tried again at the next tick; what Slurm uses again is not ours.
    fn remove_leftovers(&mut self, present: &[JobDirectory]) {
        let leftovers = std::mem::take(&mut self.leftovers);
        let old = leftovers.into_iter().filter(|job| !present.contains(job));
        self.leftovers = old.filter(|job| !self.cgroups.forget(job)).collect();
    }
}

#[cfg(test)]
mod tests;
