//! What was recorded is decided again, exactly.

mod common;

use common::{ClusterKind, NOW, cases, cluster, events, policy};
use dfrs_core::{Roster, check, decide};
use dfrs_scenario::{ScenarioOutcome, Snapshot, read};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(400)))]

    #[test]
    fn a_recorded_decision_is_decided_again(cluster in cluster(ClusterKind { plain: false }), policy in policy(), events in events()) {
        let mut roster = Roster::new(cluster.clone());
        let decision = decide(&policy, &mut roster, NOW, &events);
        let plan = decision.plan();
        let outcome = ScenarioOutcome::new(plan.clone(), decision.blocked(), &check(&cluster, &plan));
        let snapshot = Snapshot {
            title: "recorded",
            notes: &[],
            policy: &policy,
            now: NOW,
            cluster: &cluster,
            events: &events,
            outcome: Some(&outcome),
        };
        let again = read(&snapshot.to_string(), "file", dfrs_papers::policy).unwrap().remove(0);
        prop_assert_eq!(&again.policy, &policy);
        prop_assert_eq!(&again.cluster, &cluster);
        prop_assert_eq!(again.decide().plan, plan);
        prop_assert_eq!(again.expected, Some(outcome));
    }
}
