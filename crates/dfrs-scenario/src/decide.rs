//! A scenario, decided.

use dfrs_core::{Plan, Violation, check, check_cluster, decide};

use crate::scenario::{Outcome, Scenario};

/// What is decided, and the rules that it breaks.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    /// The plan, with the jobs that it leaves waiting.
    pub plan: Plan,
    /// The rules that the cluster breaks by itself, then those that the plan breaks.
    pub violations: Vec<Violation>,
}

impl Decided {
    /// The same as scenario files have it.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        Outcome::new(self.plan.clone(), &self.violations)
    }
}

impl Scenario {
    /// Decides, and checks cluster and plan.
    ///
    /// # Errors
    ///
    /// One line: several things happened at once.
    pub fn decide(&self) -> Result<Decided, String> {
        let trigger = self.events.trigger();
        let trigger =
            trigger.ok_or("one event is decided about at a time; leave one event line")?;
        let plan = decide(&self.policy, &self.cluster, self.now, trigger);
        let mut violations = check_cluster(&self.cluster);
        violations.extend(check(&self.cluster, &plan));
        Ok(Decided { plan, violations })
    }
}
