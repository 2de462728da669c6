//! Lines below `----`.

use dfrs_core::{Action, Cluster, PlannedAction, Reason, Yield};

use super::one_line;
use crate::ids;
use crate::mappings;
use crate::names::Labels;
use crate::reasons::{show_blocked, show_reason};
use crate::scenario::ScenarioOutcome;

impl ScenarioOutcome {
    /// The lines below `----` of a scenario with this outcome: the plan in its order, which jobs
    /// wait, and what is violated. They are what is compared: a yield that is no number is equal to
    /// itself there.
    pub fn lines(&self, cluster: &Cluster) -> Vec<String> {
        let labels = Labels::of(cluster);
        let alike = |one: &PlannedAction, next: &PlannedAction| {
            let shares = share_of(one).zip(share_of(next));
            one.reason == next.reason
                && shares.is_some_and(|(one, next)| one.0.to_bits() == next.0.to_bits())
        };
        let actions = self.plan.actions.chunk_by(alike);
        let actions = actions.map(|alike| show_actions(alike, &labels));
        let waiting = self.blocked.chunk_by(|one, next| one.1 == next.1);
        let waiting = waiting.map(|alike| {
            let jobs = ids::fold(alike.iter().map(|(job, _)| *job), ",");
            format!("waits {jobs}: {}", show_blocked(alike[0].1))
        });
        let violations = self.violations.iter();
        let violations = violations.map(|violation| format!("violation {}", one_line(violation)));
        actions.chain(waiting).chain(violations).collect()
    }
}

/// The yield that an action sets.
fn share_of(planned: &PlannedAction) -> Option<Yield> {
    match planned.action {
        Action::SetYield(_, share) => Some(share),
        _ => None,
    }
}

/// One action, or several that set the same yield.
fn show_actions(alike: &[PlannedAction], labels: &Labels) -> String {
    let PlannedAction { action, reason } = &alike[0];
    let (verb, job) = (action.verb(), action.job());
    let why = show_reason(*reason);
    match action {
        Action::Pause(_) => format!("{verb} {job}: {why}"),
        Action::Start(_, mapping) | Action::Resume(_, mapping) | Action::Migrate(_, mapping) => {
            format!("{verb} {job} on {}: {why}", mappings::show(mapping, labels))
        }
        Action::SetYield(_, share) => {
            let jobs = ids::fold(alike.iter().map(|planned| planned.action.job()), ",");
            match reason {
                Reason::Share => format!("{verb} {jobs} {}", share.0),
                _ => format!("{verb} {jobs} {}: {why}", share.0),
            }
        }
    }
}
