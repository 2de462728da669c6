//! The flight recorder: the input of a decision, and its result.

use dfrs_core::{Decision, Events, Plan, Policy, Time, Violation};
use dfrs_scenario::{ScenarioOutcome, Snapshot};

use crate::daemons::Daemons;
use crate::pass::Agent;
use crate::publish::recorder::Occasion;
use crate::slurm::port::{LogLevel, Slurm};

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Records a decision whose plan breaks rules, or that was requested.
    pub(in crate::pass) fn record(
        &mut self,
        policy: &Policy,
        decision: &Decision<'_>,
        plan: &Plan,
        violations: &[Violation],
        events: &Events,
        now: Time,
    ) {
        let (occasion, title) = if !violations.is_empty() {
            (Occasion::Dropped, "a plan that was dropped")
        } else if self.publisher.recorder.is_requested() {
            (Occasion::Requested, "a decision that was asked for")
        } else {
            return;
        };
        let outcome = ScenarioOutcome::new(plan.clone(), decision.blocked(), violations);
        let snapshot = Snapshot {
            title,
            notes: &[format!("slurm-dfrs {}", env!("CARGO_PKG_VERSION"))],
            policy,
            now,
            cluster: decision.cluster(),
            events,
            outcome: Some(&outcome),
        };
        match self
            .publisher
            .recorder
            .save(occasion, &snapshot.to_string())
        {
            Ok(Some(place)) => {
                let text = format!("{title} is in {place}; 'dfrs decide' shows it");
                self.slurm.log(LogLevel::Info, &text);
            }
            Ok(None) => {}
            Err(problem) => {
                let text = format!("{title} was not recorded: {problem}");
                self.slurm.log(LogLevel::Error, &text);
            }
        }
    }
}
