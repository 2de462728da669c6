//! Keeps failures in DFRS away from slurmctld. The breaker opens on a panic, on records that are
//! not what the plugin was compiled for, on a pass that computes for too long, and on plans that
//! break rules whatever is left out. Then DFRS is disabled: caps are lifted, paused jobs come back,
//! then Slurm's own backfill schedules all partitions, and one error line has the reason. DFRS
//! stays disabled until the next restart or reconfigure, or, where the machine may be the cause,
//! until the breaker is reset ten minutes later. Here is what happens to the agent; what follows
//! is in [`crate::life`].

use std::time::Duration;

use dfrs_agent::clock::Ahead;
use dfrs_agent::daemons::Daemons;
use dfrs_agent::panics::caught;
use dfrs_agent::publish::state::State;
use dfrs_agent::slurm::port::{LogLevel, Slurm};
use dfrs_agent::{Agent, PassReport};
use dfrs_core::Time;

use crate::life::{Attempt, Cause, PluginAction, PluginEvent, PluginLife};
use crate::stopwatch::{Stopwatch, Took};

/// A pass that takes more of its own thread's CPU time trips the breaker. Waiting for locks or disks is
/// not DFRS's doing.
const MAX_PASS_TIME: Duration = Duration::from_secs(20);
/// A decision is ended when its pass has computed for more than this: the rest of the pass needs time, too.
const MAX_DECISION_TIME: Duration = Duration::from_secs(10);
/// So many decisions in a row that had to be ended trip the breaker: jobs would wait for ever.
const MAX_ENDED_DECISIONS: u32 = 3;
/// So many decisions in a row of which no plan keeps the rules do, too.
const MAX_DROPPED_PLANS: u32 = 3;

/// An agent behind a breaker.
pub struct CircuitBreaker<S, D> {
    agent: Agent<S, D>,
    stopwatch: Stopwatch,
    max_pass_time: Duration,
    max_decision_time: Duration,
}

impl<S: Slurm, D: Daemons> CircuitBreaker<S, D> {
    /// Passes are measured by `stopwatch`, in which the agent notes its stage.
    pub fn new(agent: Agent<S, D>, stopwatch: Stopwatch) -> Self {
        Self {
            agent,
            stopwatch,
            max_pass_time: MAX_PASS_TIME,
            max_decision_time: MAX_DECISION_TIME,
        }
    }

    /// The agent, to look at.
    pub fn agent(&self) -> &Agent<S, D> {
        &self.agent
    }

    /// The agent's time is so far ahead of the wall clock from now on.
    pub fn set_ahead(&mut self, ahead: Ahead) {
        self.agent.set_ahead(ahead);
    }

    /// One tick: a pass if one is due, or another attempt to give the cluster back. Returns whether the
    /// next tick need not wait.
    pub fn tick(&mut self, life: &mut PluginLife, now: Time) -> bool {
        let is_pass = life.is_active() && self.agent.is_due(now);
        if !is_pass && life.attempt_at().is_none_or(|at| at > now) {
            return false;
        }
        let mut is_unfinished = false;
        let event = if let Some(problem) = self.agent.slurm().layout_problem() {
            Some(PluginEvent::LayoutProblem {
                problem,
                has_left_out: self.has_left_out(),
            })
        } else if !self.agent.slurm().is_primary() {
            None
        } else if is_pass {
            self.pass(now, &mut is_unfinished)
        } else {
            Some(PluginEvent::Attempted(self.give_back(now)))
        };
        if let Some(event) = event {
            let (next, actions) = life.after(event, now);
            for action in &actions {
                self.perform(action, now);
            }
            *life = next;
        }
        is_unfinished
    }

    /// Carries out an action that is about the agent.
    pub fn perform(&mut self, action: &PluginAction, now: Time) {
        match action {
            PluginAction::Log(level, text) => self.agent.slurm().log(*level, text),
            PluginAction::HandOver => self.agent.slurm().hand_over_to_backfill(),
            PluginAction::Refresh => self.agent.refresh(),
            PluginAction::ClearYields => {
                if caught(|| self.agent.clear_yields()).is_err() {
                    let text = "internal error: yields were not removed from AdminComment or Extra";
                    self.agent.slurm().log(LogLevel::Error, text);
                }
            }
            // The next agent sends orders again.
            PluginAction::StopOrders => drop(self.finish(now)),
            PluginAction::ReadConfig
            | PluginAction::KeepConfig
            | PluginAction::Start(_)
            | PluginAction::HidePartitions
            | PluginAction::Report(_)
            | PluginAction::End => {}
        }
    }

