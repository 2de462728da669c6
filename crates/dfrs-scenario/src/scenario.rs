//! One decision, and what is expected of it.

use dfrs_core::{Blocked, Cluster, Events, JobId, Plan, Policy, Time, Violation};

/// All that a decision depends on, and what is expected of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// What it shows, in one line.
    pub title: String,
    /// What else there is to say about it, a line each: the comments directly below the title.
    pub notes: Vec<String>,
    /// The policy and its settings.
    pub policy: Policy,
    /// When it is decided.
    pub now: Time,
    /// Nodes and jobs.
    pub cluster: Cluster,
    /// What happened.
    pub events: Events,
    /// What the decision shall be; `None`: not given yet.
    pub expected: Option<ScenarioOutcome>,
}

/// What a decision is, and which rules it breaks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScenarioOutcome {
    /// The plan.
    pub plan: Plan,
    /// The jobs that it leaves waiting, and why.
    pub blocked: Vec<(JobId, Blocked)>,
    /// The rules that it or the cluster breaks, a line each.
    pub violations: Vec<String>,
}

impl ScenarioOutcome {
    /// The plan, which jobs wait and why, and what a check found.
    pub fn new(plan: Plan, blocked: Vec<(JobId, Blocked)>, violations: &[Violation]) -> Self {
        let violations = violations.iter().map(Violation::to_string).collect();
        Self {
            plan,
            blocked,
            violations,
        }
    }
}

impl Scenario {
    /// Where this outcome differs from what is expected, as lines: `-` and what was expected, `+`
    /// and what is. Nothing if they are the same, or if no outcome is expected.
    #[must_use]
    pub fn difference(&self, outcome: &ScenarioOutcome) -> Vec<String> {
        let Some(expected) = &self.expected else {
            return Vec::new();
        };
        let (old, new) = (expected.lines(&self.cluster), outcome.lines(&self.cluster));
        let alike = |(old, new): &(&String, &String)| old == new;
        let head = old.iter().zip(&new).take_while(alike).count();
        let (old, new) = (&old[head..], &new[head..]);
        let tail = old.iter().rev().zip(new.iter().rev());
        let tail = tail.take_while(alike).count();
        let gone = old[..old.len() - tail].iter();
        let come = new[..new.len() - tail].iter();
        gone.map(|line| format!("- {line}"))
            .chain(come.map(|line| format!("+ {line}")))
            .collect()
    }
}
