//! Keys whose value is a word.

use crate::conf::key::{Key, Preset};
use crate::conf::value::{Keywords, set};
use crate::conf::{Config, JobField, Mode, NeedsSource, Weighting};

pub(super) const MODES: &Keywords<Mode> = &[
    (Mode::Off.word(), Mode::Off),
    (Mode::Shadow.word(), Mode::Shadow),
    (Mode::Full.word(), Mode::Full),
];

pub(super) const MODE: Key<Config> = Key {
    name: "Mode",
    preset: Preset::Text("shadow"),
    read: |config, given| set(&mut config.mode, given.word(MODES)),
};

pub(super) const WEIGHTINGS: &Keywords<Weighting> = &[
    ("equal", Weighting::Equal),
    ("priority", Weighting::Priority),
];

pub(super) const JOB_WEIGHT: Key<Config> = Key {
    name: "JobWeight",
    preset: Preset::Text("priority"),
    read: |config, given| set(&mut config.job_weight, given.word(WEIGHTINGS)),
};

pub(super) const NEEDS_SOURCES: &Keywords<NeedsSource> = &[
    ("requested", NeedsSource::Requested),
    ("measured", NeedsSource::Measured),
];

pub(super) const NEEDS: Key<Config> = Key {
    name: "Needs",
    preset: Preset::Text("requested"),
    read: |config, given| set(&mut config.needs, given.word(NEEDS_SOURCES)),
};

pub(super) const JOB_FIELDS: &Keywords<Option<JobField>> = &[
    ("none", None),
    ("AdminComment", Some(JobField::AdminComment)),
    ("Extra", Some(JobField::Extra)),
];

pub(super) const SHOW_YIELD_IN: Key<Config> = Key {
    name: "ShowYieldIn",
    preset: Preset::Text("none"),
    read: |config, given| set(&mut config.show_yield_in, given.word(JOB_FIELDS)),
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