    /// Stops the agent. Returns its state, if that could not be kept.
    pub fn finish(&mut self, now: Time) -> Option<State> {
        caught(|| self.agent.finish(now)).unwrap_or_default()
    }

    fn has_left_out(&self) -> bool {
        self.agent.left_out().next().is_some()
    }

    fn pass(&mut self, now: Time, is_unfinished: &mut bool) -> Option<PluginEvent> {
        self.stopwatch.start();
        let (stopwatch, longest) = (&self.stopwatch, self.max_decision_time);
        let may_decide = || stopwatch.computed() <= longest;
        let outcome = caught(|| self.agent.pass_while(now, &may_decide));
        let took = self.stopwatch.stop(!matches!(outcome, Ok(Ok(_))));
        let (why, cause) = match outcome {
            Ok(Ok(report)) => {
                let microseconds = u32::try_from(took.wall.as_micros()).unwrap_or(u32::MAX);
                self.agent.slurm().count_cycle(
                    microseconds,
                    report.queue,
                    report.depth,
                    report.started,
                );
                *is_unfinished = report.unfinished;
                self.problem_of(&report, &took)?
            }
            Ok(Err(problem)) => return Some(PluginEvent::PassSkipped(problem.to_string())),
            Err(problem) => (problem, Cause::Defect),
        };
        let parked = self.agent.jobs_depending_on_dfrs();
        Some(PluginEvent::PassFailed(why, cause, parked))
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

    fn give_back(&mut self, now: Time) -> Attempt {
        let outcome = caught(|| self.agent.give_back(now));
        Attempt {
            has_panicked: outcome.is_err(),
            parked: outcome.and_then(|parked| parked.map_err(|problem| problem.to_string())),
            is_thaw_confirmed: self.agent.is_thaw_confirmed(),
            depending: self.agent.jobs_depending_on_dfrs(),
            has_left_out: self.has_left_out(),
        }
    }
}

#[cfg(test)]
mod tests {
    use dfrs_agent::Ports;
    use dfrs_agent::fixtures::{FakeDaemons, FakeSlurm, FakeStore, NoRecorder, config, job, nodes};
    use dfrs_agent::publish::state::State;
    use dfrs_agent::slurm::records::{ObservedJob, ObservedPlace, ObservedState};
    use dfrs_proto::conf::Mode;
    use dfrs_proto::status::BreakerState;

    use super::*;

    /// A breaker, and what is known of DFRS.
    struct Trial {
        breaker: CircuitBreaker<FakeSlurm, FakeDaemons>,
        life: PluginLife,
    }

    impl Trial {
        fn tick(&mut self, seconds: i64) {
            self.breaker
                .tick(&mut self.life, Time::from_seconds(seconds));
        }

        fn is_active(&self) -> bool {
            self.life.is_active()
        }

        fn is_open(&self) -> bool {
            self.life.status().state == BreakerState::Open
        }

        fn is_reset_due(&self, seconds: i64) -> bool {
            self.life.is_reset_due(Time::from_seconds(seconds))
        }

        /// Has the next pass take too long, and one tick done.
        fn trip_by_time(&mut self, seconds: i64) {
            self.breaker.max_pass_time = Duration::ZERO;
            self.breaker.agent.refresh();
            self.tick(seconds);
            assert!(!self.is_active());
        }
    }

    /// A breaker whose agent has one job, and that has done a pass.
    fn breaker() -> (FakeSlurm, Trial) {
        breaker_with(FakeDaemons::default())
    }

    fn breaker_with(daemons: FakeDaemons) -> (FakeSlurm, Trial) {
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
        let mut breaker = Trial {
            breaker: CircuitBreaker::new(agent, stopwatch),
            life: PluginLife::begun(Mode::Full, Time(0)),
        };
        breaker.tick(2000);
        assert!(breaker.is_active());
        (slurm, breaker)
    }

    /// A job of so many MiB that is parked on the node of job 1.
    fn park(slurm: &FakeSlurm, id: u32, memory: u64) {
        let mut world = slurm.0.borrow_mut();
        let place = ObservedPlace {
            memory_mib: 0,
            ..world.jobs[&1].places[0]
        };
        let parked = ObservedJob {
            state: ObservedState::Suspended,
            places: vec![place],
            ..job(id, 1)
        };
        let parked = parked.requesting(|request| request.memory = memory);
        world.jobs.insert(id, parked);
    }

