//! Keys of studies: settings of policies other than the default one.

use dfrs_core::{LeastYield, LoadCeiling, PolicySetting, RunTimeHint};

use crate::conf::Config;
use crate::conf::key::{Key, Preset};
use crate::conf::value::{Keywords, set};

const RUN_TIME_HINTS: &Keywords<RunTimeHint> = &[
    ("none", RunTimeHint::Nothing),
    ("limits", RunTimeHint::Limits),
];

/// The keys of studies, each with the setting of policies that it is.
pub const OF_STUDIES: [(&Key<Config>, &PolicySetting); 3] = [
    (&RUN_TIME_HINT, &RunTimeHint::SETTING),
    (&LOAD_CEILING, &LoadCeiling::SETTING),
    (&PARALLEL_LEAST_YIELD, &LeastYield::SETTING),
];

pub(super) const RUN_TIME_HINT: Key<Config> = Key {
    name: "RunTimeHint",
    preset: Preset::Text("none"),
    read: |config, given| {
        let hint = given.word(RUN_TIME_HINTS);
        set(&mut config.policy.settings.run_time_hint, hint)
    },
};

pub(super) const LOAD_CEILING: Key<Config> = Key {
    name: "LoadCeiling",
    preset: Preset::Text("none"),
    read: |config, given| given.setting(&LoadCeiling::SETTING, &mut config.policy.settings),
};

pub(super) const PARALLEL_LEAST_YIELD: Key<Config> = Key {
    name: "ParallelLeastYield",
    preset: Preset::Text("none"),
    read: |config, given| given.setting(&LeastYield::SETTING, &mut config.policy.settings),
};

#[cfg(test)]
mod tests {
    use dfrs_core::{LeastYield, LoadCeiling, RunTimeHint, Settings};

    use crate::conf::key::testing::{config, mistake, printed};

    fn settings(lines: &str) -> Settings {
        config(lines).policy.settings
    }

    #[test]
    fn run_time_hint_is_a_word() {
        assert_eq!(printed("", "RunTimeHint"), "none");
        assert_eq!(printed("RunTimeHint=LIMITS", "RunTimeHint"), "limits");
        let hint = settings("RunTimeHint=Limits").run_time_hint;
        assert_eq!(hint, RunTimeHint::Limits);
        assert_eq!(
            mistake("RunTimeHint=users"),
            "RunTimeHint=users is not known; allowed: none, limits"
        );
    }

    #[test]
    fn load_ceiling_is_in_percent() {
        assert_eq!(printed("", "LoadCeiling"), "none");
        assert_eq!(printed("LoadCeiling=150%", "LoadCeiling"), "150%");
        let ceiling = settings("LoadCeiling=150%").load_ceiling;
        assert_eq!(ceiling, Some(LoadCeiling::from_percent(150)));
        let error = mistake("LoadCeiling=99%");
        assert!(error.starts_with("LoadCeiling=99% is wrong; "), "{error}");
        assert!(error.ends_with(", or none"), "{error}");
    }

    #[test]
    fn parallel_least_yield_is_a_yield() {
        let key = "ParallelLeastYield";
        assert_eq!(printed("", key), "none");
        assert_eq!(printed("ParallelLeastYield=0.50", key), "0.5");
        let least = settings("ParallelLeastYield=0.5").parallel_least_yield;
        assert_eq!(least, Some(LeastYield(50)));
        assert_eq!(
            mistake("ParallelLeastYield=2"),
            "ParallelLeastYield=2 is wrong; allowed: a number from 0.01 to 1, in hundredths, or none"
        );
    }
}
