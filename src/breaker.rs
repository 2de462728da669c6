//! Keeps failures in DFRS away from slurmctld. The breaker opens on a panic, on records that are
//! not what the plugin was compiled for, on a pass that computes for too long, and on plans that
//! break rules whatever is left out. Then DFRS is disabled: caps are lifted, paused jobs come back,
//! then Slurm's own backfill schedules all partitions, and one error line has the reason. DFRS
//! stays disabled until the next restart or reconfigure, or, where the machine may be the cause,
//! until the breaker is reset ten minutes later.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use dfrs_agent::clock::Ahead;
use dfrs_agent::daemons::Daemons;
use dfrs_agent::publish::state::State;
use dfrs_agent::slurm::port::{LogLevel, Slurm};
use dfrs_agent::{Agent, PassReport};
use dfrs_core::{Span, Time};
use dfrs_proto::status::{self, BreakerState};

use crate::status::seconds;
use crate::stopwatch::{Stopwatch, Took};
use crate::watched::panic_text;

/// A pass that takes more of its own thread's CPU time trips the breaker. Waiting for locks or disks is
/// not DFRS's doing.
const MAX_PASS_TIME: Duration = Duration::from_secs(20);
/// A decision is ended when its pass has computed for more than this: the rest of the pass needs time, too.
const MAX_DECISION_TIME: Duration = Duration::from_secs(10);
/// So many decisions in a row that had to be ended trip the breaker: jobs would wait for ever.
const MAX_ENDED_DECISIONS: u32 = 3;
/// So many decisions in a row of which no plan keeps the rules do, too.
const MAX_DROPPED_PLANS: u32 = 3;
/// Time between two attempts to bring back what is parked, once tripped.
const MIN_RETRY_INTERVAL: Span = Span(2_000_000);
/// What backfill starts takes the memory that parked jobs need to come back. So its partitions are withheld from it
/// until they are back, but no longer than this: they may be parked on nodes that are down or reserved.
const MAX_WITHHELD_TIME: Span = Span(3_600_000_000);
/// The longest time between two attempts of which one failed: it doubles from one failure to the next.
const MAX_RETRY_INTERVAL: Span = Span(300_000_000);
/// Where the machine may have been the cause, the breaker is reset after this,
const RESET_TIMEOUT: Span = Span(600_000_000);
/// unless it was reset within this: then it was not the machine.
const PROBATION: Span = Span(3_600_000_000);

/// What tripped it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    /// DFRS, or what it was given: would trip it again.
    Defect,
    /// Perhaps only the machine, which had too much to do.
    Machine,
}

/// What happened to this breaker and those before it, since the last start or reconfigure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BreakerHistory {
    /// When it was tripped last, and why.
    tripped: Option<(Time, String)>,
    trips: u32,
    /// When the breaker was last reset by itself.
    rearmed: Option<Time>,
}

impl BreakerHistory {
    fn record(&mut self, now: Time, why: &str) {
        self.tripped = Some((now, why.to_owned()));
        self.trips += 1;
    }

