//! The world of DFRS: discrete events between which progress is fluid. It carries out what
//! `dfrs_core::decide` plans.

mod events;
mod settle;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use dfrs_core::policy::Submission;
use dfrs_core::{
    Action, Cluster, Job, JobId, JobState, Mobility, Periodic, Plan, Policy, Severity, Span, Time,
    Trigger, Yield, check, decide,
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
    cluster: Cluster,
    /// Of each job that was submitted.
    progress: Vec<Progress>,
    /// The jobs that run, ascending: only they make progress and end.
    running: Vec<JobId>,
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
            cluster: Cluster {
                nodes,
                jobs: Vec::new(),
            },
            progress: Vec::with_capacity(trace.jobs.len()),
            running: Vec::new(),
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
        match self.cluster.jobs.first() {
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
        for job in self.cluster.jobs.iter_mut().filter(|job| job.is_running()) {
            job.virtual_time = self.progress[position(job.id)].virtual_time(now);
        }
        let remaps = self.policy.submission == Submission::Mcb8;
        let period = happened.period && self.policy.is_periodic();
        let by_period = remaps && period && self.policy.periodic == Periodic::Remap;
        let by_submission = remaps && !happened.submitted.is_empty();
        if happened.completed && !by_period && !by_submission {
            self.decide(now, Trigger::Completion);
        }
        let submitted: &[JobId] = match (by_period, &happened.submitted[..]) {
            (true, _) => &[],
            (false, [.., last]) if remaps => std::slice::from_ref(last),
            (false, all) => all,
        };
        for job in submitted {
            if remaps || self.cluster.job(*job).is_some_and(|job| !job.is_running()) {
                self.decide(now, Trigger::Submission(*job));
            }
        }
        if period {
            self.decide(now, Trigger::Period);
        }
    }

    fn decide(&mut self, now: Time, trigger: Trigger) {
        if self.cluster.jobs.is_empty() {
            return;
        }
        let before = Instant::now();
        let plan = decide(&self.policy, &self.cluster, now, trigger);
        self.outcome.decisions.add(before.elapsed());
        if cfg!(debug_assertions) {
            let mut found = check(&self.cluster, &plan);
            found.retain(|violation| violation.severity == Severity::Error);
            assert!(found.is_empty(), "{now}, {trigger:?}: {}", found[0]);
        }
        self.carry_out(plan);
    }

    fn carry_out(&mut self, plan: Plan) {
        self.shares.clear();
        for planned in plan.actions {
            let id = planned.action.job();
            if let Action::SetYield(_, share) = planned.action {
                self.shares.push((id, share));
                continue;
            }
            let Some(job) = self.cluster.job_mut(id) else {
                continue;
            };
            // A job whose work cannot be kept has none wherever it goes.
            if job.is_running() && job.mobility == Mobility::Restart {
                job.virtual_time = Span::ZERO;
            }
            let after = match planned.action {
                Action::Start(_, mapping)
                | Action::Resume(_, mapping)
                | Action::Migrate(_, mapping) => JobState::Running(mapping),
                _ => state_of_paused(job),
            };
            let before = std::mem::replace(&mut job.state, after);
            self.before.entry(id).or_insert(before);
        }
    }

    /// Notes when the submission of those that were not placed is to be raised again.
    fn raise_again(&mut self, now: Time, submitted: &[JobId]) {
        for id in submitted {
            if self.cluster.job(*id).is_none_or(|job| job.is_running()) {
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
