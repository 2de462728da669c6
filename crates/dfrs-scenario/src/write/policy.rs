//! The line of the policy.

use dfrs_core::{LoadCeiling, POLICY_SETTINGS, Policy, PolicySetting, PriorityFunction, Settings};

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
    // The ceiling stands before the budget, and other settings behind everything.
    let ceiling = &LoadCeiling::SETTING;
    words.extend(changed_setting(ceiling, settings, implied));
    let (budget, implied_budget) = (&settings.budget, &implied.budget);
    for (key, max, implied_max) in [
        (
            "moves-per-decision",
            budget.moves_per_decision,
            implied_budget.moves_per_decision,
        ),
        (
            "moves-per-job",
            budget.moves_per_job,
            implied_budget.moves_per_job,
        ),
    ] {
        if max != implied_max {
            let max = max.map_or("none".into(), |max| max.to_string());
            words.push(format!("{key}={max}"));
        }
    }
    if settings.keep_equal_jobs {
        words.push("keep-equal-jobs".into());
    }
    let others = POLICY_SETTINGS.iter();
    let others = others.filter(|setting| setting.word != ceiling.word);
    words.extend(others.filter_map(|setting| changed_setting(setting, settings, implied)));
    words
}

/// The word of a setting that the name does not imply.
fn changed_setting(
    setting: &PolicySetting,
    settings: &Settings,
    implied: &Settings,
) -> Option<String> {
    let (value, implied) = ((setting.show)(settings), (setting.show)(implied));
    (value != implied).then(|| format!("{}={value}", setting.word))
}