    #[test]
    fn panic_trips_the_breaker_and_hands_over_to_backfill() {
        let (slurm, mut breaker) = breaker();
        slurm.0.borrow_mut().panic = true;
        breaker.tick(2010);
        assert!(!breaker.is_active());
        let status = breaker.life.status();
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
        breaker.breaker.max_decision_time = Duration::ZERO;
        slurm.0.borrow_mut().jobs.insert(2, job(2, 1));
        let is_pending = || slurm.0.borrow().jobs[&2].state == ObservedState::Pending;
        for (now, logged) in [(2010, 1), (2020, 2)] {
            breaker.tick(now);
            assert!(breaker.is_active() && is_pending());
            assert_eq!(slurm.0.borrow().errors.len(), logged, "one line for each");
        }
        assert_eq!(breaker.breaker.stopwatch.times().decisions_ended, 2);
        breaker.tick(2040);
        assert!(!breaker.is_active() && is_pending());
        let errors = slurm.0.borrow().errors.clone();
        let last = errors.last().expect("it is said");
        assert!(
            last.starts_with("3 decisions in a row took more than 10 s"),
            "{last}"
        );
        assert!(slurm.0.borrow().handed_over);
        assert!(breaker.is_reset_due(9999));
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
            breaker.breaker.max_decision_time = longest;
            breaker.tick(now);
            assert!(breaker.is_active(), "{now}");
        }
        assert_eq!(slurm.0.borrow().jobs[&2010].state, ObservedState::Running);
        assert_eq!(slurm.0.borrow().jobs[&2110].state, ObservedState::Pending);
    }

    #[test]
    fn breaker_resets_once_after_a_pass_that_took_too_long() {
        let (slurm, mut breaker) = breaker();
        breaker.trip_by_time(2010);
        assert!(slurm.0.borrow().handed_over);
        let error = slurm.0.borrow().errors[0].clone();
        assert!(error.ends_with("for 10 minutes; then one retry"), "{error}");
        assert_eq!(breaker.life.status().reset_at, Some(2610.0));
        for seconds in 2010..2610 {
            breaker.tick(seconds);
            assert!(!breaker.is_reset_due(seconds));
        }
        assert!(breaker.is_reset_due(2610), "its time is over");
        let events = [
            PluginEvent::ResetDue,
            PluginEvent::Configured(Ok(Mode::Full)),
            PluginEvent::Started,
        ];
        let reset = breaker.life.through(events, Time::from_seconds(2610));
        let (_, mut again) = super::tests::breaker();
        again.life = reset.clone();
        assert_eq!(again.life.status().trips, 1, "it is not forgotten");
        again.trip_by_time(2620);
        assert!(!again.is_reset_due(9999), "once");
        let (_, mut later) = super::tests::breaker();
        later.life = reset;
        later.trip_by_time(2610 + 3600);
        assert!(later.is_reset_due(9999), "an hour went well");
    }

