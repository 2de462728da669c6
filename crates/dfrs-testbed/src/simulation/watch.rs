//! What must hold at every moment of a trial, and at its end.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::{Span, Time};
use dfrs_journal::{Tolerance, Validator};
use dfrs_proto::conf::Mode;
use dfrs_proto::journal::JournalEvent;

use super::caps::Caps;
use super::drains::DrainRule;
use super::driver::Driver;
use super::holders;
use super::reasons::ReasonRule;
use super::scenario::SECOND;
use super::thawed::Thawed;
use crate::model::acts::Act;
use crate::model::{ClusterModel, JobEntry, ProgramOutcome};
use dfrs_agent::slurm::port::LogLevel;
use dfrs_agent::slurm::records::ObservedState;

/// A job that could run and does not, is noticed after this.
const STARVATION_TIMEOUT: i64 = 400 * SECOND;
/// What an operator resumed is not stopped again for so long.
const RESUME_PROTECTION: i64 = 10 * SECOND;
/// A driver takes no longer to make an agent.
const AGENT_START_TIMEOUT: i64 = 5 * SECOND;
/// Orders that get lost are sent again, and may get lost again, for so long.
const LOSS_PERIOD: i64 = 40 * SECOND;
/// More error lines in a minute than this are a flood.
const MAX_ERRORS: usize = 60;
/// What may go wrong without DFRS being at fault, and is reported once or now and then.
const EXPECTED_ERRORS: [&str; 3] = [
    "dfrsd not responding",
    "no space left on device",
    "abort message to",
];

type BrokenRule = (&'static str, String);

/// What is remembered from one look to the next.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// Jobs that an operator suspended.
    suspended: BTreeSet<u32>,
    /// When an operator resumed a job.
    resumed: BTreeMap<u32, Time>,
    /// Jobs that Slurm's own backfill started last.
    by_backfill: BTreeSet<u32>,
    /// DFRS looks, and does nothing.
    is_shadow: bool,
    /// It schedules nothing, but may have to give back what it parked.
    is_off: bool,
    /// Since when no agent looks although DFRS is to.
    unwatched: Option<Time>,
    /// Since when a job could run.
    could_run: BTreeMap<u32, Time>,
    /// Since when a job runs in Slurm's eyes and is frozen on a node.
    frozen: BTreeMap<u32, Time>,
    errors: Vec<Time>,
    looked: Time,
    journal: WatchedJournal,
    caps: Caps,
    thawed: Thawed,
    drains: DrainRule,
    reasons: ReasonRule,
    /// Until then orders get lost.
    lossy: Time,
    /// Something happened after which images of jobs that are over may be left.
    may_leave_images: bool,
    /// Everything that was done and logged, if it is wanted.
    pub(super) transcript: Option<Vec<(Time, String)>>,
}

/// Reads a journal. How far a job is by it is not looked at.
#[derive(Debug)]
struct WatchedJournal(Validator);

impl Default for WatchedJournal {
    fn default() -> Self {
        Self(Validator::new(Tolerance {
            relative: 1.0,
            absolute: Span(i64::MAX / 2),
        }))
    }
}

impl Watch {
    pub(super) fn act(&mut self, act: &Act) {
        // It may have forgotten what operators said.
        if matches!(act, Act::Kill(_)) {
            self.suspended.clear();
            self.resumed.clear();
            self.reasons.forget();
        }
        self.may_leave_images |= matches!(
            act,
            Act::Kill(_)
                | Act::LoseState(_)
                | Act::DiskFull(_)
                | Act::Configure(_)
                | Act::MoveClock(_)
        );
        // By DFRS's time it is long ago then.
        if matches!(act, Act::MoveClock(by) if *by > 0) {
            self.resumed.clear();
        }
    }

    pub(super) fn healed(&mut self) {
        self.suspended.clear();
        self.could_run.clear();
    }

