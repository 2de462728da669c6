//! `TimeToLive`: how long a node keeps its CPU caps without news.

use crate::conf::Config;
use crate::conf::key::{Key, KeyPurpose, KeySample, Preset};
use crate::conf::print::whole_seconds;
use crate::conf::value::DAY;

pub(super) const KEY: Key<Config> = Key {
    name: "TimeToLive",
    purpose: KeyPurpose::Operation,
    values: "5 to 86400 s",
    preset: Preset::Text("60"),
    meaning: "A node that receives nothing from slurmctld for so long lifts all CPU caps.",
    sample: Some(KeySample {
        comment: "Seconds without news after which a node lifts all caps by itself.",
        line: "#TimeToLive=60",
    }),
    read: |config, given| {
        config.time_to_live = given.seconds(5, DAY)?;
        Ok(())
    },
    show: |config| Some(whole_seconds(config.time_to_live)),
};

#[cfg(test)]
mod tests {
    use crate::conf::key::testing::{mistake, printed};

    #[test]
    fn time_to_live_is_in_seconds() {
        assert_eq!(printed("", "TimeToLive"), "60");
        assert_eq!(printed("TimeToLive=7", "TimeToLive"), "7");
        assert_eq!(
            mistake("TimeToLive=4"),
            "TimeToLive=4 is wrong; allowed: whole seconds from 5 to 86400"
        );
    }
}
