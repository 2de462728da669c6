//! A scenario, decided.

use dfrs_core::{Blocked, JobId, Plan, Roster, Violation, check, check_cluster, decide};

use crate::scenario::{Scenario, ScenarioOutcome};

/// What is decided, and the rules that it breaks.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    /// The plan.
    pub plan: Plan,
    /// The jobs that it leaves waiting, and why.
    pub blocked: Vec<(JobId, Blocked)>,
    /// The rules that the cluster breaks by itself, then those that the plan breaks.
    pub violations: Vec<Violation>,
}

impl Decided {
    /// The decision as scenario files have it.
    pub fn outcome(&self) -> ScenarioOutcome {
        ScenarioOutcome::new(self.plan.clone(), self.blocked.clone(), &self.violations)
    }
}

impl Scenario {
    /// Decides, and checks cluster and plan.
    pub fn decide(&self) -> Decided {
        let mut roster = Roster::new(self.cluster.clone());
        let decision = decide(&self.policy, &mut roster, self.now, &self.events);
        let plan = decision.plan();
        let mut violations = check_cluster(&self.cluster);
        violations.extend(check(&self.cluster, &plan));
        Decided {
            plan,
            blocked: decision.blocked(),
            violations,
        }
    }
}
