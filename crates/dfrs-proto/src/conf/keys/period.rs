//! `Period`: time between two remaps of all jobs.

use crate::conf::Config;
use crate::conf::key::{Key, KeyPurpose, KeySample, Preset};
use crate::conf::print::whole_seconds;
use crate::conf::value::WEEK;

pub(super) const KEY: Key<Config> = Key {
    name: "Period",
    purpose: KeyPurpose::Operation,
    values: "1 to 604800 s",
    preset: Preset::Text("600"),
    meaning: "Time between two remaps of all jobs. Longer (at most ten periods) where jobs took more \
        than a quarter of it to give up their places. Choose at least five times what it costs a \
        job to go and come back \
        ([measured](simulator-model.md#the-period-and-the-cost-of-moves)).",
    sample: Some(KeySample {
        comment: "Seconds between two looks at the whole cluster; submissions and completions are \
            acted on at once.",
        line: "#Period=600",
    }),
    read: |config, given| {
        let period = given.seconds(1, WEEK)?;
        config.period = period;
        config.policy.settings.period = period;
        Ok(())
    },
    show: |config| Some(whole_seconds(config.period)),
};

#[cfg(test)]
mod tests {
    use dfrs_core::Span;

    use crate::conf::key::testing::{config, mistake, printed};

    #[test]
    fn period_is_that_of_the_policy() {
        for (lines, seconds) in [("", 600), ("Period=30", 30)] {
            let config = config(lines);
            assert_eq!(config.period, Span::from_seconds(seconds), "{lines}");
            assert_eq!(config.policy.settings.period, config.period);
        }
        assert_eq!(printed("Period=30", "Period"), "30");
        assert_eq!(
            mistake("Period=0"),
            "Period=0 is wrong; allowed: whole seconds from 1 to 604800"
        );
    }
}