    pub(super) fn look(&mut self, driver: &Driver) -> Result<(), BrokenRule> {
        let mut model = driver.model().borrow_mut();
        let now = model.now();
        if let Some(fault) = model.take_faults().pop() {
            return Err(("calls are valid", fault));
        }
        self.is_shadow = driver.is_shadow();
        if model.take_gate_queries() > 0 && self.is_shadow {
            let what = "what writes jobs' reasons is asked although its mode is shadow".to_owned();
            return Err(("shadow acts on no job", what));
        }
        self.is_off = driver
            .config()
            .is_none_or(|config| config.mode != Mode::Full);
        for line in model.take_history() {
            self.write_down(now, &line);
            self.check_call(&line, &model)?;
            if driver.schedules() {
                moldable_jobs_are_left_alone(&line, &model, driver)?;
            }
        }
        for (level, line) in model.take_lines() {
            self.write_down(now, &line);
            self.read(level, &line, now)?;
        }
        memory_is_promised_once(&model)?;
        if let Some(what) = model.take_miscounts().pop() {
            return Err(("free devices are counted right", what));
        }
        holders::look(&model).map_err(|what| ("no device has two holders", what))?;
        for (line, event) in driver.take_journal() {
            self.follow(line, &event, now)?;
        }
        if now.0 - self.looked.0 >= SECOND {
            self.looked = now;
            self.frozen_jobs_are_suspended(&model)?;
            self.orders_are_enforced(driver, &model)?;
            self.throttled_jobs_are_restored(driver, &mut model)?;
            let drains = self.drains.look(&model, driver.schedules());
            drains.map_err(|what| ("drains say what is parked", what))?;
            drop(model);
            self.shadow_watches(driver)?;
            self.no_job_waits_for_idle_nodes(driver)?;
        }
        Ok(())
    }

    /// One event of the journal.
    fn follow(&mut self, line: usize, event: &JournalEvent, now: Time) -> Result<(), BrokenRule> {
        self.reasons
            .follow(event)
            .map_err(|what| ("the journal says why", what))?;
        self.journal.0.push(line, event);
        self.caps.follow(&event.kind);
        if self.transcript.is_some() {
            self.write_down(now, &format!("journal: {:?}", event.kind));
        }
        Ok(())
    }

    fn write_down(&mut self, now: Time, line: &str) {
        let transcript = self.transcript.iter_mut();
        transcript.for_each(|transcript| transcript.push((now, line.to_owned())));
    }

    /// One thing that was done to a job.
    fn check_call(&mut self, line: &str, model: &ClusterModel) -> Result<(), BrokenRule> {
        let Some(id) = job_in(line) else {
            return Ok(());
        };
        let job = model.jobs().get(&id);
        self.reasons.note_call(line, id);
        let word = line.split([' ', '(']).next().unwrap_or("");
        self.thawed.note_call(word, id, model.now());
        match word {
            "start" | "suspend" | "warn" | "requeue" if self.is_shadow => {
                let what = format!("job {id}: DFRS does '{word}' although its mode is shadow");
                return Err(("shadow acts on no job", what));
            }
            "start" | "warn" | "requeue" if self.is_off => {
                let what = format!("job {id}: DFRS does '{word}' although it is off");
                return Err(("disabled DFRS starts no job", what));
            }
            "operator:" if line.contains("Suspend") => {
                self.suspended.insert(id);
            }
            "operator:" => {
                self.suspended.remove(&id);
                if line.contains("Resume") && job.is_some_and(|job| job.seen.is_counted()) {
                    self.resumed.insert(id, model.now());
                }
            }
            "suspend" if job.is_some_and(|job| !job.devices.is_empty()) => {
                let what = format!("job {id} has devices and is suspended");
                return Err(("jobs with devices are not parked", what));
            }
            "resume" if self.suspended.contains(&id) => {
                let what = format!("job {id} was suspended by an operator and is resumed");
                return Err(("operators' suspensions hold", what));
            }
            "suspend" if self.was_just_resumed(id, model.now()) => {
                let what = format!("job {id} was just resumed by an operator and is suspended");
                return Err(("operators' suspensions hold", what));
            }
            "backfill" => {
                self.by_backfill.insert(id);
            }
            "start" => {
                self.by_backfill.remove(&id);
                self.may_start(id, job, model)?;
            }
            "duplicate" if !self.by_backfill.contains(&id) => {
                let what = format!("job {id} is started on a node that still runs it");
                return Err(("nothing runs twice", what));
            }
            "overlap" if !self.by_backfill.contains(&id) => {
                let what = format!("job {id} begins while another one that had its id still ends");
                return Err(("nothing runs twice", what));
            }
            "requeue" => {
                let program = job.and_then(|job| model.programs().get(&job.label));
                if program.is_some_and(|program| model.is_end_unreported(program)) {
                    let what = format!("job {id} ended while slurmctld was away, and is requeued");
                    return Err(("nothing runs twice", what));
                }
            }
            "lost" | "finished" | "limit" => {
                self.suspended.remove(&id);
            }
            _ => {}
        }
        Ok(())
    }

