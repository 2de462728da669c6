//! Keys of studies: settings of policies other than the default one.

use dfrs_core::{LeastYield, LoadCeiling, RunTimeHint};

use crate::conf::Config;
use crate::conf::key::{Key, KeyPurpose, Preset};
use crate::conf::value::{Keywords, set};

const RUN_TIME_HINTS: &Keywords<RunTimeHint> = &[
    ("none", RunTimeHint::Nothing),
    ("limits", RunTimeHint::Limits),
];

pub(super) const RUN_TIME_HINT: Key<Config> = Key {
    name: "RunTimeHint",
    purpose: KeyPurpose::Study(&RunTimeHint::SETTING),
    values: "`none`, `limits`",
    preset: Preset::Text("none"),
    meaning: "`limits`: decisions know whether a job's time limit is above an hour, [as far as such \
        limits were true](policy.md#time-limits). It helps where limits are honest, and harms \
        where they are not.",
    sample: None,
    read: |config, given| {
        set(
            &mut config.policy.settings.run_time_hint,
            given.word(RUN_TIME_HINTS),
        )
    },
    show: |config| Some((RunTimeHint::SETTING.show)(&config.policy.settings)),
};

pub(super) const LOAD_CEILING: Key<Config> = Key {
    name: "LoadCeiling",
    purpose: KeyPurpose::Study(&LoadCeiling::SETTING),
    values: "`100%` or more, `none`",
    preset: Preset::Text("none"),
    meaning: "What the load of a node may grow to: the CPU that its jobs need together, in percent of \
        what it has. A job that finds no CPU below that preempts others or waits. Try it in a \
        [replay](replay.md) first.",
    sample: None,
    read: |config, given| given.setting(&LoadCeiling::SETTING, &mut config.policy.settings),
    show: |config| Some((LoadCeiling::SETTING.show)(&config.policy.settings)),
};

pub(super) const PARALLEL_LEAST_YIELD: Key<Config> = Key {
    name: "ParallelLeastYield",
    purpose: KeyPurpose::Study(&LeastYield::SETTING),
    values: "0.01 to 1, `none`",
    preset: Preset::Text("none"),
    meaning: "What jobs on several nodes get at least; others are preempted for them if necessary. 1: \
        they share no CPU. [When it helps](parallel.md#a-least-yield).",
    sample: None,
    read: |config, given| given.setting(&LeastYield::SETTING, &mut config.policy.settings),
    show: |config| Some((LeastYield::SETTING.show)(&config.policy.settings)),
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
