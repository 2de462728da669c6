//! `LongestPause`: for how long a job may be paused.

use crate::conf::Config;
use crate::conf::key::{Key, KeyPurpose, KeySample, Preset};
use crate::conf::print::{or_unlimited, whole_seconds};
use crate::conf::value::WEEK;

pub(super) const KEY: Key<Config> = Key {
    name: "LongestPause",
    purpose: KeyPurpose::Operation,
    values: "60 to 604800 s, `unlimited`",
    preset: Preset::Text("86400"),
    meaning: "A job that has been parked or paused for so long goes before all others: it comes back \
        as soon as the jobs on its nodes that can be preempted leave room (under `default` it \
        has the [reservation](policy.md) if it was submitted first), and then stays for an \
        eighth of that.",
    sample: Some(KeySample {
        comment: "Seconds after which a paused job goes before all others; once it is back it keeps \
            its place for as long.",
        line: "#LongestPause=86400",
    }),
    read: |config, given| {
        config.longest_pause = given.or_unlimited(|given| given.seconds(60, WEEK))?;
        Ok(())
    },
    show: |config| Some(or_unlimited(config.longest_pause.map(whole_seconds))),
};

#[cfg(test)]
mod tests {
    use dfrs_core::LONGEST_PAUSE;

    use crate::conf::key::testing::{config, mistake, printed};

    #[test]
    fn longest_pause_may_be_unlimited() {
        assert_eq!(config("").longest_pause, Some(LONGEST_PAUSE));
        assert_eq!(config("LongestPause=unlimited").longest_pause, None);
        assert_eq!(printed("LongestPause=60", "LongestPause"), "60");
        assert_eq!(
            mistake("LongestPause=59"),
            "LongestPause=59 is wrong; allowed: whole seconds from 60 to 604800, or unlimited"
        );
    }
}
