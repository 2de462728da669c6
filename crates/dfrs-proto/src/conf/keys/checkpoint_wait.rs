//! `CheckpointWait`: how long a job has to write its checkpoint.

use crate::conf::Config;
use crate::conf::key::{Key, KeyPurpose, KeySample, Preset};
use crate::conf::print::whole_seconds;
use crate::conf::value::DAY;

pub(super) const KEY: Key<Config> = Key {
    name: "CheckpointWait",
    purpose: KeyPurpose::Operation,
    values: "1 to 86400 s",
    preset: Preset::Text("60"),
    meaning: "Longest time that a job has, after its warning signal, to write its checkpoint before it \
        is requeued.",
    sample: Some(KeySample {
        comment: "Seconds that a job has between its warning signal and being requeued.",
        line: "#CheckpointWait=60",
    }),
    read: |config, given| {
        config.checkpoint_wait = given.seconds(1, DAY)?;
        Ok(())
    },
    show: |config| Some(whole_seconds(config.checkpoint_wait)),
};

#[cfg(test)]
mod tests {
    use crate::conf::key::testing::{mistake, printed};

    #[test]
    fn checkpoint_wait_is_in_seconds() {
        assert_eq!(printed("", "CheckpointWait"), "60");
        assert_eq!(printed("CheckpointWait=7", "CheckpointWait"), "7");
        assert_eq!(
            mistake("CheckpointWait=0"),
            "CheckpointWait=0 is wrong; allowed: whole seconds from 1 to 86400"
        );
    }
}