    /// A breaker that has seen a parked job, 2, which does not fit beside job 1, and then tripped.
    fn tripped_with_one_parked() -> (FakeSlurm, Trial) {
        let (slurm, mut breaker) = breaker();
        park(&slurm, 2, 950);
        slurm.0.borrow_mut().updates = 2009;
        breaker.tick(2009);
        assert!(breaker.is_active());
        breaker.trip_by_time(2010);
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
            breaker.tick(seconds);
        }
        assert!(!slurm.0.borrow().handed_over, "job 1 has its memory");
        slurm.0.borrow_mut().end(1);
        let mut back = None;
        for seconds in 2100..2110 {
            breaker.tick(seconds);
            let runs = slurm.0.borrow().jobs[&2].state == ObservedState::Running;
            assert!(runs || !slurm.0.borrow().handed_over);
            back = back.or(slurm.0.borrow().handed_over.then_some(seconds));
        }
        assert_eq!(back, Some(2102), "it has its memory at 2100, and runs then");
        assert!(breaker.is_open());
        assert_eq!(slurm.0.borrow().errors.len(), 1);
    }

    #[test]
    fn backfill_is_withheld_after_a_trip_for_up_to_an_hour() {
        let (slurm, mut breaker) = tripped_with_one_parked();
        let mut handed_over = None;
        for seconds in 2010..6000 {
            breaker.tick(seconds);
            handed_over = handed_over.or(slurm.0.borrow().handed_over.then_some(seconds));
        }
        assert_eq!(handed_over, Some(2010 + 3600));
        assert_eq!(
            slurm.0.borrow().errors[1..],
            [
                "jobs that DFRS parked (1) have not resumed after 60 minutes: backfill schedules all partitions now, and may take their memory"
            ]
        );
        assert_eq!(breaker.life.status().state, BreakerState::StandingDown);
        slurm.0.borrow_mut().end(1);
        for seconds in 6000..6010 {
            breaker.tick(seconds);
        }
        assert_eq!(slurm.0.borrow().jobs[&2].state, ObservedState::Running);
        assert!(breaker.is_open());
    }

    #[test]
    fn backfill_takes_over_after_an_hour_when_restoring_fails() {
        let (slurm, mut breaker) = tripped_with_one_parked();
        slurm.0.borrow_mut().panic = true;
        let mut handed_over = None;
        for seconds in 2010..6000 {
            breaker.tick(seconds);
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
        assert_eq!(breaker.breaker.problem_of(&dropped(2), &took), None);
        let why = "3 decisions in a row had no valid plan".to_owned();
        let problem = breaker.breaker.problem_of(&dropped(3), &took);
        assert_eq!(problem, Some((why, Cause::Defect)));
    }

    #[test]
    fn breaker_does_not_reset_after_a_panic() {
        let (slurm, mut breaker) = breaker();
        slurm.0.borrow_mut().panic = true;
        breaker.tick(2010);
        assert!(!breaker.is_reset_due(9999));
        slurm.0.borrow_mut().panic = false;
    }

    #[test]
    fn breaker_does_not_reset_after_a_panic_while_restoring() {
        let (slurm, mut breaker) = breaker();
        breaker.trip_by_time(2010);
        slurm.0.borrow_mut().panic = true;
        breaker.tick(2011);
        assert!(!breaker.is_reset_due(9999));
        slurm.0.borrow_mut().panic = false;
    }

    #[test]
    fn job_whose_restore_panics_is_skipped_and_the_others_resume() {
        let (slurm, mut breaker) = breaker();
        let memory = job(1, 1).request.memory;
        for id in [2, 3, 4] {
            park(&slurm, id, memory);
        }
        slurm.0.borrow_mut().panic_about.insert(3);
        breaker.trip_by_time(2010);
        for seconds in 2011..2030 {
            breaker.tick(seconds);
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
        assert!(breaker.is_open(), "nothing else is to be done");
        let errors = slurm.0.borrow().errors.clone();
        let about = errors.iter().filter(|line| line.contains("JobId=3:"));
        assert_eq!(about.count(), 1, "{errors:?}");
        assert!(!breaker.is_reset_due(9999));
    }

    #[test]
    fn shadow_mode_begins_when_nodes_have_the_orders_of_resumed_jobs() {
        let daemons = FakeDaemons::default();
        let (slurm, mut breaker) = breaker_with(daemons.clone());
        let node = slurm.0.borrow().nodes[0].name.clone();
        daemons.0.borrow_mut().outdated.insert(node);
        park(&slurm, 2, job(1, 1).request.memory);
        breaker.life = PluginLife::begun(Mode::Shadow, Time::from_seconds(2010));
        let mut begins = None;
        for seconds in 2010..2040 {
            if seconds == 2021 {
                daemons.0.borrow_mut().outdated.clear();
            }
            breaker.tick(seconds);
            if breaker.life.is_given_back() {
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
        breaker.tick(2010);
        let (mut now, mut tries) = (2010, Vec::new());
        while tries.len() < 3 {
            let before = slurm.0.borrow().errors.len();
            breaker.tick(now);
            if slurm.0.borrow().errors.len() > before {
                tries.push(now);
            }
            now += 1;
        }
        assert_eq!(tries, [2010, 2014, 2022]);
        slurm.0.borrow_mut().panic = false;
        breaker.tick(2040);
        let logged = slurm.0.borrow().errors.len();
        for now in 2041..2400 {
            breaker.tick(now);
        }
        assert_eq!(slurm.0.borrow().errors.len(), logged, "all is back");
        assert!(breaker.is_open());
    }
}
