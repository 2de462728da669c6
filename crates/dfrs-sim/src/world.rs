//! The world of DFRS: discrete events between which progress is fluid. It carries out what
//! `dfrs_core::decide_mappings` says.

mod audit;
mod events;
mod settle;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use dfrs_core::policy::Submission;
use dfrs_core::{
    Cluster, Job, JobId, JobState, Mapping, Mobility, Periodic, Policy, Roster, Span, Time,
    Trigger, Yield, allocate_running_yields, decide_mappings,
};

use crate::journal::{Journal, position};
use crate::outcome::{JobRecord, Outcome};
use crate::simulate::{LAST, Settings, SimulationError};
use crate::trace::{Trace, platform};
use crate::work::Progress;
use events::Happened;

/// After so many periods in which no job made progress, none ever will.
const IDLE_PERIODS: u32 = 1000;

/// Simulates the trace.
pub(crate) fn run<'a>(
    trace: &'a Trace,
    policy: Policy,
    settings: &Settings,
    mut journal: Journal<'a>,
) -> Result<Outcome, SimulationError> {
    let period = policy.is_periodic().then_some(policy.settings.period);
    journal.platform(policy.to_string(), period, settings.nodes)?;
    World::new(trace, policy, settings, journal).run()
}

struct World<'a> {
    trace: &'a Trace,
    policy: Policy,
    settings: Settings,
    journal: Journal<'a>,
    /// The jobs in the system; a job's identity is its position in the trace.
    system: Roster,
    /// Of each job that was submitted.
    progress: Vec<Progress>,
    outcome: Outcome,
    /// When jobs that were not placed are submitted anew, and how often each was tried.
    retries: BTreeSet<(Time, JobId)>,
    tries: BTreeMap<JobId, u32>,
    idle_periods: u32,
    /// What this instant has changed: the states before it.
    before: BTreeMap<JobId, JobState>,
    /// The shares at its end.
    shares: Vec<(JobId, Yield)>,
}

impl<'a> World<'a> {
    fn new(trace: &'a Trace, policy: Policy, settings: &Settings, journal: Journal<'a>) -> Self {
        let outcome = Outcome {
            jobs: vec![JobRecord::default(); trace.jobs.len()],
            ..Outcome::default()
        };
        let mut nodes = platform(settings.nodes);
        for node in &mut nodes {
            node.swap = settings.swap;
        }
        Self {
            trace,
            policy,
            settings: *settings,
            journal,
            system: Roster::new(Cluster {
                nodes,
                jobs: Vec::new(),
            }),
            progress: Vec::with_capacity(trace.jobs.len()),
            outcome,
            retries: BTreeSet::new(),
            tries: BTreeMap::new(),
            idle_periods: 0,
            before: BTreeMap::new(),
            shares: Vec::new(),
        }
    }

    /// One instant after the other: first all its events, then the decisions, then what they come to
    /// together.
    fn run(mut self) -> Result<Outcome, SimulationError> {
        let mut now = Time(i64::MIN);
        while let Some(next) = self.next_instant(now) {
            let is_new = next > now;
            now = next;
            if now > LAST {
                return Err(SimulationError::TooLong);
            }
            let happened = self.drain(now, is_new)?;
            self.react(now, &happened);
            self.settle(now)?;
            self.raise_again(now, &happened.submitted);
            if self.is_idle(&happened) {
                break;
            }
        }
        match self.system.cluster().jobs.first() {
            Some(job) => Err(SimulationError::Stuck {
                id: self.trace.jobs[position(job.id)].id.clone(),
                now,
                scheduler: self.policy.to_string(),
            }),
            None => Ok(self.outcome),
        }
    }

