//! Keys whose value is a word.

use crate::conf::key::{Key, KeyPurpose, KeySample, Preset};
use crate::conf::value::{Keywords, set, word_for};
use crate::conf::{Config, JobField, Mode, NeedsSource, Weighting};

const MODES: &Keywords<Mode> = &[
    (Mode::Off.word(), Mode::Off),
    (Mode::Shadow.word(), Mode::Shadow),
    (Mode::Full.word(), Mode::Full),
];

pub(super) const MODE: Key<Config> = Key {
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
    read: |config, given| set(&mut config.mode, given.word(MODES)),
    show: |config| Some(word_for(MODES, &config.mode)),
};

const WEIGHTINGS: &Keywords<Weighting> = &[
    ("equal", Weighting::Equal),
    ("priority", Weighting::Priority),
];

pub(super) const JOB_WEIGHT: Key<Config> = Key {
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
    read: |config, given| set(&mut config.job_weight, given.word(WEIGHTINGS)),
    show: |config| Some(word_for(WEIGHTINGS, &config.job_weight)),
};

const NEEDS_SOURCES: &Keywords<NeedsSource> = &[
    ("requested", NeedsSource::Requested),
    ("measured", NeedsSource::Measured),
];

pub(super) const NEEDS: Key<Config> = Key {
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
    read: |config, given| set(&mut config.needs, given.word(NEEDS_SOURCES)),
    show: |config| Some(word_for(NEEDS_SOURCES, &config.needs)),
};

const JOB_FIELDS: &Keywords<Option<JobField>> = &[
    ("none", None),
    ("AdminComment", Some(JobField::AdminComment)),
    ("Extra", Some(JobField::Extra)),
];

pub(super) const SHOW_YIELD_IN: Key<Config> = Key {
    name: "ShowYieldIn",
    purpose: KeyPurpose::Operation,
    values: "`AdminComment`, `Extra`, `none`",
    preset: Preset::Text("none"),
    meaning: "Where Slurm's own tools say what a job gets: [below](#what-existing-tools-show).",
    sample: Some(KeySample {
        comment: "Where \"scontrol show job\" says what a job gets: AdminComment or Extra.",
        line: "#ShowYieldIn=AdminComment",
    }),
    read: |config, given| set(&mut config.show_yield_in, given.word(JOB_FIELDS)),
    show: |config| Some(word_for(JOB_FIELDS, &config.show_yield_in)),
};

#[cfg(test)]
mod tests {
    use crate::conf::key::testing::{config, mistake, printed};
    use crate::conf::{JobField, Mode, NeedsSource, Weighting};

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

    #[test]
    fn job_weight_is_a_word() {
        assert_eq!(config("").job_weight, Weighting::Priority);
        assert_eq!(printed("", "JobWeight"), "priority");
        assert_eq!(config("JobWeight=EQUAL").job_weight, Weighting::Equal);
        assert_eq!(printed("JobWeight=Equal", "JobWeight"), "equal");
        assert_eq!(
            mistake("JobWeight=1"),
            "JobWeight=1 is not known; allowed: equal, priority"
        );
    }

    #[test]
    fn needs_is_a_word() {
        assert_eq!(config("").needs, NeedsSource::Requested);
        assert_eq!(printed("", "Needs"), "requested");
        assert_eq!(config("Needs=Measured").needs, NeedsSource::Measured);
        assert_eq!(printed("Needs=Measured", "Needs"), "measured");
        assert_eq!(
            mistake("Needs=measure"),
            "Needs=measure is not known; did you mean 'measured'?"
        );
    }

    #[test]
    fn show_yield_in_is_a_field() {
        let field = |lines: &str| config(lines).show_yield_in;
        assert_eq!(field(""), None);
        assert_eq!(printed("", "ShowYieldIn"), "none");
        assert_eq!(
            field("ShowYieldIn=admincomment"),
            Some(JobField::AdminComment)
        );
        assert_eq!(printed("ShowYieldIn=extra", "ShowYieldIn"), "Extra");
        assert_eq!(
            mistake("ShowYieldIn=Comment"),
            "ShowYieldIn=Comment is not known; allowed: none, AdminComment, Extra"
        );
    }
}
