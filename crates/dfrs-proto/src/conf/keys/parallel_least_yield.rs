//! `ParallelLeastYield`: what the policy gives jobs on several nodes at least.

use dfrs_core::LeastYield;

use crate::conf::Config;
use crate::conf::key::{Key, KeyPurpose, Preset};

pub(super) const KEY: Key<Config> = Key {
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
    use crate::conf::key::testing::{mistake, printed};

    #[test]
    fn parallel_least_yield_is_a_yield() {
        let key = "ParallelLeastYield";
        assert_eq!(printed("", key), "none");
        assert_eq!(printed("ParallelLeastYield=0.50", key), "0.5");
        assert_eq!(
            mistake("ParallelLeastYield=2"),
            "ParallelLeastYield=2 is wrong; allowed: a number from 0.01 to 1, in hundredths, or none"
        );
    }
}
