//! What was recorded is decided again, exactly.

mod common;

use std::borrow::Cow;

use common::{ClusterKind, NOW, cases, cluster, events, policy};
use dfrs_core::units::Yield;
use dfrs_core::{
    Action, Cluster, DecisionRecord, Events, JobId, Optimisation, Plan, PlannedAction, Policy,
    Reason, Roster, Violation, check, decide,
};
use dfrs_scenario::{ScenarioOutcome, from_record, is_record, read};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(400)))]

    #[test]
    fn a_recorded_decision_is_decided_again(cluster in cluster(ClusterKind { plain: false }), policy in policy(), events in events()) {
        let mut roster = Roster::new(cluster.clone());
        let decision = decide(&policy, &mut roster, NOW, &events);
        let plan = decision.plan();
        let violations = check(&cluster, &plan);
        let record = DecisionRecord {
            title: "recorded".into(),
            program: "slurm-dfrs".into(),
            policy: Cow::Borrowed(&policy),
            now: NOW,
            cluster: Cow::Borrowed(&cluster),
            events: Cow::Borrowed(&events),
            plan: Cow::Borrowed(&plan),
            blocked: decision.blocked(),
            violations: violations.iter().map(Violation::to_string).collect(),
        };
        // Goals that others bring in are for experiments: the plugin records none.
        prop_assume!(!matches!(policy.optimisation, Optimisation::Further(_)));
        let json = serde_json::to_string(&record).unwrap();
        prop_assert!(is_record(&json));
        let text = from_record(&json).unwrap();
        let again = read(&text, "file", dfrs_papers::policy).unwrap().remove(0);
        let outcome = ScenarioOutcome::new(plan.clone(), decision.blocked(), &violations);
        prop_assert_eq!(&again.policy, &policy);
        prop_assert_eq!(&again.cluster, &cluster);
        prop_assert_eq!(again.decide().plan, plan);
        prop_assert_eq!(again.expected, Some(outcome));
    }
}

#[test]
fn yield_that_is_no_number_is_read_as_it_was_recorded() {
    let share = PlannedAction {
        action: Action::SetYield(JobId(7), Yield(f64::NAN)),
        reason: Reason::Share,
    };
    let record = DecisionRecord {
        title: "a plan that was dropped".into(),
        program: "slurm-dfrs".into(),
        policy: Cow::Owned(Policy::recommended()),
        now: NOW,
        cluster: Cow::Owned(Cluster::default()),
        events: Cow::Owned(Events::default()),
        plan: Cow::Owned(Plan {
            actions: vec![share],
        }),
        blocked: Vec::new(),
        violations: Vec::new(),
    };
    let text = from_record(&serde_json::to_string(&record).unwrap()).unwrap();
    assert!(text.ends_with("----\nyield 7 NaN\n"), "{text}");
    assert!(from_record("{}").unwrap_err().contains("missing field"));
}
