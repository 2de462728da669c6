//! `Policy`: the scheduling policy of all partitions without one of their own.

use dfrs_core::Policy;
use dfrs_core::policy::PolicyError;

use super::partition_policy::DEMT;
use crate::conf::key::{GivenText, Key, KeyPurpose, KeySample, Preset};
use crate::conf::print::quoted;
use crate::conf::{Config, DEFAULT_POLICY, suggest};

pub(super) const KEY: Key<Config> = Key {
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
        config.period = config.policy.settings.period;
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
}
