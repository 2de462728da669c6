//! `JobWeight`: what weights of jobs follow from.

use crate::conf::key::{Key, KeyPurpose, KeySample, Preset};
use crate::conf::value::{Keywords, word_for};
use crate::conf::{Config, Weighting};

const WEIGHTINGS: &Keywords<Weighting> = &[
    ("equal", Weighting::Equal),
    ("priority", Weighting::Priority),
];

pub(super) const KEY: Key<Config> = Key {
    name: "JobWeight",
    purpose: KeyPurpose::Operation,
    values: "`priority`, `equal`",
    preset: Preset::Text("priority"),
    meaning: "`priority`: Slurm's priority makes [weights](#jobs-of-different-weight). `equal`: all \
        have the same, as in the papers.",
    sample: Some(KeySample {
        comment: "What a job weighs beside the others: by Slurm's priority (\"priority\"), or all the \
            same (\"equal\").",
        line: "#JobWeight=priority",
    }),
    read: |config, given| {
        config.job_weight = given.word(WEIGHTINGS)?;
        Ok(())
    },
    show: |config| Some(word_for(WEIGHTINGS, &config.job_weight)),
};

#[cfg(test)]
mod tests {
    use crate::conf::key::testing::{mistake, printed};

    #[test]
    fn job_weight_is_a_word() {
        assert_eq!(printed("", "JobWeight"), "priority");
        assert_eq!(printed("JobWeight=Equal", "JobWeight"), "equal");
        assert_eq!(
            mistake("JobWeight=1"),
            "JobWeight=1 is not known; allowed: equal, priority"
        );
    }
}
