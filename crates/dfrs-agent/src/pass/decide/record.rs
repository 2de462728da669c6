//! The flight recorder: the input of a decision, and its result.

use std::borrow::Cow;

use dfrs_core::{Decision, DecisionRecord, Events, Plan, Policy, Time, Violation};

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
        let record = DecisionRecord {
            title: title.into(),
            program: concat!("slurm-dfrs ", env!("CARGO_PKG_VERSION")).into(),
            policy: Cow::Borrowed(policy),
            now,
            cluster: Cow::Borrowed(decision.cluster()),
            events: Cow::Borrowed(events),
            plan: Cow::Borrowed(plan),
            blocked: decision.blocked(),
            violations: violations.iter().map(Violation::to_string).collect(),
        };
        match self.publisher.recorder.save(occasion, &record) {
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
