//! The line of the policy.

use dfrs_core::{POLICY_SETTINGS, PolicyReader, PriorityFunction};

use super::draft::Draft;
use crate::error::shown;
use crate::units;
use crate::words::{Fields, meaning};

/// The names of functions of priority.
pub(crate) const PRIORITIES: [(&str, PriorityFunction); 4] = [
    ("flow/vt2", PriorityFunction::FlowOverVirtualTimeSquared),
    ("1/vt", PriorityFunction::InverseVirtualTime),
    ("flow/vt", PriorityFunction::FlowOverVirtualTime),
    (
        "max(30s,flow)/vt2",
        PriorityFunction::BoundedFlowOverVirtualTimeSquared,
    ),
];

fn priority(text: &str) -> Result<PriorityFunction, &'static str> {
    meaning(&PRIORITIES, text).ok_or("flow/vt2, 1/vt, flow/vt or max(30s,flow)/vt2")
}

/// A limit that can be lifted.
fn limit<T>(
    read: impl FnOnce(&str) -> Result<T, &'static str>,
) -> impl FnOnce(&str) -> Result<Option<T>, &'static str> {
    move |text| match text {
        "none" => Ok(None),
        text => read(text).map(Some),
    }
}

impl Draft {
    pub(super) fn read_policy(&mut self, words: &[&str], read: PolicyReader) -> Result<(), String> {
        let Some((name, settings)) = words.split_first() else {
            return Err("'policy' is followed by a name, e.g. policy GreedyPM*/per/OPT=MIN".into());
        };
        let mut policy = read(name).map_err(|error| format!("{error}"))?;
        let mut fields = Fields::new(settings)?;
        let changed = &mut policy.settings;
        set(&mut changed.period, fields.value("period", units::span)?);
        set(&mut changed.penalty, fields.value("penalty", units::span)?);
        set(&mut changed.priority, fields.value("priority", priority)?);
        for setting in POLICY_SETTINGS {
            if let Some(text) = fields.text(setting.word)? {
                (setting.read)(changed, text)
                    .map_err(|allowed| wrong(setting.word, text, &allowed))?;
            }
        }
        let budget = &mut changed.budget;
        let max = fields.value("moves-per-decision", limit(units::count))?;
        set(&mut budget.moves_per_decision, max);
        let max = fields.value("moves-per-job", limit(units::count))?;
        set(&mut budget.moves_per_job, max);
        changed.keep_equal_jobs = fields.flag("keep-equal-jobs")?;
        fields.finish()?;
        match self.policy.replace(policy) {
            None => Ok(()),
            Some(_) => Err("'policy' is given twice; leave one".into()),
        }
    }
}

/// What is said of a setting's value that is none.
fn wrong(word: &str, text: &str, allowed: &str) -> String {
    format!("'{word}' is {}; {allowed}", shown(text))
}

/// Puts a value that was given in place of the one that a name implies.
fn set<T>(setting: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *setting = value;
    }
}
