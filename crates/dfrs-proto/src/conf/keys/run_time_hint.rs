//! `RunTimeHint`: what decisions know of run times.

use dfrs_core::RunTimeHint;

use crate::conf::Config;
use crate::conf::key::{Key, KeyPurpose, Preset};
use crate::conf::value::Keywords;

const RUN_TIME_HINTS: &Keywords<RunTimeHint> = &[
    ("none", RunTimeHint::Nothing),
    ("limits", RunTimeHint::Limits),
];

pub(super) const KEY: Key<Config> = Key {
    name: "RunTimeHint",
    purpose: KeyPurpose::Study(&RunTimeHint::SETTING),
    values: "`none`, `limits`",
    preset: Preset::Text("none"),
    meaning: "`limits`: decisions know whether a job's time limit is above an hour, [as far as such \
        limits were true](policy.md#time-limits). It helps where limits are honest, and harms \
        where they are not.",
    sample: None,
    read: |config, given| {
        config.policy.settings.run_time_hint = given.word(RUN_TIME_HINTS)?;
        Ok(())
    },
    show: |config| Some((RunTimeHint::SETTING.show)(&config.policy.settings)),
};

#[cfg(test)]
mod tests {
    use crate::conf::key::testing::{mistake, printed};

    #[test]
    fn run_time_hint_is_a_word() {
        assert_eq!(printed("", "RunTimeHint"), "none");
        assert_eq!(printed("RunTimeHint=LIMITS", "RunTimeHint"), "limits");
        assert_eq!(
            mistake("RunTimeHint=users"),
            "RunTimeHint=users is not known; allowed: none, limits"
        );
    }
}