    fn is_on_probation(&self, now: Time) -> bool {
        self.rearmed.is_some_and(|at| now.0 - at.0 < PROBATION.0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Health {
    Active,
    /// Gives the cluster back, next at this time.
    StandingDown(Time),
    /// Has given it back, or must not touch Slurm's records at all.
    Open,
}

/// An agent behind a breaker.
pub struct CircuitBreaker<S, D> {
    agent: Agent<S, D>,
    stopwatch: Stopwatch,
    health: Health,
    history: BreakerHistory,
    /// When the breaker is reset by itself.
    reset_at: Option<Time>,
    max_pass_time: Duration,
    max_decision_time: Duration,
    /// Time to the next attempt to give the cluster back.
    interval: Span,
    /// The agent only gives back what one before it has parked.
    only_gives_back: bool,
    /// Everything is given back, as far as it can be.
    has_given_back: bool,
    /// Backfill schedules all partitions.
    is_handed_over: bool,
    /// When it does at the latest, since DFRS is disabled; `None`: when all is given back.
    handover_deadline: Option<Time>,
}

impl<S: Slurm, D: Daemons> CircuitBreaker<S, D> {
    /// A closed breaker. Passes are measured by `stopwatch`, in which the agent notes its stage.
    pub fn new(agent: Agent<S, D>, stopwatch: Stopwatch) -> Self {
        Self {
            agent,
            stopwatch,
            health: Health::Active,
            history: BreakerHistory::default(),
            reset_at: None,
            max_pass_time: MAX_PASS_TIME,
            max_decision_time: MAX_DECISION_TIME,
            interval: MIN_RETRY_INTERVAL,
            only_gives_back: false,
            has_given_back: false,
            is_handed_over: false,
            handover_deadline: None,
        }
    }

    /// A breaker that only gives back what an agent before this one has parked. The next agent
    /// sends the nodes nothing about it, so the nodes have to confirm all of it before this one
    /// ends.
    pub fn giving_back(agent: Agent<S, D>, stopwatch: Stopwatch, now: Time) -> Self {
        Self {
            health: Health::StandingDown(now),
            only_gives_back: true,
            ..Self::new(agent, stopwatch)
        }
    }

    /// Goes on with the history of a breaker before it, which was open until its reset.
    #[must_use]
    pub fn with_history(mut self, history: BreakerHistory, now: Time) -> Self {
        self.history = BreakerHistory {
            rearmed: Some(now),
            ..history
        };
        self
    }

    /// What happened to it, if its reset is due.
    #[must_use]
    pub fn history_for_reset(&self, now: Time) -> Option<BreakerHistory> {
        let rested = self.reset_at.is_some_and(|at| at <= now);
        rested.then(|| self.history.clone())
    }

    /// Whether it was only to give back what an agent before it has parked, and that is done.
    #[must_use]
    pub fn is_done(&self) -> bool {
        // A job that is left out may be parked: nothing else knows what to do about it either.
        let all = self.agent.left_out().next().is_none();
        self.only_gives_back && all && self.has_given_back && self.health == Health::Open
    }

    /// The agent, to look at.
    #[must_use]
    pub fn agent(&self) -> &Agent<S, D> {
        &self.agent
    }

    /// For the status file.
    #[must_use]
    pub fn status(&self) -> status::BreakerStatus {
        let state = match self.health {
            Health::Active => BreakerState::Closed,
            Health::StandingDown(_) => BreakerState::StandingDown,
            Health::Open => BreakerState::Open,
        };
        let tripped = self.history.tripped.as_ref();
        status::BreakerStatus {
            state,
            since: tripped.map(|(at, _)| seconds(*at)),
            why: tripped.map(|(_, why)| why.clone()),
            trips: self.history.trips,
            rearms: self.reset_at.map(seconds),
        }
    }

    /// Whether DFRS still schedules.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.health == Health::Active
    }

    /// The agent's time is so far ahead of the wall clock from now on.
    pub fn set_ahead(&mut self, ahead: Ahead) {
        self.agent.set_ahead(ahead);
    }

    /// One tick: a pass if one is due, or another attempt to give the cluster back. Returns whether the
    /// next tick need not wait.
    pub fn tick(&mut self, now: Time) -> bool {
        match self.health {
            Health::Active if self.agent.is_due(now) => return self.guarded_pass(now),
            Health::StandingDown(next) if now >= next => self.stand_down(now),
            _ => {}
        }
        false
    }

    /// Slurm was reconfigured: what was written to it before may be lost.
    pub fn refresh(&mut self) {
        self.agent.refresh();
    }

    /// Takes away what Slurm's own tools show of yields.
    pub fn show_no_yields(&mut self) {
        let shown = catch_unwind(AssertUnwindSafe(|| self.agent.clear_yields()));
        if shown.is_err() {
            let text = "internal error: yields stay shown as they are";
            self.agent.slurm().log(LogLevel::Error, text);
        }
    }

    /// Stops the agent. Returns its state, if that could not be kept.
    pub fn finish(&mut self, now: Time) -> Option<State> {
        catch_unwind(AssertUnwindSafe(|| self.agent.finish(now))).unwrap_or_default()
    }

    fn guarded_pass(&mut self, now: Time) -> bool {
        if !self.can_run(now) {
            return false;
        }
        self.stopwatch.start();
        let (stopwatch, longest) = (&self.stopwatch, self.max_decision_time);
        let may_decide = || stopwatch.computed() <= longest;
        let outcome = catch_unwind(AssertUnwindSafe(|| self.agent.pass_while(now, &may_decide)));
        let took = self.stopwatch.stop(!matches!(outcome, Ok(Ok(_))));
        match outcome {
            Ok(Ok(report)) => {
                let microseconds = u32::try_from(took.wall.as_micros()).unwrap_or(u32::MAX);
                self.agent.slurm().count_cycle(
                    microseconds,
                    report.queue,
                    report.depth,
                    report.started,
                );
                if let Some((why, cause)) = self.problem_of(&report, &took) {
                    self.trip(now, &why, cause);
                }
                return report.unfinished;
            }
            Ok(Err(problem)) => self
                .agent
                .slurm()
                .log(LogLevel::Error, &format!("pass skipped: {problem}")),
            Err(panic) => self.trip(
                now,
                &format!("internal error: {}", panic_text(panic.as_ref())),
                Cause::Defect,
            ),
        }
        false
    }

    /// Why a pass that came to its end trips the breaker, if it does.
    fn problem_of(&self, report: &PassReport, took: &Took) -> Option<(String, Cause)> {
        if took.cpu > self.max_pass_time {
            let why = format!("a pass took {} s of CPU time", took.cpu.as_secs());
            Some((why, Cause::Machine))
        } else if report.ended_decisions >= MAX_ENDED_DECISIONS {
            let why = format!(
                "{MAX_ENDED_DECISIONS} decisions in a row took more than {} s of CPU time each",
                MAX_DECISION_TIME.as_secs()
            );
            Some((why, Cause::Machine))
        } else if report.dropped_plans >= MAX_DROPPED_PLANS {
            let why = format!("{MAX_DROPPED_PLANS} decisions in a row had no valid plan");
            Some((why, Cause::Defect))
        } else {
            None
        }
    }

    /// Whether Slurm's records can be trusted and this slurmctld is in charge.
    fn can_run(&mut self, now: Time) -> bool {
        let Some(problem) = self.agent.slurm().layout_problem() else {
            return self.agent.slurm().is_primary();
        };
        self.history.record(now, &problem);
        self.reset_at = None;
        self.health = Health::Open;
        let text = format!(
            "this plugin does not fit this slurmctld ({problem}): it does nothing; install the one built for this Slurm version"
        );
        self.agent.slurm().log(LogLevel::Error, &text);
        // Without orders the node daemons lift their caps. The next agent sends orders again.
        let _ = self.finish(now);
        false
    }

    fn trip(&mut self, now: Time, why: &str, cause: Cause) {
        let rests = cause == Cause::Machine && !self.history.is_on_probation(now);
        self.history.record(now, why);
        self.reset_at = rests.then_some(Time(now.0 + RESET_TIMEOUT.0));
        let until = if rests {
            format!(
                "for {} minutes; then one retry",
                RESET_TIMEOUT.0 / 60_000_000
            )
        } else {
            "until the next 'scontrol reconfigure'".to_owned()
        };
        let parked = self.agent.jobs_depending_on_dfrs();
        let when = if parked > 0 {
            format!(
                "once parked jobs are back ({parked}), in {} minutes at the latest, ",
                MAX_WITHHELD_TIME.0 / 60_000_000
            )
        } else {
            String::new()
        };
        let text = format!(
            "{why}; breaker open, DFRS disabled: paused jobs come back, caps are lifted, {when}backfill schedules all partitions {until}"
        );
        self.agent.slurm().log(LogLevel::Error, &text);
        self.health = Health::StandingDown(now);
        if parked > 0 {
            self.handover_deadline = Some(Time(now.0 + MAX_WITHHELD_TIME.0));
        } else {
            self.hand_over();
        }
    }

    /// Backfill schedules all partitions from now on.
    fn hand_over(&mut self) {
        self.handover_deadline = None;
        if !std::mem::replace(&mut self.is_handed_over, true) {
            self.agent.slurm().hand_over_to_backfill();
        }
    }

    /// Hands over although parked jobs are not back, if they were waited for long enough.
    fn hand_over_if_late(&mut self, now: Time) {
        if self.handover_deadline.is_none_or(|at| at > now) {
            return;
        }
        let text = format!(
            "jobs that DFRS parked ({}) are not back after {} minutes: backfill schedules all partitions now, and may take their memory",
            self.agent.jobs_depending_on_dfrs(),
            MAX_WITHHELD_TIME.0 / 60_000_000
        );
        self.agent.slurm().log(LogLevel::Error, &text);
        self.hand_over();
    }

    fn stand_down(&mut self, now: Time) {
        if !self.can_run(now) {
            return;
        }
        let parked = catch_unwind(AssertUnwindSafe(|| self.agent.give_back(now)));
        if self.agent.left_out().next().is_some() {
            // The machine was not the only cause.
            self.reset_at = None;
        }
        let problem = match parked {
            Ok(Ok(0)) => {
                self.has_given_back = true;
                // What was parked had it withheld until now.
                self.hand_over();
                if !self.only_gives_back || self.agent.is_thaw_confirmed() {
                    self.health = Health::Open;
                    return;
                }
                None
            }
            Ok(Ok(_)) => None,
            Ok(Err(problem)) => Some(problem.to_string()),
            Err(panic) => {
                // The machine was not the only cause.
                self.reset_at = None;
                Some(format!("internal error: {}", panic_text(panic.as_ref())))
            }
        };
        self.interval = match problem {
            None => MIN_RETRY_INTERVAL,
            Some(problem) => self.report_failure(&problem),
        };
        self.hand_over_if_late(now);
        let next = Time(now.0 + self.interval.0);
        self.health = Health::StandingDown(self.handover_deadline.map_or(next, |at| at.min(next)));
    }

    /// What was parked may not be back: that is never given up. Returns when it is retried.
    fn report_failure(&mut self, problem: &str) -> Span {
        let next = Span((self.interval.0 * 2).min(MAX_RETRY_INTERVAL.0));
        let text = format!(
            "jobs that DFRS parked are not back: {problem}; retry in {} s; 'scontrol resume' brings back single ones",
            next.0 / 1_000_000
        );
        self.agent.slurm().log(LogLevel::Error, &text);
        next
    }
}

#[cfg(test)]
mod tests {
    use dfrs_agent::Ports;
    use dfrs_agent::fixtures::{FakeDaemons, FakeSlurm, FakeStore, config, job, nodes};
    use dfrs_agent::publish::recorder::NoRecorder;
    use dfrs_agent::publish::state::State;
    use dfrs_agent::slurm::records::ObservedState;

    use super::*;

    /// A breaker whose agent has one job, and that has done a pass.
    fn breaker() -> (FakeSlurm, CircuitBreaker<FakeSlurm, FakeDaemons>) {
        breaker_with(FakeDaemons::default())
    }

    fn breaker_with(daemons: FakeDaemons) -> (FakeSlurm, CircuitBreaker<FakeSlurm, FakeDaemons>) {
        let slurm = FakeSlurm::default();
        slurm.0.borrow_mut().nodes = nodes(1);
        slurm.0.borrow_mut().jobs.insert(1, job(1, 1));
        let stopwatch = Stopwatch::default();
        let ports = Ports {
            slurm: slurm.clone(),
            daemons,
            store: Box::new(FakeStore::default()),
            journal: None,
            recorder: Box::new(NoRecorder),
            probe: Box::new(stopwatch.clone()),
        };
        let agent = Agent::new(ports, config(), State::default(), Time(0));
        let mut breaker = CircuitBreaker::new(agent, stopwatch);
        breaker.tick(Time::from_seconds(2000));
        assert!(breaker.is_active());
        (slurm, breaker)
    }

    #[test]
    fn panic_trips_the_breaker_and_hands_over_to_backfill() {
        let (slurm, mut breaker) = breaker();
        slurm.0.borrow_mut().panic = true;
        breaker.tick(Time::from_seconds(2010));
        assert!(!breaker.is_active());
        let status = breaker.status();
        assert_eq!(
            (status.state, status.trips),
            (BreakerState::StandingDown, 1)
        );
        assert_eq!(status.since, Some(2010.0));
        assert!(
            status
                .why
                .is_some_and(|why| why.starts_with("internal error: "))
        );
        assert!(slurm.0.borrow().handed_over);
        assert_eq!(slurm.0.borrow().errors.len(), 1, "one clear line");
        slurm.0.borrow_mut().panic = false;
    }

    #[test]
    fn a_decision_that_takes_too_long_is_ended_and_three_in_a_row_trip() {
        let (slurm, mut breaker) = breaker();
        breaker.max_decision_time = Duration::ZERO;
        slurm.0.borrow_mut().jobs.insert(2, job(2, 1));
        let is_pending = || slurm.0.borrow().jobs[&2].state == ObservedState::Pending;
        for (now, logged) in [(2010, 1), (2020, 2)] {
            breaker.tick(Time::from_seconds(now));
            assert!(breaker.is_active() && is_pending());
            assert_eq!(slurm.0.borrow().errors.len(), logged, "one line for each");
        }
        assert_eq!(breaker.stopwatch.times().decisions_ended, 2);
        breaker.tick(Time::from_seconds(2040));
        assert!(!breaker.is_active() && is_pending());
        let errors = slurm.0.borrow().errors.clone();
        let last = errors.last().expect("it is said");
        assert!(
            last.starts_with("3 decisions in a row took more than 10 s"),
            "{last}"
        );
        assert!(slurm.0.borrow().handed_over);
        assert!(
            breaker
                .history_for_reset(Time::from_seconds(9999))
                .is_some()
        );
    }

    #[test]
    fn decision_in_time_resets_the_count_of_ended_decisions() {
        let (slurm, mut breaker) = breaker();
        let (short, long) = (Duration::ZERO, MAX_DECISION_TIME);
        for (now, longest) in [
            (2010, short),
            (2020, short),
            (2040, long),
            (2100, short),
            (2110, short),
        ] {
            let id = u32::try_from(now).expect("positive");
            slurm.0.borrow_mut().jobs.insert(id, job(id, 1));
            breaker.max_decision_time = longest;
            breaker.tick(Time::from_seconds(now));
            assert!(breaker.is_active(), "{now}");
        }
        assert_eq!(slurm.0.borrow().jobs[&2010].state, ObservedState::Running);
        assert_eq!(slurm.0.borrow().jobs[&2110].state, ObservedState::Pending);
    }

    /// Has the next pass take too long, and one tick done.
    fn trip_by_time(breaker: &mut CircuitBreaker<FakeSlurm, FakeDaemons>, now: Time) {
        breaker.max_pass_time = Duration::ZERO;
        breaker.agent.refresh();
        breaker.tick(now);
        assert!(!breaker.is_active());
    }

    #[test]
    fn breaker_resets_once_after_a_pass_that_took_too_long() {
        let (slurm, mut breaker) = breaker();
        trip_by_time(&mut breaker, Time::from_seconds(2010));
        assert!(slurm.0.borrow().handed_over);
        let error = slurm.0.borrow().errors[0].clone();
        assert!(error.ends_with("for 10 minutes; then one retry"), "{error}");
        assert_eq!(breaker.status().rearms, Some(2610.0));
        for seconds in 2010..2610 {
            breaker.tick(Time::from_seconds(seconds));
            assert_eq!(breaker.history_for_reset(Time::from_seconds(seconds)), None);
        }
        let now = Time::from_seconds(2610);
        let history = breaker.history_for_reset(now).expect("its time is over");
        let (_, again) = super::tests::breaker();
        let mut again = again.with_history(history.clone(), now);
        assert_eq!(again.status().trips, 1, "it is not forgotten");
        trip_by_time(&mut again, Time::from_seconds(2620));
        assert_eq!(
            again.history_for_reset(Time::from_seconds(9999)),
            None,
            "once"
        );
        let (_, later) = super::tests::breaker();
        let mut later = later.with_history(history, now);
        trip_by_time(&mut later, Time::from_seconds(2610 + 3600));
        assert!(
            later.history_for_reset(Time::from_seconds(9999)).is_some(),
            "an hour went well"
        );
    }

    /// A parked job of so many MiB on the node of job 1.
    fn park(slurm: &FakeSlurm, id: u32, memory: u64) {
        let mut world = slurm.0.borrow_mut();
        let place = world.jobs[&1].places[0].clone();
        let parked = dfrs_agent::slurm::records::ObservedJob {
            state: ObservedState::Suspended,
            places: vec![dfrs_agent::slurm::records::ObservedPlace {
                memory_mib: 0,
                ..place
            }],
            ..job(id, 1)
        }
        .requesting(|request| request.memory = memory);
        world.jobs.insert(id, parked);
    }

    /// A breaker that has seen a parked job, 2, which does not fit beside job 1, and then tripped.
    fn tripped_with_one_parked() -> (FakeSlurm, CircuitBreaker<FakeSlurm, FakeDaemons>) {
        let (slurm, mut breaker) = breaker();
        park(&slurm, 2, 950);
        slurm.0.borrow_mut().updates = 2009;
        breaker.tick(Time::from_seconds(2009));
        assert!(breaker.is_active());
        trip_by_time(&mut breaker, Time::from_seconds(2010));
        (slurm, breaker)
    }

    #[test]
    fn backfill_is_withheld_after_a_trip_until_parked_jobs_are_back() {
        let (slurm, mut breaker) = tripped_with_one_parked();
        let error = slurm.0.borrow().errors[0].clone();
        assert!(
            error.contains(
                "once parked jobs are back (1), in 60 minutes at the latest, backfill schedules"
            ),
            "{error}"
        );
        for seconds in 2010..2100 {
            breaker.tick(Time::from_seconds(seconds));
        }
        assert!(!slurm.0.borrow().handed_over, "job 1 has its memory");
        slurm.0.borrow_mut().end(1);
        let mut back = None;
        for seconds in 2100..2110 {
            breaker.tick(Time::from_seconds(seconds));
            let runs = slurm.0.borrow().jobs[&2].state == ObservedState::Running;
            assert!(runs || !slurm.0.borrow().handed_over);
            back = back.or(slurm.0.borrow().handed_over.then_some(seconds));
        }
        assert_eq!(back, Some(2102), "it has its memory at 2100, and runs then");
        assert_eq!(breaker.health, Health::Open);
        assert_eq!(slurm.0.borrow().errors.len(), 1);
    }

    #[test]
    fn backfill_is_withheld_after_a_trip_for_up_to_an_hour() {
        let (slurm, mut breaker) = tripped_with_one_parked();
        let mut handed_over = None;
        for seconds in 2010..6000 {
            breaker.tick(Time::from_seconds(seconds));
            handed_over = handed_over.or(slurm.0.borrow().handed_over.then_some(seconds));
        }
        assert_eq!(handed_over, Some(2010 + 3600));
        assert_eq!(
            slurm.0.borrow().errors[1..],
            [
                "jobs that DFRS parked (1) are not back after 60 minutes: backfill schedules all partitions now, and may take their memory"
            ]
        );
        assert_eq!(breaker.status().state, BreakerState::StandingDown);
        slurm.0.borrow_mut().end(1);
        for seconds in 6000..6010 {
            breaker.tick(Time::from_seconds(seconds));
        }
        assert_eq!(slurm.0.borrow().jobs[&2].state, ObservedState::Running);
        assert_eq!(breaker.health, Health::Open);
    }

    #[test]
    fn backfill_takes_over_after_an_hour_when_restoring_fails() {
        let (slurm, mut breaker) = tripped_with_one_parked();
        slurm.0.borrow_mut().panic = true;
        let mut handed_over = None;
        for seconds in 2010..6000 {
            breaker.tick(Time::from_seconds(seconds));
            handed_over = handed_over.or(slurm.0.borrow().handed_over.then_some(seconds));
        }
        assert_eq!(handed_over, Some(2010 + 3600));
        slurm.0.borrow_mut().panic = false;
    }

    #[test]
    fn three_decisions_without_a_valid_plan_trip_the_breaker() {
        let (_, breaker) = breaker();
        let dropped = |dropped_plans| PassReport {
            dropped_plans,
            ..PassReport::default()
        };
        let took = Took::default();
        assert_eq!(breaker.problem_of(&dropped(2), &took), None);
        let why = "3 decisions in a row had no valid plan".to_owned();
        let problem = breaker.problem_of(&dropped(3), &took);
        assert_eq!(problem, Some((why, Cause::Defect)));
    }

    #[test]
    fn breaker_does_not_reset_after_a_panic() {
        let (slurm, mut breaker) = breaker();
        slurm.0.borrow_mut().panic = true;
        breaker.tick(Time::from_seconds(2010));
        assert_eq!(breaker.history_for_reset(Time::from_seconds(9999)), None);
        slurm.0.borrow_mut().panic = false;
    }

    #[test]
    fn breaker_does_not_reset_after_a_panic_while_restoring() {
        let (slurm, mut breaker) = breaker();
        trip_by_time(&mut breaker, Time::from_seconds(2010));
        slurm.0.borrow_mut().panic = true;
        breaker.tick(Time::from_seconds(2011));
        assert_eq!(breaker.history_for_reset(Time::from_seconds(9999)), None);
        slurm.0.borrow_mut().panic = false;
    }

    #[test]
    fn job_whose_restore_panics_is_skipped_and_the_others_resume() {
        let (slurm, mut breaker) = breaker();
        let park = |id: u32| {
            let mut world = slurm.0.borrow_mut();
            let place = world.jobs[&1].places[0].clone();
            let parked = dfrs_agent::slurm::records::ObservedJob {
                state: ObservedState::Suspended,
                places: vec![dfrs_agent::slurm::records::ObservedPlace {
                    memory_mib: 0,
                    ..place
                }],
                ..job(id, 1)
            };
            world.jobs.insert(id, parked);
        };
        [2, 3, 4].into_iter().for_each(park);
        slurm.0.borrow_mut().panic_about.insert(3);
        trip_by_time(&mut breaker, Time::from_seconds(2010));
        for seconds in 2011..2030 {
            breaker.tick(Time::from_seconds(seconds));
        }
        let state = |id: u32| slurm.0.borrow().jobs[&id].state;
        assert_eq!(
            [2, 3, 4].map(state),
            [
                ObservedState::Running,
                ObservedState::Suspended,
                ObservedState::Running
            ]
        );
        assert_eq!(breaker.health, Health::Open, "nothing else is to be done");
        let errors = slurm.0.borrow().errors.clone();
        let about = errors.iter().filter(|line| line.contains("job 3"));
        assert_eq!(about.count(), 1, "{errors:?}");
        assert_eq!(breaker.history_for_reset(Time::from_seconds(9999)), None);
    }

    #[test]
    fn shadow_mode_begins_when_nodes_have_the_orders_of_resumed_jobs() {
        let daemons = FakeDaemons::default();
        let (slurm, mut breaker) = breaker_with(daemons.clone());
        let node = slurm.0.borrow().nodes[0].name.clone();
        daemons.0.borrow_mut().outdated.insert(node);
        let place = slurm.0.borrow().jobs[&1].places[0].clone();
        let parked = dfrs_agent::slurm::records::ObservedJob {
            state: ObservedState::Suspended,
            places: vec![dfrs_agent::slurm::records::ObservedPlace {
                memory_mib: 0,
                ..place
            }],
            ..job(2, 1)
        };
        slurm.0.borrow_mut().jobs.insert(2, parked);
        breaker.only_gives_back = true;
        breaker.health = Health::StandingDown(Time::from_seconds(2010));
        let mut begins = None;
        for seconds in 2010..2040 {
            if seconds == 2021 {
                daemons.0.borrow_mut().outdated.clear();
            }
            breaker.tick(Time::from_seconds(seconds));
            if breaker.is_done() {
                begins = begins.or(Some(seconds));
            }
        }
        assert_eq!(slurm.0.borrow().jobs[&2].state, ObservedState::Running);
        // The job got its memory at 2010 and was resumed at 2012. Attempts are two seconds apart.
        assert_eq!(begins, Some(2022), "its node has heard at 2021");
        assert!(slurm.0.borrow().handed_over);
        assert_eq!(slurm.0.borrow().errors, Vec::<String>::new());
    }

    #[test]
    fn panic_while_standing_down_is_logged_and_retried_with_backoff() {
        let (slurm, mut breaker) = breaker();
        slurm.0.borrow_mut().panic = true;
        breaker.tick(Time::from_seconds(2010));
        let (mut now, mut tries) = (2010, Vec::new());
        while tries.len() < 3 {
            let before = slurm.0.borrow().errors.len();
            breaker.tick(Time::from_seconds(now));
            if slurm.0.borrow().errors.len() > before {
                tries.push(now);
            }
            now += 1;
        }
        assert_eq!(tries, [2010, 2014, 2022]);
        slurm.0.borrow_mut().panic = false;
        breaker.tick(Time::from_seconds(2040));
        let logged = slurm.0.borrow().errors.len();
        for now in 2041..2400 {
            breaker.tick(Time::from_seconds(now));
        }
        assert_eq!(slurm.0.borrow().errors.len(), logged, "all is back");
        assert_eq!(breaker.health, Health::Open);
    }
}
