//! The policy of all partitions without one of their own, and its budget.

use dfrs_core::Policy;
use dfrs_core::policy::PolicyError;

use super::partition::DEMT;
use crate::conf::key::{GivenText, Key, Preset};
use crate::conf::value::set;
use crate::conf::{Config, DEFAULT_POLICY, suggest};

pub(super) const POLICY: Key<Config> = Key {
    name: "Policy",
    preset: Preset::Text(DEFAULT_POLICY),
    read: |config, given| {
        config.policy = named(given)?;
        config.policy.settings.keep_equal_jobs = true;
        Ok(())
    },
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
    preset: Preset::Text("6"),
    read: |config, given| {
        let moves = given.or_unlimited(|given| given.number("a whole number", 1, 3600));
        set(&mut config.policy.settings.budget.moves_per_job, moves)
    },
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
