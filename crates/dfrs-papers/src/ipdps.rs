//! The names of the IPDPS 2010 paper (Section III), which imply its priority function, its
//! average-yield heuristic and its times of retrial.

use dfrs_core::Submission::{Greedy, GreedyP, GreedyPM, Mcb8};
use dfrs_core::policy::whole_seconds;
use dfrs_core::{
    Grace, Periodic, Policy, PolicyError, PriorityFunction, Retry, Settings, Span, Submission,
};

use crate::goal::PaperGoal;
use crate::stretch::StretchGoal;
use PaperPeriodic::{Never, Remap, Stretch};

/// A name and the parts that it stands for.
type NamedPolicy = (&'static str, Submission, bool, PaperPeriodic, Retry);

/// What is done every period.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PaperPeriodic {
    Never,
    /// As for `/per`.
    Remap,
    /// As for `/stretch-per`.
    Stretch,
}

impl PaperPeriodic {
    const fn parts(self) -> (Periodic, PaperGoal) {
        match self {
            Self::Never => (Periodic::Nothing, PaperGoal::Heuristic),
            Self::Remap => (Periodic::Remap, PaperGoal::Heuristic),
            Self::Stretch => (Periodic::Remap, PaperGoal::Stretch(StretchGoal::Heuristic)),
        }
    }
}

/// New jobs wait for the next period.
const WAIT: Submission = Submission::Nothing;
/// Jobs that did not fit are not tried again for that.
const ONCE: Retry = Retry::Nothing;

/// All of the paper's names but those of batch schedulers.
pub(crate) const NAMES: [NamedPolicy; 7] = [
    ("GREEDY", Greedy, false, Never, Retry::Backoff),
    ("GREEDY-PMTN", GreedyP, true, Never, ONCE),
    ("GREEDY-PMTN-MIGR", GreedyPM, true, Never, ONCE),
    ("DYNMCB8", Mcb8, true, Never, ONCE),
    ("DYNMCB8-PER", WAIT, false, Remap, ONCE),
    ("DYNMCB8-ASAP-PER", Greedy, false, Remap, ONCE),
    ("DYNMCB8-STRETCH-PER", WAIT, false, Stretch, ONCE),
];

/// Reads a name of that paper; `None` if it is none. `GREEDY` is one only in capitals, so that
/// `Greedy` stays the other paper's submission policy. Periodic names may be followed by the period
/// in seconds, after a space or a hyphen.
pub(crate) fn read(name: &str) -> Result<Option<Policy>, PolicyError> {
    let upper = name.to_ascii_uppercase();
    if upper == "GREEDY" && name != "GREEDY" {
        return Ok(None);
    }
    if let Some(known) = NAMES.iter().find(|(known, ..)| *known == upper) {
        return Ok(Some(policy(known, Settings::default().period)));
    }
    let found = NAMES
        .iter()
        .filter(|(_, _, _, periodic, _)| *periodic != Never)
        .find_map(|known| Some((known, upper.strip_prefix(known.0)?)));
    let Some((known, rest)) = found.filter(|(_, rest)| rest.starts_with([' ', '-'])) else {
        return Ok(None);
    };
    match whole_seconds(rest[1..].trim_start()) {
        Ok(period) => Ok(Some(policy(known, period))),
        Err(what) => {
            let allowed = format!("the period as {what}");
            Err(PolicyError::value(name, rest.trim(), &allowed))
        }
    }
}

/// The names, as a list for an error.
pub(crate) fn list() -> String {
    let names = NAMES.iter().map(|(name, _, _, periodic, _)| {
        let period = match periodic {
            Never => "",
            Remap | Stretch => "[ SECONDS]",
        };
        format!("{name}{period}")
    });
    names.collect::<Vec<_>>().join(", ")
}

fn policy((_, submission, opportunistic, periodic, retry): &NamedPolicy, period: Span) -> Policy {
    let (periodic, goal) = periodic.parts();
    Policy {
        submission: *submission,
        opportunistic: *opportunistic,
        periodic,
        optimisation: goal.optimisation(),
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
pub(crate) fn name(policy: &Policy) -> Option<String> {
    let goal = PaperGoal::of(policy)?;
    if policy.grace != Grace::Nothing {
        return None;
    }
    let (name, _, _, periodic, _) =
        NAMES
            .iter()
            .find(|(_, submission, opportunistic, periodic, retry)| {
                (*submission, *opportunistic, *retry)
                    == (policy.submission, policy.opportunistic, policy.retry)
                    && periodic.parts() == (policy.periodic, goal)
            })?;
    Some(match periodic {
        Never => (*name).into(),
        Remap | Stretch => {
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
            let policy = crate::policy(name).unwrap();
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
                crate::policy(name).unwrap().to_string(),
                "DYNMCB8-ASAP-PER 600"
            );
        }
        let error = crate::policy("DYNMCB8-PER-0").unwrap_err().to_string();
        assert!(error.contains("seconds"), "{error}");
        assert!(
            crate::policy("DYNMCB8-PER soon")
                .unwrap_err()
                .to_string()
                .contains("seconds")
        );
        for name in ["DYNMCB8-PER -5", "DYNMCB8-PER--5", "DYNMCB8-PER - 5"] {
            let error = crate::policy(name).unwrap_err().to_string();
            assert!(error.contains("at least 1"), "{error}");
        }
        assert!(crate::policy("DYNMCB8-60").is_err());
        assert!(crate::policy("GREEDY-60").is_err());
    }

    #[test]
    fn only_greedy_backs_off() {
        let greedy: Policy = crate::policy("GREEDY").unwrap();
        assert_eq!(greedy.retry_after(1), Some(Span::from_seconds(2)));
        assert_eq!(greedy.retry_after(12), Some(Span::from_seconds(4096)));
        assert_eq!(greedy.retry_after(40), Some(Span::from_seconds(4096)));
        assert_eq!(Policy::recommended().retry_after(1), None);
        assert!(crate::policy("Greedy").is_err());
    }
}
