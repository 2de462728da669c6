//! `ParkTimeout`: how long nodes have to park a job.

use crate::conf::Config;
use crate::conf::key::{Key, KeyPurpose, KeySample, Preset};
use crate::conf::print::whole_seconds;
use crate::conf::value::DAY;

pub(super) const KEY: Key<Config> = Key {
    name: "ParkTimeout",
    purpose: KeyPurpose::Operation,
    values: "5 to 86400 s",
    preset: Preset::Text("60"),
    meaning: "Longest time that nodes have to freeze a job and push its memory to swap. After it the \
        job runs on and is left alone for as long, then twice as long, then an hour. Where a \
        second job fails, too, no job is parked on that node for as long, and longer after each \
        further failure.",
    sample: Some(KeySample {
        comment: "Seconds that a node has to move a parked job's memory to swap.",
        line: "#ParkTimeout=60",
    }),
    read: |config, given| {
        config.park_timeout = given.seconds(5, DAY)?;
        Ok(())
    },
    show: |config| Some(whole_seconds(config.park_timeout)),
};

#[cfg(test)]
mod tests {
    use crate::conf::key::testing::{mistake, printed};

    #[test]
    fn park_timeout_is_in_seconds() {
        assert_eq!(printed("", "ParkTimeout"), "60");
        assert_eq!(printed("ParkTimeout=7", "ParkTimeout"), "7");
        assert_eq!(
            mistake("ParkTimeout=4"),
            "ParkTimeout=4 is wrong; allowed: whole seconds from 5 to 86400"
        );
    }
}
