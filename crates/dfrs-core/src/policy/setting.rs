//! Settings of policies that studies vary.

use std::fmt::Display;
use std::str::FromStr;

use super::{LeastYield, LoadCeiling, Policy, RunTimeHint, Settings};

/// A setting of policies that studies vary: what reads and prints dfrs.conf, the flags of dfrs and
/// scenarios follows from its declaration, which stands beside the type of its value.
pub struct PolicySetting {
    /// Its word in scenarios, and as a flag after `--`.
    pub word: &'static str,
    /// What a value of it is called in usages.
    pub value_name: &'static str,
    /// What it says, in one sentence without its end.
    pub about: &'static str,
    /// Puts the value of a text in place.
    ///
    /// # Errors
    ///
    /// What is allowed.
    pub read: fn(&mut Settings, &str) -> Result<(), String>,
    /// The value as text that is read to the same value; `none` is every setting's default.
    pub show: fn(&Settings) -> String,
    /// Whether it makes a difference to the policy.
    pub matters_to: fn(&Policy) -> bool,
}

/// All of them.
pub const POLICY_SETTINGS: &[&PolicySetting] = &[
    &LoadCeiling::SETTING,
    &RunTimeHint::SETTING,
    &LeastYield::SETTING,
];

/// A value that may be left out, `None`, by the word for nothing in any case.
pub(super) fn or_none<T>(text: &str) -> Result<Option<T>, String>
where
    T: FromStr<Err: Display>,
{
    if text.eq_ignore_ascii_case(NONE) {
        return Ok(None);
    }
    let read: Result<T, _> = text.parse();
    read.map(Some)
        .map_err(|allowed| format!("{allowed}, or {NONE}"))
}

/// The text of such a value.
pub(super) fn shown_or_none(value: Option<impl Display>) -> String {
    value.map_or(NONE.into(), |value| value.to_string())
}

/// The word for nothing.
const NONE: &str = "none";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_none_by_default_and_read_as_they_are_shown() {
        let values = ["150%", "limits", "0.5"];
        for (setting, value) in POLICY_SETTINGS.iter().zip(values) {
            let mut settings = Settings::default();
            assert_eq!((setting.show)(&settings), NONE, "{}", setting.word);
            (setting.read)(&mut settings, value).expect(value);
            assert_eq!((setting.show)(&settings), value);
            assert_ne!(settings, Settings::default());
            (setting.read)(&mut settings, "None").expect(NONE);
            assert_eq!(settings, Settings::default());
            let error = (setting.read)(&mut settings, "x").expect_err("no value");
            assert!(
                error.starts_with("allowed: ") && error.contains(NONE),
                "{error}"
            );
        }
    }
}
