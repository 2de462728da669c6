//! Keeps trouble in DFRS away from slurmctld: a panic, records that are not what the plugin was
//! compiled for, or a pass that takes too long, and DFRS stands down for good (until the next
//! restart or reconfigure): paused jobs come back, caps are lifted, Slurm's own backfill schedules
//! all partitions, and one error line says why.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use dfrs_agent::Agent;
use dfrs_agent::daemons::Daemons;
use dfrs_agent::slurm::{Level, Slurm};
use dfrs_core::{Span, Time};

use crate::watched::panic_text;

/// A pass that takes longer trips the breaker.
const LONGEST_PASS: Duration = Duration::from_secs(20);
/// Time between two attempts to bring back what is parked, once tripped.
const STAND_DOWN_INTERVAL: Span = Span(2_000_000);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Health {
    Active,
    /// Gives the cluster back, next at this time.
    StandingDown(Time),
    /// Has given it back, or must not touch Slurm's records at all.
    Out,
}

/// An agent behind a breaker.
pub struct Breaker<S, D> {
    agent: Agent<S, D>,
    health: Health,
}

impl<S: Slurm, D: Daemons> Breaker<S, D> {
    /// A closed breaker.
    pub fn new(agent: Agent<S, D>) -> Self {
        Self {
            agent,
            health: Health::Active,
        }
    }

    /// One that only gives back what an agent before this one has parked.
    pub fn giving_back(agent: Agent<S, D>, now: Time) -> Self {
        Self {
            agent,
            health: Health::StandingDown(now),
        }
    }

    /// Whether DFRS still schedules.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.health == Health::Active
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

    /// Slurm was reconfigured: what it was told before may be forgotten.
    pub fn refresh(&mut self) {
        self.agent.refresh();
    }

    /// Stops the agent.
    pub fn finish(&mut self, now: Time) {
        let _ = catch_unwind(AssertUnwindSafe(|| self.agent.finish(now)));
    }

    fn guarded_pass(&mut self, now: Time) -> bool {
        if !self.may_look(now) {
            return false;
        }
        let started = Instant::now();
        match catch_unwind(AssertUnwindSafe(|| self.agent.pass(now))) {
            Ok(Ok(report)) => {
                let elapsed = started.elapsed();
                let microseconds = u32::try_from(elapsed.as_micros()).unwrap_or(u32::MAX);
                self.agent.slurm().count_cycle(
                    microseconds,
                    report.queue,
                    report.depth,
                    report.started,
                );
                if elapsed > LONGEST_PASS {
                    self.trip(now, &format!("a pass took {} s", elapsed.as_secs()));
                }
                return report.unfinished;
            }
            Ok(Err(problem)) => self
                .agent
                .slurm()
                .log(Level::Error, &format!("pass skipped: {problem}")),
            Err(panic) => self.trip(
                now,
                &format!("internal error: {}", panic_text(panic.as_ref())),
            ),
        }
        false
    }

    /// Whether Slurm's records can be trusted and this slurmctld is in charge.
    fn may_look(&mut self, now: Time) -> bool {
        let Some(problem) = self.agent.slurm().layout_problem() else {
            return self.agent.slurm().is_primary();
        };
        self.health = Health::Out;
        let text = format!(
            "this plugin does not fit this slurmctld ({problem}): it does nothing; install the one built for this Slurm version"
        );
        self.agent.slurm().log(Level::Error, &text);
        // Without news the node daemons lift their caps.
        self.finish(now);
        false
    }

    fn trip(&mut self, now: Time, why: &str) {
        let text = format!(
            "{why}; DFRS stands down: paused jobs come back, caps are lifted, backfill schedules all partitions until the next 'scontrol reconfigure'"
        );
        self.agent.slurm().log(Level::Error, &text);
        self.health = Health::StandingDown(now);
        self.agent.slurm().hand_over_to_backfill();
    }

    fn stand_down(&mut self, now: Time) {
        if !self.may_look(now) {
            return;
        }
        let parked = catch_unwind(AssertUnwindSafe(|| self.agent.stand_down(now)));
        self.health = match parked {
            Ok(Ok(0)) => Health::Out,
            Ok(_) => Health::StandingDown(Time(now.0 + STAND_DOWN_INTERVAL.0)),
            Err(_) => Health::Out,
        };
    }
}

#[cfg(test)]
mod tests {
    use dfrs_agent::Ports;
    use dfrs_agent::model::{FakeDaemons, FakeSlurm, FakeStore, config, job, nodes};
    use dfrs_agent::recorder::NoRecorder;
    use dfrs_agent::state::State;

    use super::*;

    #[test]
    fn a_panic_gives_the_cluster_back() {
        let slurm = FakeSlurm::default();
        slurm.0.borrow_mut().nodes = nodes(1);
        slurm.0.borrow_mut().jobs.insert(1, job(1, 1));
        let ports = Ports {
            slurm: slurm.clone(),
            daemons: FakeDaemons::default(),
            store: Box::new(FakeStore::default()),
            journal: None,
            recorder: Box::new(NoRecorder),
        };
        let agent = Agent::new(ports, config(), State::default(), Time(0));
        let mut breaker = Breaker::new(agent);
        breaker.tick(Time::from_seconds(2000));
        assert!(breaker.is_active());
        slurm.0.borrow_mut().panic = true;
        breaker.tick(Time::from_seconds(2010));
        assert!(!breaker.is_active());
        assert!(slurm.0.borrow().handed_over);
        assert_eq!(slurm.0.borrow().errors.len(), 1, "one clear line");
        slurm.0.borrow_mut().panic = false;
    }
}
