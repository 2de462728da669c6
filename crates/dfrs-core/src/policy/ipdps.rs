//! The names of the IPDPS 2010 paper (Section III), which imply its priority function, its
//! average-yield heuristic and its times of retrial.

use super::name::{SECONDS, seconds};
use super::{Grace, Optimisation, Periodic, Policy, PolicyError, Retry, Settings, Submission};
use crate::priority::PriorityFunction;
use crate::units::Span;

/// A name and the parts that it stands for.
type NamedPolicy = (&'static str, Submission, bool, Periodic, Retry);

/// All of the paper's names but those of batch schedulers.
pub(super) const NAMES: [NamedPolicy; 7] = [
    (
        "GREEDY",
        Submission::Greedy,
        false,
        Periodic::Nothing,
        Retry::Backoff,
    ),
    (
        "GREEDY-PMTN",
        Submission::GreedyP,
        true,
        Periodic::Nothing,
        Retry::Nothing,
    ),
    (
        "GREEDY-PMTN-MIGR",
        Submission::GreedyPM,
        true,
        Periodic::Nothing,
        Retry::Nothing,
    ),
    (
        "DYNMCB8",
        Submission::Mcb8,
        true,
        Periodic::Nothing,
        Retry::Nothing,
    ),
    (
        "DYNMCB8-PER",
        Submission::Nothing,
        false,
        Periodic::Remap,
        Retry::Nothing,
    ),
    (
        "DYNMCB8-ASAP-PER",
        Submission::Greedy,
        false,
        Periodic::Remap,
        Retry::Nothing,
    ),
    (
        "DYNMCB8-STRETCH-PER",
        Submission::Nothing,
        false,
        Periodic::Stretch,
        Retry::Nothing,
    ),
];

/// Reads a name of that paper; `None` if it is none. `GREEDY` is one only in capitals, so that
/// `Greedy` stays the other paper's submission policy. Periodic names may be followed by the period
/// in seconds, after a space or a hyphen.
pub(super) fn read(name: &str) -> Result<Option<Policy>, PolicyError> {
    let upper = name.to_ascii_uppercase();
    if upper == "GREEDY" && name != "GREEDY" {
        return Ok(None);
    }
    if let Some(known) = NAMES.iter().find(|(known, ..)| *known == upper) {
        return Ok(Some(policy(known, Settings::default().period)));
    }
    let found = NAMES
        .iter()
        .filter(|(_, _, _, periodic, _)| *periodic != Periodic::Nothing)
        .find_map(|known| Some((known, upper.strip_prefix(known.0)?)));
    let Some((known, rest)) = found.filter(|(_, rest)| rest.starts_with([' ', '-'])) else {
        return Ok(None);
    };
    match seconds(rest[1..].trim_start()) {
        Some(period) => Ok(Some(policy(known, period))),
        None => Err(PolicyError::Value {
            name: name.into(),
            part: rest.trim().into(),
            allowed: format!("the period as {SECONDS}"),
        }),
    }
}

/// The names, as a list for an error.
pub(super) fn list() -> String {
    let names = NAMES.iter().map(|(name, _, _, periodic, _)| {
        let period = match periodic {
            Periodic::Nothing => "",
            Periodic::Remap | Periodic::Stretch | Periodic::Moves => "[ SECONDS]",
        };
        format!("{name}{period}")
    });
    names.collect::<Vec<_>>().join(", ")
}

fn policy((_, submission, opportunistic, periodic, retry): &NamedPolicy, period: Span) -> Policy {
    Policy {
        submission: *submission,
        opportunistic: *opportunistic,
        periodic: *periodic,
        optimisation: Optimisation::Heuristic,
        grace: Grace::Nothing,
        retry: *retry,
        settings: Settings {
            period,
            priority: PriorityFunction::BoundedFlowOverVirtualTimeSquared,
            ..Settings::default()
        },
    }
}

/// The policy's name in that paper, if it has one; the paper's heuristic gives it away.
pub(super) fn name(policy: &Policy) -> Option<String> {
    if policy.optimisation != Optimisation::Heuristic || policy.grace != Grace::Nothing {
        return None;
    }
    let parts = (
        policy.submission,
        policy.opportunistic,
        policy.periodic,
        policy.retry,
    );
    let (name, _, _, periodic, _) =
        NAMES
            .iter()
            .find(|(_, submission, opportunistic, periodic, retry)| {
                (*submission, *opportunistic, *periodic, *retry) == parts
            })?;
    Some(match periodic {
        Periodic::Nothing => (*name).into(),
        Periodic::Remap | Periodic::Stretch | Periodic::Moves => {
            format!("{name} {}", policy.settings.period.seconds())
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ipdps_names_round_trip() {
        for name in [
            "GREEDY",
            "GREEDY-PMTN",
            "GREEDY-PMTN-MIGR",
            "DYNMCB8",
            "DYNMCB8-PER 600",
            "DYNMCB8-ASAP-PER 600",
            "DYNMCB8-STRETCH-PER 60",
        ] {
            let policy: Policy = name.parse().unwrap();
            assert_eq!(policy.to_string(), name);
            assert_eq!(
                policy.settings.priority,
                PriorityFunction::BoundedFlowOverVirtualTimeSquared
            );
        }
    }

    #[test]
    fn the_period_may_follow_a_hyphen_or_be_left_out() {
        for name in [
            "DynMcb8-asap-per 600",
            "DYNMCB8-ASAP-PER-600",
            "dynmcb8-asap-per",
        ] {
            assert_eq!(
                name.parse::<Policy>().unwrap().to_string(),
                "DYNMCB8-ASAP-PER 600"
            );
        }
        let error = "DYNMCB8-PER-0".parse::<Policy>().unwrap_err().to_string();
        assert!(error.contains("seconds"), "{error}");
        assert!(
            "DYNMCB8-PER soon"
                .parse::<Policy>()
                .unwrap_err()
                .to_string()
                .contains("seconds")
        );
        for name in ["DYNMCB8-PER -5", "DYNMCB8-PER--5", "DYNMCB8-PER - 5"] {
            let error = name.parse::<Policy>().unwrap_err().to_string();
            assert!(error.contains("at least 1"), "{error}");
        }
        assert!("DYNMCB8-60".parse::<Policy>().is_err());
        assert!("GREEDY-60".parse::<Policy>().is_err());
    }

    #[test]
    fn only_greedy_backs_off() {
        let greedy: Policy = "GREEDY".parse().unwrap();
        assert_eq!(greedy.retry_after(1), Some(Span::from_seconds(2)));
        assert_eq!(greedy.retry_after(12), Some(Span::from_seconds(4096)));
        assert_eq!(greedy.retry_after(40), Some(Span::from_seconds(4096)));
        assert_eq!(Policy::recommended().retry_after(1), None);
        assert!("Greedy".parse::<Policy>().is_err());
    }
}
