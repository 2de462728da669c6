//! `SettleTime`: how long a job runs before it may be paused or moved.

use crate::conf::Config;
use crate::conf::key::{Key, KeyPurpose, KeySample, Preset};
use crate::conf::print::whole_seconds;

pub(super) const KEY: Key<Config> = Key {
    name: "SettleTime",
    purpose: KeyPurpose::Operation,
    values: "0 to 3600 s",
    preset: Preset::Text("10"),
    meaning: "How long a job runs, after its start and after the start of each of its steps, before it \
        may be paused or moved: [below](#jobs-that-are-being-launched).",
    sample: Some(KeySample {
        comment: "Seconds that a job runs, after its start and that of each of its steps, before it \
            may be paused.",
        line: "#SettleTime=10",
    }),
    read: |config, given| {
        config.settle_time = given.seconds(0, 3600)?;
        Ok(())
    },
    show: |config| Some(whole_seconds(config.settle_time)),
};

#[cfg(test)]
mod tests {
    use crate::conf::key::testing::{mistake, printed};

    #[test]
    fn settle_time_is_in_seconds() {
        assert_eq!(printed("", "SettleTime"), "10");
        assert_eq!(printed("SettleTime=7", "SettleTime"), "7");
        assert_eq!(
            mistake("SettleTime=-1"),
            "SettleTime=-1 is wrong; allowed: whole seconds from 0 to 3600"
        );
    }
}
