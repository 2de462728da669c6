//! What debug builds check at every decision.

use std::collections::BTreeMap;

use dfrs_core::{Action, JobId, Mapping, Policy, Roster, Severity, Time, Trigger, check, decide};

/// Panics if the whole decision has a plan that is in error, or leads elsewhere than these changes, or if
/// the roster is not the cluster's.
pub(super) fn assert_planned(
    policy: &Policy,
    roster: &Roster,
    now: Time,
    trigger: Trigger,
    changes: &[(JobId, Option<Mapping>)],
) {
    let cluster = roster.cluster();
    assert!(
        *roster == Roster::new(cluster.clone()),
        "{now}, {trigger:?}"
    );
    let plan = decide(policy, cluster, now, trigger);
    let mut found = check(cluster, &plan);
    found.retain(|violation| violation.severity() == Severity::Error);
    assert!(found.is_empty(), "{now}, {trigger:?}: {}", found[0]);
    let mut planned = BTreeMap::new();
    for action in plan.actions.into_iter().map(|planned| planned.action) {
        let job = action.job();
        match action {
            Action::SetYield(..) => {}
            Action::Pause(_) => _ = planned.insert(job, None),
            Action::Start(_, mapping)
            | Action::Resume(_, mapping)
            | Action::Migrate(_, mapping) => {
                planned.insert(job, Some(mapping));
            }
        }
    }
    let planned: Vec<(JobId, Option<Mapping>)> = planned.into_iter().collect();
    assert_eq!(planned, changes, "{now}, {trigger:?}");
}
