//! `MoveCost`: the penalty of the policy.

use crate::conf::Config;
use crate::conf::key::{Key, KeyPurpose, KeySample, Preset};
use crate::conf::print::whole_seconds;
use crate::conf::value::DAY;

pub(super) const KEY: Key<Config> = Key {
    name: "MoveCost",
    purpose: KeyPurpose::Operation,
    values: "0 to 86400 s",
    preset: Preset::Follows {
        words: "60; 0 for policies that do not weigh moves",
        text: |config| {
            if config.policy.weighs_moves() {
                "60"
            } else {
                "0"
            }
        },
    },
    meaning: "Time in which a job that was moved or brought back makes no progress. The default policy \
        moves a job only if it gains twice as much; under others a remap that brings back no \
        waiting job is carried out only if the smallest yield grows by it.",
    sample: Some(KeySample {
        comment: "Seconds in which a job that was moved makes no progress (0 for policies that do not \
            weigh moves, as the papers').",
        line: "#MoveCost=60",
    }),
    read: |config, given| {
        config.policy.settings.penalty = given.seconds(0, DAY)?;
        Ok(())
    },
    show: |config| Some(whole_seconds(config.policy.settings.penalty)),
};

#[cfg(test)]
mod tests {
    use crate::conf::key::testing::{mistake, printed};

    #[test]
    fn move_cost_follows_from_the_policy() {
        let papers = "Policy=GreedyPM*/per/OPT=MIN/MINVT=600";
        assert_eq!(printed("", "MoveCost"), "60");
        assert_eq!(printed(papers, "MoveCost"), "0");
        assert_eq!(printed(&format!("{papers} MoveCost=9"), "MoveCost"), "9");
        assert_eq!(
            mistake("MoveCost=-1"),
            "MoveCost=-1 is wrong; allowed: whole seconds from 0 to 86400"
        );
    }
}
