//! `ShowYieldIn`: where Slurm's own tools show what a job gets.

use crate::conf::key::{Key, KeyPurpose, KeySample, Preset};
use crate::conf::value::{Keywords, word_for};
use crate::conf::{Config, JobField};

const JOB_FIELDS: &Keywords<Option<JobField>> = &[
    ("none", None),
    ("AdminComment", Some(JobField::AdminComment)),
    ("Extra", Some(JobField::Extra)),
];

pub(super) const KEY: Key<Config> = Key {
    name: "ShowYieldIn",
    purpose: KeyPurpose::Operation,
    values: "`AdminComment`, `Extra`, `none`",
    preset: Preset::Text("none"),
    meaning: "Where Slurm's own tools say what a job gets: [below](#what-existing-tools-show).",
    sample: Some(KeySample {
        comment: "Where \"scontrol show job\" says what a job gets: AdminComment or Extra.",
        line: "#ShowYieldIn=AdminComment",
    }),
    read: |config, given| {
        config.show_yield_in = given.word(JOB_FIELDS)?;
        Ok(())
    },
    show: |config| Some(word_for(JOB_FIELDS, &config.show_yield_in)),
};

#[cfg(test)]
mod tests {
    use crate::conf::key::testing::{mistake, printed};

    #[test]
    fn show_yield_in_is_a_field() {
        assert_eq!(printed("", "ShowYieldIn"), "none");
        assert_eq!(printed("ShowYieldIn=extra", "ShowYieldIn"), "Extra");
        assert_eq!(
            mistake("ShowYieldIn=Comment"),
            "ShowYieldIn=Comment is not known; allowed: none, AdminComment, Extra"
        );
    }
}
