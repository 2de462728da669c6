//! `Mode`: how much DFRS does.

use crate::conf::key::{Key, KeyPurpose, KeySample, Preset};
use crate::conf::value::{Keywords, word_for};
use crate::conf::{Config, Mode};

const MODES: &Keywords<Mode> = &[
    ("off", Mode::Off),
    ("shadow", Mode::Shadow),
    ("full", Mode::Full),
];

pub(super) const KEY: Key<Config> = Key {
    name: "Mode",
    purpose: KeyPurpose::Operation,
    values: "`off`, `shadow`, `full`",
    preset: Preset::Text("shadow"),
    meaning: "`off`: nothing. `shadow`: it decides, and changes nothing. `full`: it schedules its \
        partitions. In `off` and `shadow` Slurm's backfill schedules every partition.",
    sample: Some(KeySample {
        comment: "off: DFRS does nothing. shadow: it watches, decides and writes its journal, and \
            changes nothing; Slurm's backfill runs the partitions. full: it schedules them. \
            Start with shadow.",
        line: "Mode=shadow",
    }),
    read: |config, given| {
        config.mode = given.word(MODES)?;
        Ok(())
    },
    show: |config| Some(word_for(MODES, &config.mode)),
};

#[cfg(test)]
mod tests {
    use crate::conf::Mode;
    use crate::conf::key::testing::{config, mistake, printed};

    #[test]
    fn mode_is_a_word_in_any_case() {
        assert_eq!(config("").mode, Mode::Shadow);
        assert_eq!(config("MODE=Full").mode, Mode::Full);
        assert_eq!(printed("Mode=OFF", "Mode"), "off");
        assert_eq!(
            mistake("Mode=ful"),
            "Mode=ful is not known; did you mean 'full'?"
        );
    }
}
