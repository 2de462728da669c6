//! `Needs`: what CPU a job counts with.

use crate::conf::key::{Key, KeyPurpose, KeySample, Preset};
use crate::conf::value::{Keywords, word_for};
use crate::conf::{Config, NeedsSource};

const NEEDS: &Keywords<NeedsSource> = &[
    ("requested", NeedsSource::Requested),
    ("measured", NeedsSource::Measured),
];

pub(super) const KEY: Key<Config> = Key {
    name: "Needs",
    purpose: KeyPurpose::Operation,
    values: "`requested`, `measured`",
    preset: Preset::Text("requested"),
    meaning: "What CPU a job counts with: its request, or what its nodes measure while it [uses \
        less](#jobs-that-use-less-than-they-asked-for).",
    sample: Some(KeySample {
        comment: "What CPU a job counts with: what it asked for (\"requested\"), or what its nodes see \
            it use while it lives on less than that (\"measured\").",
        line: "#Needs=requested",
    }),
    read: |config, given| {
        config.needs = given.word(NEEDS)?;
        Ok(())
    },
    show: |config| Some(word_for(NEEDS, &config.needs)),
};

#[cfg(test)]
mod tests {
    use crate::conf::key::testing::{mistake, printed};

    #[test]
    fn needs_is_a_word() {
        assert_eq!(printed("", "Needs"), "requested");
        assert_eq!(printed("Needs=Measured", "Needs"), "measured");
        assert_eq!(
            mistake("Needs=measure"),
            "Needs=measure is not known; did you mean 'measured'?"
        );
    }
}
