//! The line of the policy.

use std::convert::identity;

use dfrs_core::{LoadCeiling, POLICY_SETTINGS, Policy, PolicySetting, PriorityFunction, Settings};

use crate::read::PRIORITIES;
use crate::units::show_span;
use crate::words::{WrittenLine, word};

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
    with_changes(&name, &policy.settings, &implied)
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

/// The words of what the name does not imply, after it.
fn with_changes(name: &str, settings: &Settings, implied: &Settings) -> String {
    let mut line = WrittenLine::default();
    line.flag(name, true);
    line.value_unless(implied.period, "period", settings.period, show_span);
    line.value_unless(implied.penalty, "penalty", settings.penalty, show_span);
    let word_of = |priority| word(&PRIORITIES, priority).unwrap_or_default();
    line.value_unless(implied.priority, "priority", settings.priority, word_of);
    let add_setting = |line: &mut WrittenLine, setting: &PolicySetting| {
        let show = setting.show;
        line.value_unless(show(implied), setting.word, show(settings), identity);
    };
    // The ceiling stands before the budget, and other settings behind everything.
    let ceiling = &LoadCeiling::SETTING;
    add_setting(&mut line, ceiling);
    let (old, new) = (&implied.budget, &settings.budget);
    let shown = |max: Option<u32>| max.map_or("none".into(), |max| max.to_string());
    let (old_max, max) = (old.moves_per_decision, new.moves_per_decision);
    line.value_unless(old_max, "moves-per-decision", max, shown);
    line.value_unless(old.moves_per_job, "moves-per-job", new.moves_per_job, shown);
    line.flag("keep-equal-jobs", settings.keep_equal_jobs);
    let others = POLICY_SETTINGS.iter();
    for setting in others.filter(|setting| setting.word != ceiling.word) {
        add_setting(&mut line, setting);
    }
    line.text()
}
