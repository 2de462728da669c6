//! For programs.

use dfrs_core::{Action, PlannedAction};
use dfrs_lab::sim::results;
use dfrs_scenario::Labels;
use serde_json::{Value, json};

use super::Case;

/// An array with an object for each scenario, one a line.
pub fn show(cases: &[Case]) -> Result<String, String> {
    results::json(&cases.iter().map(object).collect::<Vec<_>>())
}

fn object(case: &Case) -> Value {
    let labels = Labels::of(&case.scenario.cluster);
    let plan = &case.decided.plan;
    let actions: Vec<Value> = plan
        .actions
        .iter()
        .map(|planned| action(planned, &labels))
        .collect();
    let waiting: Vec<Value> = case
        .decided
        .blocked
        .iter()
        .map(|(job, why)| json!({ "job": job, "why": why.to_string() }))
        .collect();
    let violations: Vec<Value> = case
        .decided
        .violations
        .iter()
        .map(|violation| {
            json!({
                "severity": violation.severity().to_string(),
                "rule": violation.kind.rule(),
                "what": violation.to_string(),
            })
        })
        .collect();
    let has_expectation = case.scenario.expected.is_some();
    json!({
        "title": case.scenario.title,
        "policy": case.scenario.policy.to_string(),
        "now": case.scenario.now.seconds(),
        "actions": actions,
        "waiting": waiting,
        "violations": violations,
        "as_expected": has_expectation.then_some(case.difference.is_empty()),
        "difference": case.difference,
    })
}

fn action(planned: &PlannedAction, labels: &Labels) -> Value {
    let mut object = json!({
        "action": planned.action.verb(),
        "job": planned.action.job(),
        "why": planned.reason.to_string(),
    });
    if let Some(mapping) = planned.action.mapping() {
        let nodes: Vec<Value> = mapping
            .iter()
            .map(|run| json!({ "node": labels.label(run.node), "tasks": run.tasks }))
            .collect();
        object["nodes"] = nodes.into();
    }
    if let Action::SetYield(_, share) = planned.action {
        object["yield"] = share.0.into();
    }
    object
}