    fn was_just_resumed(&self, id: u32, now: Time) -> bool {
        let resumed = self.resumed.get(&id);
        resumed.is_some_and(|at| now.0 - at.0 < RESUME_PROTECTION)
    }

    fn may_start(
        &mut self,
        id: u32,
        job: Option<&JobEntry>,
        model: &ClusterModel,
    ) -> Result<(), BrokenRule> {
        self.suspended.remove(&id);
        let Some(job) = job else { return Ok(()) };
        let program = model.programs().get(&job.label);
        let over = program.is_some_and(|program| program.reported && !program.forgotten);
        if over {
            let what = format!("job {id} has done its work and is started again");
            return Err(("nothing runs twice", what));
        }
        Ok(())
    }

    fn read(&mut self, level: LogLevel, line: &str, now: Time) -> Result<(), BrokenRule> {
        if level != LogLevel::Error {
            return Ok(());
        }
        if !EXPECTED_ERRORS.iter().any(|text| line.contains(text)) {
            return Err(("no unexpected error", line.to_owned()));
        }
        self.errors.retain(|at| now.0 - at.0 < 60 * SECOND);
        self.errors.push(now);
        if self.errors.len() > MAX_ERRORS {
            return Err(("no flood of errors", line.to_owned()));
        }
        Ok(())
    }

    /// Orders that were sent to nodes are in force soon.
    fn orders_are_enforced(
        &mut self,
        driver: &Driver,
        model: &ClusterModel,
    ) -> Result<(), BrokenRule> {
        if model.loses_messages() {
            self.lossy = Time(model.now().0 + LOSS_PERIOD);
        }
        let config = driver.config().filter(|_| driver.schedules());
        let Some(config) = config.filter(|_| model.now() >= self.lossy && model.serves()) else {
            self.caps.forget();
            self.thawed.forget();
            return Ok(());
        };
        let caps = self.caps.look(model, config);
        caps.map_err(|what| ("caps are in force", what))?;
        let thawed = self.thawed.look(model);
        thawed.map_err(|what| ("what is counted is thawed", what))
    }

    /// A job that is counted with less than its request, and is held back, has its request back
    /// soon.
    fn throttled_jobs_are_restored(
        &self,
        driver: &Driver,
        model: &mut ClusterModel,
    ) -> Result<(), BrokenRule> {
        let is_applicable = driver.schedules() && model.serves() && model.now() >= self.lossy;
        match model.long_throttled_job(!is_applicable) {
            Some((job, seconds)) => {
                let what = format!("job {job} is held back for {seconds} s and counts with less");
                Err(("throttled jobs are restored", what))
            }
            None => Ok(()),
        }
    }

    /// No job stays frozen that Slurm shows as running.
    fn frozen_jobs_are_suspended(&mut self, model: &ClusterModel) -> Result<(), BrokenRule> {
        let now = model.now();
        let frozen = model.frozen_jobs();
        let wrong = |id: &u32| {
            let job = model.jobs().get(id);
            job.is_some_and(|job| job.seen.state == ObservedState::Running)
        };
        let wrong: BTreeSet<u32> = frozen.into_iter().filter(wrong).collect();
        self.frozen.retain(|id, _| wrong.contains(id));
        for id in wrong {
            let since = *self.frozen.entry(id).or_insert(now);
            if now.0 - since.0 > STARVATION_TIMEOUT {
                return Err((
                    "no job stays frozen",
                    format!("job {id} runs and is frozen"),
                ));
            }
        }
        Ok(())
    }

    /// In Mode=shadow DFRS watches, as soon as what it had parked is given back.
    fn shadow_watches(&mut self, driver: &Driver) -> Result<(), BrokenRule> {
        let model = driver.model().borrow();
        let is_missed = model.serves() && driver.is_shadow() && !driver.is_active();
        let since = self.unwatched.get_or_insert(model.now());
        if !is_missed {
            self.unwatched = None;
        } else if model.now().0 - since.0 > AGENT_START_TIMEOUT {
            let what = "it acts although the mode is shadow".to_owned();
            return Err(("shadow watches", what));
        }
        Ok(())
    }

