//! The policy of all partitions without one of their own, and its budget.

use dfrs_core::Policy;
use dfrs_core::policy::PolicyError;

use super::partition::DEMT;
use crate::conf::key::{GivenText, Key, KeyPurpose, KeySample, Preset};
use crate::conf::print::{or_unlimited, quoted};
use crate::conf::value::set;
use crate::conf::{Config, DEFAULT_POLICY, suggest};

pub(super) const POLICY: Key<Config> = Key {
    name: "Policy",
    purpose: KeyPurpose::Operation,
    values: "a name in the papers' notation, or `default`",
    preset: Preset::Follows {
        words: "`default`, which is `GreedyPMCR*/move-per/OPT=VT/MINVT=600`",
        text: |_| DEFAULT_POLICY,
    },
    meaning: "The scheduling policy: [names](concepts.md#policies), [what the default \
        brings](policy.md).",
    sample: Some(KeySample {
        comment: "How it decides: \"default\", or a name in the notation of the papers, who recommend \
            GreedyPM*/per/OPT=MIN/MINVT=600.",
        line: "#Policy=default",
    }),
    read: |config, given| {
        config.policy = named(given)?;
        config.policy.settings.keep_equal_jobs = true;
        Ok(())
    },
    show: |config| Some(quoted(&config.policy.to_string())),
};

/// A policy by its name.
fn named(given: &GivenText) -> Result<Policy, String> {
    let (key, text) = (given.key, given.text);
    if text.eq_ignore_ascii_case(DEMT) {
        return Err(format!(
            "{key}=DEMT is about one partition; write it on that partition's line, after Partition=NAME"
        ));
    }
    text.parse().map_err(|error: PolicyError| {
        if matches!(error, PolicyError::Further { .. }) {
            return error.to_string();
        }
        let names: Vec<String> = Policy::all().iter().map(Policy::to_string).collect();
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        match suggest::nearest(text, &known) {
            Some(name) => format!("{key}={text} is not known; did you mean '{name}'?"),
            None => error.to_string(),
        }
    })
}

pub(super) const MOVES_PER_HOUR: Key<Config> = Key {
    name: "MovesPerHour",
    purpose: KeyPurpose::Operation,
    values: "1 to 3600, `unlimited`",
    preset: Preset::Text("6"),
    meaning: "How often one job may be paused or moved within an hour.",
    sample: Some(KeySample {
        comment: "How often one job may be paused or moved within an hour; \"unlimited\" as in the \
            papers.",
        line: "#MovesPerHour=6",
    }),
    read: |config, given| {
        let moves = given.or_unlimited(|given| given.number("a whole number", 1, 3600));
        set(&mut config.policy.settings.budget.moves_per_job, moves)
    },
    show: |config| Some(or_unlimited(config.policy.settings.budget.moves_per_job)),
};

#[cfg(test)]
mod tests {
    use crate::conf::DEFAULT_POLICY;
    use crate::conf::key::testing::{config, mistake, printed};

    #[test]
    fn policy_has_a_name_and_spares_equal_jobs() {
        assert_eq!(printed("", "Policy"), DEFAULT_POLICY);
        assert_eq!(printed("Policy=default", "Policy"), DEFAULT_POLICY);
        assert!(config("").policy.settings.keep_equal_jobs);
        let error = mistake("Policy=GreedyPN*/per/OPT=MIN/MINVT=600");
        assert!(
            error.ends_with("did you mean 'GreedyPM*/per/OPT=MIN/MINVT=600'?"),
            "{error}"
        );
        let error = mistake("Policy=DEMT");
        assert!(error.contains("on that partition's line"), "{error}");
    }

    #[test]
    fn moves_per_hour_may_be_unlimited() {
        let moves = |lines: &str| config(lines).policy.settings.budget.moves_per_job;
        assert_eq!(moves(""), Some(6));
        assert_eq!(moves("MovesPerHour=3"), Some(3));
        assert_eq!(moves("MovesPerHour=Unlimited"), None);
        assert_eq!(printed("MovesPerHour=3600", "MovesPerHour"), "3600");
        assert_eq!(
            printed("MovesPerHour=unlimited", "MovesPerHour"),
            "unlimited"
        );
        assert_eq!(
            mistake("MovesPerHour=0"),
            "MovesPerHour=0 is wrong; allowed: a whole number from 1 to 3600, or unlimited"
        );
    }
}
