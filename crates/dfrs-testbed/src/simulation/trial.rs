//! One scenario from its start until everything has finished, under watch.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use dfrs_agent::panics::panic_text;
use dfrs_core::{Span, Time};

use super::driver::{Driver, Journaling};
use super::scenario::{SECOND, TrialScenario};
use super::watch::Watch;
use crate::model::JobProgram;
use crate::model::acts::Act;

/// After the faults, this much, and some times the work of all jobs, is enough for all to finish.
const MIN_TIMEOUT: Span = Span(7200 * SECOND);
const WORK_FACTOR: i64 = 4;

/// Why a scenario failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Which rule was broken: a word or two.
    pub rule: &'static str,
    /// When, since the start.
    pub at: Span,
    /// What exactly.
    pub what: String,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (rule, what) = (self.rule, &self.what);
        write!(
            formatter,
            "{rule} at {}: {what}",
            super::notation::decimal(self.at)
        )
    }
}

/// What a trial that went well was like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// Passes of the agent.
    pub passes: u64,
    /// How long it took in the model.
    pub lasted: Span,
}

/// Runs a scenario to its end.
///
/// # Errors
///
/// The first rule that was broken.
pub fn run(scenario: &TrialScenario) -> Result<Passed, Failure> {
    try_with(&mut Trial::new(scenario), scenario)
}

/// Runs a scenario to its end: what was submitted, by its label, and how it went.
///
/// # Errors
///
/// The first rule that was broken.
pub fn programs(scenario: &TrialScenario) -> Result<BTreeMap<u32, JobProgram>, Failure> {
    let mut trial = Trial::new(scenario);
    try_with(&mut trial, scenario)?;
    let model = trial.driver.model().borrow();
    Ok(model.programs().clone())
}

/// Runs the scenario, and returns everything that was done, logged and written to the journal in
/// it, line by line.
pub fn run_with_transcript(scenario: &TrialScenario) -> (Vec<String>, Result<Passed, Failure>) {
    let mut trial = Trial::new(scenario);
    trial.watch.transcript = Some(Vec::new());
    let result = try_with(&mut trial, scenario);
    let transcript = trial.watch.transcript.take().unwrap_or_default();
    let since = |at: Time| super::notation::decimal(Span(at.0 - TrialScenario::begins().0));
    let lines = transcript.into_iter();
    let lines = lines.map(|(at, line)| format!("{}: {line}", since(at)));
    (lines.collect(), result)
}

fn try_with(trial: &mut Trial, scenario: &TrialScenario) -> Result<Passed, Failure> {
    let (now, tried) = {
        let tried = catch_unwind(AssertUnwindSafe(|| trial.run(scenario)));
        let now = trial.driver.model().try_borrow().map(|model| model.now());
        (now.unwrap_or(TrialScenario::begins()), tried)
    };
    tried.unwrap_or_else(|panic| {
        Err(Failure {
            rule: "no panic",
            at: Span(now.0 - TrialScenario::begins().0),
            what: panic_text(panic.as_ref()).to_owned(),
        })
    })
}

struct Trial {
    driver: Driver,
    watch: Watch,
}

impl Trial {
    fn new(scenario: &TrialScenario) -> Self {
        let conf = scenario.conf.join("\n");
        Self {
            driver: Driver::new(scenario.model(), &conf, Journaling::On),
            watch: Watch::default(),
        }
    }

    fn run(&mut self, scenario: &TrialScenario) -> Result<Passed, Failure> {
        let begins = TrialScenario::begins().0;
        for (at, act) in &scenario.acts {
            self.until(Time(begins + at.0), false)?;
            self.watch.act(act);
            self.driver.act(act);
            self.look()?;
        }
        self.until(Time(begins + scenario.heal.0), false)?;
        self.driver
            .model()
            .borrow_mut()
            .heal(&scenario.keep_drained);
        self.watch.healed();
        let acts = || scenario.acts.iter().map(|(_, act)| act);
        let work: i64 = acts().map(work_of).sum();
        let later: i64 = acts().map(clock_setback).sum();
        let enough = scenario.heal.0 + MIN_TIMEOUT.0 + WORK_FACTOR * work + later;
        self.until(Time(begins + enough), true)?;
        // The last orders to the nodes are carried out by then.
        let now = self.driver.model().borrow().now();
        self.until(Time(now.0 + 130 * SECOND), false)?;
        let over = self.watch.end(&self.driver);
        over.map_err(|failure| self.at(failure))?;
        let lasted = Span(now.0 - begins);
        Ok(Passed {
            passes: self.driver.passes(),
            lasted,
        })
    }

    /// Goes on until then, or until all is over.
    fn until(&mut self, until: Time, or_idle: bool) -> Result<(), Failure> {
        loop {
            let there = self.driver.step(until);
            self.look()?;
            let idle = or_idle && self.driver.model().borrow().is_idle();
            if there || idle {
                return Ok(());
            }
        }
    }

    fn look(&mut self) -> Result<(), Failure> {
        let looked = self.watch.look(&self.driver);
        looked.map_err(|failure| self.at(failure))
    }

    fn at(&self, (rule, what): (&'static str, String)) -> Failure {
        let now = self.driver.model().borrow().now();
        Failure {
            rule,
            at: Span(now.0 - TrialScenario::begins().0),
            what,
        }
    }
}

fn work_of(act: &Act) -> i64 {
    match act {
        Act::Submit(submission) => submission.work.0 * i64::from(submission.array.max(1)),
        _ => 0,
    }
}

/// How much later jobs may begin that wait for a time of Slurm's clock.
fn clock_setback(act: &Act) -> i64 {
    match act {
        Act::MoveClock(seconds) => seconds.saturating_neg().max(0) * SECOND,
        _ => 0,
    }
}