    /// No job waits beside nodes that are idle.
    fn no_job_waits_for_idle_nodes(&mut self, driver: &Driver) -> Result<(), BrokenRule> {
        let model = driver.model().borrow();
        let config = driver.config().filter(|config| config.mode == Mode::Full);
        let serves = model.serves() && config.is_some() && driver.is_active();
        let now = model.now();
        let ours =
            |job: &&JobEntry| config.is_some_and(|config| config.schedules(&job.seen.partition));
        let could: BTreeSet<u32> = if serves {
            let jobs = model.jobs().values().filter(ours);
            let is_moldable = |job: &JobEntry| {
                config.is_some_and(|config| config.gives_whole_nodes(&job.seen.partition))
            };
            let jobs = jobs.filter(|job| {
                let waits = job.seen.state == ObservedState::Pending;
                if waits && is_moldable(job) {
                    model.could_start_on_whole_nodes(job)
                } else {
                    model.could_run_alone(job) || model.could_start_with_devices(job)
                }
            });
            jobs.map(|job| job.seen.id).collect()
        } else {
            BTreeSet::new()
        };
        self.could_run.retain(|id, _| could.contains(id));
        for id in could {
            let since = *self.could_run.entry(id).or_insert(now);
            if now.0 - since.0 > STARVATION_TIMEOUT {
                let what = format!("job {id} waits although no job uses the nodes that it needs");
                return Err(("no job waits for idle nodes", what));
            }
        }
        Ok(())
    }

    /// When all should be over.
    pub(super) fn end(&mut self, driver: &Driver) -> Result<(), BrokenRule> {
        let model = driver.model().borrow();
        let open = model
            .programs()
            .values()
            .find(|program| program.outcome == ProgramOutcome::Open);
        if let Some(program) = open {
            let job = model.jobs().get(&program.id);
            let what = match job {
                Some(job) => format!(
                    "job {} ({:?}, priority {}) does not finish",
                    job.seen.id, job.seen.state, job.seen.priority
                ),
                None => format!("submission {} was lost", program.submission.label),
            };
            return Err(("everything finishes", what));
        }
        if let Some(id) = model.frozen_jobs().into_iter().next() {
            return Err((
                "no job stays frozen",
                format!("job {id} is over and frozen"),
            ));
        }
        if let Some(id) = model
            .left_images()
            .first()
            .filter(|_| !self.may_leave_images)
        {
            let what = format!("job {id} is over, and its image is left");
            return Err(("images of jobs that are over are removed", what));
        }
        if driver.is_shadow_configured() && !driver.is_shadow() {
            let what = "what was parked is given back, and shadow mode has not begun".to_owned();
            return Err(("shadow watches", what));
        }
        let journal = std::mem::take(&mut self.journal);
        match journal.0.finish().into_iter().next() {
            Some(violation) => Err(("the journal is valid", violation.to_string())),
            None => Ok(()),
        }
    }
}

/// The job that something was done to.
fn job_in(line: &str) -> Option<u32> {
    let mut words = line.rsplit([' ', '(', ')']);
    words.find_map(|word| word.parse().ok())
}

/// Jobs of partitions with whole nodes have them for themselves, and are never paused or moved.
fn moldable_jobs_are_left_alone(
    line: &str,
    model: &ClusterModel,
    driver: &Driver,
) -> Result<(), BrokenRule> {
    let job = job_in(line).and_then(|id| model.jobs().get(&id));
    let is_moldable = |job: &&JobEntry| {
        let config = driver.config();
        config.is_some_and(|config| config.gives_whole_nodes(&job.seen.partition))
    };
    let Some(job) = job.filter(is_moldable) else {
        return Ok(());
    };
    let id = job.seen.id;
    match line.split([' ', '(']).next().unwrap_or("") {
        "start" if job.has_nodes() && model.shares_nodes(job) => {
            let what = format!("job {id} starts beside others");
            Err(("whole nodes have one job", what))
        }
        word @ ("suspend" | "release" | "warn" | "requeue") => {
            let what = format!("DFRS does '{word}' to job {id}, whose partition has whole nodes");
            Err(("moldable jobs are left alone", what))
        }
        _ => Ok(()),
    }
}

fn memory_is_promised_once(model: &ClusterModel) -> Result<(), BrokenRule> {
    for (node, resident) in model.nodes().iter().zip(model.resident()) {
        if resident > node.seen.memory {
            let what = format!(
                "jobs hold {resident} MB of {}'s {} MB",
                node.seen.name, node.seen.memory
            );
            return Err(("memory is promised once", what));
        }
    }
    Ok(())
}