    /// Decides about everything that happened, in the order completion, submission, period. A remap of
    /// all jobs is not repeated within an instant.
    fn react(&mut self, now: Time, happened: &Happened) {
        // That of a job that waits is what it was when it gave up its place.
        let progress = &mut self.progress;
        self.system
            .set_virtual_times(|id| progress[position(id)].virtual_time(now));
        let mut time = None;
        let remaps = self.policy.submission == Submission::Mcb8;
        let period = happened.period && self.policy.is_periodic();
        let by_period = remaps && period && self.policy.periodic == Periodic::Remap;
        let by_submission = remaps && !happened.submitted.is_empty();
        if happened.completed && !by_period && !by_submission {
            self.decide(now, Trigger::Completion, &mut time);
        }
        let submitted: &[JobId] = match (by_period, &happened.submitted[..]) {
            (true, _) => &[],
            (false, [.., last]) if remaps => std::slice::from_ref(last),
            (false, all) => all,
        };
        for job in submitted {
            if remaps
                || self
                    .system
                    .cluster()
                    .job(*job)
                    .is_some_and(|job| !job.is_running())
            {
                self.decide(now, Trigger::Submission(*job), &mut time);
            }
        }
        if period {
            self.decide(now, Trigger::Period, &mut time);
        }
        if let Some(time) = time {
            self.allocate(now, time);
        }
    }

    /// Decides where jobs go. `time` is how long this instant's decisions have taken, if there were any.
    fn decide(&mut self, now: Time, trigger: Trigger, time: &mut Option<Duration>) {
        if self.system.cluster().jobs.is_empty() {
            return;
        }
        let before = Instant::now();
        let changes = decide_mappings(&self.policy, &self.system, now, trigger);
        *time = Some(time.unwrap_or_default() + before.elapsed());
        if cfg!(debug_assertions) {
            audit::assert_planned(&self.policy, &self.system, now, trigger, &changes);
        }
        self.carry_out(changes);
    }

    fn carry_out(&mut self, changes: Vec<(JobId, Option<Mapping>)>) {
        for (id, mapping) in changes {
            let Some(job) = self.system.cluster().job(id) else {
                continue;
            };
            // A job whose work cannot be kept has none wherever it goes.
            let loses = job.is_running() && job.mobility == Mobility::Restart;
            let after = mapping.map_or_else(|| state_of_paused(job), JobState::Running);
            if loses {
                self.system.set_virtual_time(id, Span::ZERO);
            }
            if let Some(before) = self.system.set_state(id, after) {
                self.before.entry(id).or_insert(before);
            }
        }
    }

    /// Finds the shares of all that run after this instant's decisions, which took so long.
    fn allocate(&mut self, now: Time, decided: Duration) {
        let before = Instant::now();
        self.shares = allocate_running_yields(&self.policy, &self.system, now);
        self.outcome.decisions.add(decided + before.elapsed());
    }

    /// Notes when the submission of those that were not placed is to be raised again.
    fn raise_again(&mut self, now: Time, submitted: &[JobId]) {
        for id in submitted {
            if self
                .system
                .cluster()
                .job(*id)
                .is_none_or(|job| job.is_running())
            {
                self.tries.remove(id);
                continue;
            }
            let tries = self.tries.entry(*id).or_insert(0);
            *tries += 1;
            if let Some(delay) = self.policy.retry_after(*tries) {
                self.retries.insert((now + delay, *id));
            }
        }
    }

    /// Whether nothing will happen any more although time goes on.
    fn is_idle(&mut self, happened: &Happened) -> bool {
        let only_time = happened.period && !happened.completed && happened.submitted.is_empty();
        if only_time && self.next_completion().is_none() {
            self.idle_periods += 1;
        } else {
            self.idle_periods = 0;
        }
        self.idle_periods >= IDLE_PERIODS
    }
}

/// What becomes of a job that gives up its place.
fn state_of_paused(job: &Job) -> JobState {
    match (job.mobility, job.running_on()) {
        (Mobility::Park, Some(mapping)) => JobState::Parked(mapping.clone()),
        (Mobility::Restart, _) => JobState::Pending,
        _ => JobState::Paused,
    }
}
