//! What was recorded is decided again, exactly.

mod common;

use common::{Kinds, NOW, cases, cluster, policy, trigger};
use dfrs_core::{Trigger, check, decide};
use dfrs_scenario::{Events, Outcome, Snapshot, read};
use proptest::prelude::*;

fn events(trigger: Trigger) -> Events {
    let mut events = Events::default();
    match trigger {
        Trigger::Submission(job) => events.submitted.push(job),
        Trigger::Completion => events.ended = true,
        Trigger::Period => events.period = true,
        Trigger::NodeChange => events.nodes_changed = true,
    }
    events
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(400)))]

    #[test]
    fn a_recorded_decision_is_decided_again(cluster in cluster(Kinds { plain: false }), policy in policy(), trigger in trigger()) {
        let plan = decide(&policy, &cluster, NOW, trigger);
        let outcome = Outcome::new(plan.clone(), &check(&cluster, &plan));
        let snapshot = Snapshot {
            title: "recorded",
            notes: &[],
            policy: &policy,
            now: NOW,
            cluster: &cluster,
            events: &events(trigger),
            outcome: Some(&outcome),
        };
        let again = read(&snapshot.to_string(), "file").unwrap().remove(0);
        prop_assert_eq!(&again.policy, &policy);
        prop_assert_eq!(&again.cluster, &cluster);
        prop_assert_eq!(again.decide().unwrap().plan, plan);
        prop_assert_eq!(again.expected, Some(outcome));
    }
}
