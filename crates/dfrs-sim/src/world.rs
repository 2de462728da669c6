//! The world of DFRS: discrete events between which progress is fluid. It carries out what
//! `dfrs_core::decide` says.

mod events;
mod others;
mod pauses;
mod settle;
mod stays;
mod submissions;
mod users;
mod uses;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use dfrs_core::{
    Amount, Cluster, Decision, Events, JobId, JobState, NodeIndex, Policy, Progress, Roster,
    Severity, Span, Time, Yield, check, decide,
};

use crate::error::SimulationError;
use crate::held::HeldChange;
use crate::journal::{TraceJournal, position};
use crate::outcome::SimOutcome;
use crate::settings::{LAST, SimSettings};
use crate::trace::{NODE_GPUS, Trace, platform};
use pauses::LongPauses;
use stays::Stays;
use submissions::Submissions;
use users::Users;
use uses::{Uses, counted};

/// After so many periods in which no job made progress, none ever will.
const IDLE_PERIODS: u32 = 1000;

/// Simulates the trace on what others leave, whose changes these are in time order.
pub(crate) fn run<'a>(
    trace: &'a Trace,
    policy: Policy,
    settings: &SimSettings,
    others: &'a [HeldChange],
    mut journal: TraceJournal<'a>,
) -> Result<SimOutcome, SimulationError> {
    let period = policy.is_periodic().then_some(policy.settings.period);
    journal.platform(policy.to_string(), period, settings.nodes)?;
    World::new(trace, policy, settings, others, journal).run()
}

struct World<'a> {
    trace: &'a Trace,
    policy: Policy,
    settings: SimSettings,
    journal: TraceJournal<'a>,
    /// The jobs in the system; a job's identity is its position in the trace.
    system: Roster,
    /// Of each job of the trace; what it says of one that was not submitted is of no meaning.
    progress: Vec<Progress>,
    stays: Stays,
    submissions: Submissions,
    users: Users<'a>,
    /// If any job does more or less than its yield says: what each does.
    uses: Option<Uses>,
    pauses: LongPauses,
    outcome: SimOutcome,
    /// When jobs that were not placed are submitted again, and how often each was tried.
    retries: BTreeSet<(Time, JobId)>,
    tries: BTreeMap<JobId, u32>,
    idle_periods: u32,
    /// What others take and give back from now on.
    others: &'a [HeldChange],
    /// Where they have taken memory, or the last CPU, at this instant.
    taken: BTreeSet<NodeIndex>,
    /// Jobs that gave way to others without their work although their mobility does not say so, and have
    /// no place yet.
    requeued: BTreeSet<JobId>,
}

impl<'a> World<'a> {
    fn new(
        trace: &'a Trace,
        policy: Policy,
        settings: &SimSettings,
        others: &'a [HeldChange],
        journal: TraceJournal<'a>,
    ) -> Self {
        let outcome = SimOutcome::of_jobs(trace.jobs.len());
        let weighs_moves = policy.weighs_moves();
        let has_gpus = trace.has_gpus();
        let mut nodes = platform(settings.nodes);
        for (position, node) in nodes.iter_mut().enumerate() {
            node.swap = settings.swap;
            if has_gpus {
                let has_some = trace.is_gpu_node(position, settings.nodes);
                node.rigid
                    .push(if has_some { NODE_GPUS } else { Amount(0) });
            }
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
            progress: vec![Progress::new(Time::ZERO, None); trace.jobs.len()],
            stays: Stays::of(trace.jobs.len()),
            submissions: Submissions::of(trace),
            users: Users::new(trace, settings.fair_by_user && weighs_moves),
            uses: Uses::of(trace, settings),
            pauses: LongPauses::new(settings.longest_pause.filter(|_| weighs_moves)),
            outcome,
            retries: BTreeSet::new(),
            tries: BTreeMap::new(),
            idle_periods: 0,
            others,
            taken: BTreeSet::new(),
            requeued: BTreeSet::new(),
        }
    }

    /// One instant after the other: first all its events, then the decision about them, then what comes
    /// of it.
    fn run(mut self) -> Result<SimOutcome, SimulationError> {
        let mut now = Time(i64::MIN);
        while let Some(next) = self.next_instant(now) {
            let is_new = next > now;
            now = next;
            if now > LAST {
                return Err(SimulationError::TooLong);
            }
            self.begin_phases(now);
            let mut happened = self.drain(now, is_new)?;
            let measured = self.measure(now);
            if let Some((changed, shares)) = self.react(now, &mut happened) {
                self.settle(now, changed, shares)?;
            } else if measured {
                self.share_measured(now)?;
            }
            self.schedule_retries(now, &happened.submitted);
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

    /// Decides about everything that happened. Returns the jobs that changed and what they were before,
    /// and the shares of all that run; `None` if there was nothing to decide.
    fn react(&mut self, now: Time, happened: &mut Events) -> Option<(Changed, Shares)> {
        if happened.is_empty() || self.system.cluster().jobs.is_empty() {
            return None;
        }
        self.pauses.update(&mut self.system, now);
        // The virtual time of a job that waits is what it was when it gave up its place.
        let (progress, uses) = (&mut self.progress, &mut self.uses);
        let (users, stays) = (&self.users, &self.stays);
        self.system.set_virtual_times(|id| {
            let own = counted(progress, uses.as_mut(), id, now);
            let delay = stays.until(id, now) - own;
            (own + users.inherited(id), delay.max(Span::ZERO))
        });
        let gone = self.give_way(now);
        // They are tried again at once, as if they were submitted now.
        happened.submitted.extend(gone.iter().map(|(id, _)| *id));
        let before = Instant::now();
        let decision = decide(&self.policy, &mut self.system, now, happened);
        let shares = decision.yields();
        self.outcome.decisions.add(before.elapsed());
        if cfg!(debug_assertions) {
            assert_sound(&decision);
        }
        let decided = decision.adopt();
        Some((self.net_changes(gone, decided), shares))
    }

    /// Notes when the submission of those that were not placed is to be raised again.
    fn schedule_retries(&mut self, now: Time, submitted: &[JobId]) {
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
    fn is_idle(&mut self, happened: &Events) -> bool {
        let only_time = happened.period && !happened.ended && happened.submitted.is_empty();
        if only_time && self.others.is_empty() && self.next_completion().is_none() {
            self.idle_periods += 1;
        } else {
            self.idle_periods = 0;
        }
        self.idle_periods >= IDLE_PERIODS
    }
}

/// Jobs whose states changed, and these states before.
type Changed = Vec<(JobId, JobState)>;

/// The shares of jobs.
type Shares = Vec<(JobId, Yield)>;

/// Panics if the decision's plan is in error.
fn assert_sound(decision: &Decision<'_>) {
    let mut found = check(decision.cluster(), &decision.plan());
    found.retain(|violation| violation.severity() == Severity::Error);
    assert!(found.is_empty(), "{}", found[0]);
}
