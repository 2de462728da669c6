//! `LoadCeiling`: what the policy lets the load of a node grow to.

use dfrs_core::LoadCeiling;

use crate::conf::Config;
use crate::conf::key::{Key, KeyPurpose, Preset};

pub(super) const KEY: Key<Config> = Key {
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

#[cfg(test)]
mod tests {
    use crate::conf::key::testing::{mistake, printed};

    #[test]
    fn load_ceiling_is_in_percent() {
        assert_eq!(printed("", "LoadCeiling"), "none");
        assert_eq!(printed("LoadCeiling=150%", "LoadCeiling"), "150%");
        let error = mistake("LoadCeiling=99%");
        assert!(error.starts_with("LoadCeiling=99% is wrong; "), "{error}");
        assert!(error.ends_with(", or none"), "{error}");
    }
}
