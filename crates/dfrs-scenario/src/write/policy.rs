//! The line of the policy.

use dfrs_core::{Policy, PriorityFunction, RunTimeHint, Settings};

use crate::read::PRIORITIES;
use crate::units::show_span;

/// The name, and the settings that it does not imply. A policy without a name, which none is that
/// was read from one, is shown by what comes nearest.
pub(super) fn show(policy: &Policy) -> String {
    let named = settings_of_names(policy).find_map(|settings| {
        let named = named(policy, settings);
        let implied = policy.read_alike(&named).ok()?;
        let settings = policy.settings.clone();
        let again = Policy {
            settings,
            ..implied.clone()
        };
        (again == *policy).then_some((named, implied.settings))
    });
    let (name, implied) = named.unwrap_or_else(|| (named_as_it_is(policy), Settings::default()));
    let settings = changed(&policy.settings, &implied);
    [vec![name], settings].concat().join(" ")
}

/// Settings with which the policy may have a name: names imply some of them.
fn settings_of_names(policy: &Policy) -> impl Iterator<Item = Settings> {
    let of_ipdps = Settings {
        priority: PriorityFunction::BoundedFlowOverVirtualTimeSquared,
        ..Settings::default()
    };
    [policy.settings.clone(), Settings::default(), of_ipdps].into_iter()
}

/// The policy's name with these settings. With a period it has a space, and is read with a hyphen,
/// too.
fn named(policy: &Policy, settings: Settings) -> String {
    let policy = policy.clone();
    named_as_it_is(&Policy { settings, ..policy })
}

fn named_as_it_is(policy: &Policy) -> String {
    policy.to_string().replace(' ', "-")
}

fn changed(settings: &Settings, implied: &Settings) -> Vec<String> {
    let mut words = Vec::new();
    let mut add = |is_changed: bool, key: &str, value: String| {
        if is_changed {
            words.push(format!("{key}={value}"));
        }
    };
    let limit = |max: Option<u32>| max.map_or("none".into(), |max| max.to_string());
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
        .map_or("none".into(), |ceiling| ceiling.to_string());
    add(
        settings.load_ceiling != implied.load_ceiling,
        "load-ceiling",
        ceiling,
    );
    let (budget, implied_budget) = (&settings.budget, &implied.budget);
    let max = budget.moves_per_decision;
    add(
        max != implied_budget.moves_per_decision,
        "moves-per-decision",
        limit(max),
    );
    let max = budget.moves_per_job;
    add(
        max != implied_budget.moves_per_job,
        "moves-per-job",
        limit(max),
    );
    if settings.keep_equal_jobs {
        words.push("keep-equal-jobs".into());
    }
    if settings.run_time_hint == RunTimeHint::Limits {
        words.push("run-time-hint=limits".into());
    }
    if let Some(least) = settings.parallel_least_yield {
        words.push(format!("parallel-least-yield={least}"));
    }
    words
}
