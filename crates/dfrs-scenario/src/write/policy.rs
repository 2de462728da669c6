//! The line of the policy.

use dfrs_core::{Policy, Settings};

use crate::read::PRIORITIES;
use crate::units::show_span;

/// The name, and the settings that it does not imply.
pub(super) fn show(policy: &Policy) -> String {
    // With a period in seconds, names have a space, and are read with a hyphen, too.
    let name = policy.to_string().replace(' ', "-");
    let implied = name.parse::<Policy>().map(|policy| policy.settings);
    let settings = changed(&policy.settings, &implied.unwrap_or_default());
    [vec![name], settings].concat().join(" ")
}

fn changed(settings: &Settings, implied: &Settings) -> Vec<String> {
    let mut words = Vec::new();
    let mut add = |is_changed: bool, key: &str, value: String| {
        if is_changed {
            words.push(format!("{key}={value}"));
        }
    };
    let limit = |most: Option<u32>| most.map_or("none".into(), |most| most.to_string());
    add(
        settings.period != implied.period,
        "period",
        show_span(settings.period),
    );
    add(
        settings.penalty != implied.penalty,
        "penalty",
        show_span(settings.penalty),
    );
    let name = PRIORITIES
        .iter()
        .find(|(_, known)| *known == settings.priority);
    let name = name.map_or("", |(name, _)| name);
    add(
        settings.priority != implied.priority,
        "priority",
        name.into(),
    );
    let ceiling = settings
        .load_ceiling
        .map_or("none".into(), |ceiling| format!("{}%", ceiling.0));
    add(
        settings.load_ceiling != implied.load_ceiling,
        "load-ceiling",
        ceiling,
    );
    let (budget, implied_budget) = (&settings.budget, &implied.budget);
    let most = budget.moves_per_decision;
    add(
        most != implied_budget.moves_per_decision,
        "moves-per-decision",
        limit(most),
    );
    let most = budget.moves_per_job;
    add(
        most != implied_budget.moves_per_job,
        "moves-per-job",
        limit(most),
    );
    if settings.keep_equal_jobs {
        words.push("keep-equal-jobs".into());
    }
    words
}
