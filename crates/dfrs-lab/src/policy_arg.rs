//! Policies as they are requested, and the period at which they run.

use std::str::FromStr;

use dfrs_core::Span;
use dfrs_sim::{Scheduler, SchedulerError};

/// A policy, by its name.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyArg {
    /// The policy with the period of its name or, if that says none, of the papers.
    pub policy: Scheduler,
    /// Whether its name says the period, as it was requested.
    names_period: bool,
}

impl From<Scheduler> for PolicyArg {
    fn from(policy: Scheduler) -> Self {
        Self {
            policy,
            names_period: false,
        }
    }
}

impl FromStr for PolicyArg {
    type Err = SchedulerError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let policy: Scheduler = name.parse()?;
        // The number in MINVT=600 is another one.
        let names_period = shows_period(&policy) && names_period(name);
        Ok(Self {
            policy,
            names_period,
        })
    }
}

/// Whether a policy's name itself says how long the period is, as the IPDPS paper's `DYNMCB8-PER
/// 600`.
fn names_period(policy: &str) -> bool {
    let last = policy
        .trim_end()
        .rsplit([' ', '-', '/'])
        .next()
        .unwrap_or_default();
    !last.is_empty() && last.bytes().all(|digit| digit.is_ascii_digit())
}

/// Whether this policy's name has the period at its end.
fn shows_period(policy: &Scheduler) -> bool {
    let no_period = Some(Span(1));
    policy.at_period(no_period).to_string() != policy.to_string()
}

impl PolicyArg {
    /// Refuses a period beside another one in the policy's name, as dfrs.conf does.
    ///
    /// # Errors
    ///
    /// One line with both.
    pub fn check(&self, period: Option<Span>) -> Result<(), String> {
        match period {
            Some(period) if self.names_period && self.at(Some(period)) != self.policy => {
                Err(format!(
                    "a period of {period} contradicts the one in the policy's name {}; keep one",
                    self.policy
                ))
            }
            _ => Ok(()),
        }
    }

    /// The policy's name, with the period if that is part of what was requested.
    pub fn name(&self) -> String {
        let name = self.policy.to_string();
        match name.rsplit_once(' ') {
            Some((stem, _)) if !self.names_period && shows_period(&self.policy) => stem.to_owned(),
            _ => name,
        }
    }

    /// The policy as it runs, which is also its name, with this period unless there is none.
    pub fn at(&self, period: Option<Span>) -> Scheduler {
        self.policy.at_period(period)
    }
}

/// All of them as they run.
///
/// # Errors
///
/// See [`PolicyArg::check`].
pub fn at_period(asked: &[PolicyArg], period: Option<Span>) -> Result<Vec<Scheduler>, String> {
    let at = |asked: &PolicyArg| asked.check(period).map(|()| asked.at(period));
    asked.iter().map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn period_of_name_and_option_must_agree() {
        let resolved = |name: &str, period: Option<i64>| {
            let asked: PolicyArg = name.parse().expect(name);
            let found = at_period(&[asked], period.map(Span::from_seconds));
            found.map(|found| found[0].to_string())
        };
        let fine = |name: &str| Ok(name.to_owned());
        assert_eq!(resolved("DYNMCB8-PER", Some(60)), fine("DYNMCB8-PER 60"));
        assert_eq!(resolved("DYNMCB8-PER 60", Some(60)), fine("DYNMCB8-PER 60"));
        assert_eq!(resolved("DYNMCB8-PER-60", None), fine("DYNMCB8-PER 60"));
        let name = |name: &str| name.parse::<PolicyArg>().expect(name).name();
        for asked in ["DYNMCB8-PER", "DYNMCB8-PER 600", "DYNMCB8", "EASY"] {
            assert_eq!(name(asked), asked);
        }
        let grace = "/per/OPT=MIN/MINVT=600";
        assert_eq!(resolved(grace, Some(60)), fine(grace));
        for (name, period) in [("DYNMCB8-PER 60", 600), ("dynmcb8-per-600", 60)] {
            let error = resolved(name, Some(period)).expect_err(name);
            let words = format!(
                "a period of {period} s contradicts the one in the policy's name DYNMCB8-PER"
            );
            assert!(
                error.starts_with(&words) && !error.contains('\n'),
                "{error}"
            );
        }
    }
}
