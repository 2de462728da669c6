//! Everything that can schedule a trace, by name.

use std::fmt;
use std::str::FromStr;

use dfrs_core::{Policy, PolicyError, Span};

use crate::batch::Batch;

/// A policy of DFRS, or a batch scheduler to compare it with.
#[derive(Clone, Debug, PartialEq)]
pub enum Scheduler {
    /// A policy by one of the papers' names.
    Dfrs(Policy),
    /// A batch scheduler.
    Batch(Batch),
}

/// A name that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}; or a batch scheduler: {names}", names = Batch::ALL.map(Batch::name).join(", "))]
pub struct SchedulerError(PolicyError);

impl FromStr for Scheduler {
    type Err = SchedulerError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match Batch::of_name(name) {
            Some(batch) => Ok(Self::Batch(batch)),
            None => dfrs_papers::policy(name)
                .map(Self::Dfrs)
                .map_err(SchedulerError),
        }
    }
}

impl Scheduler {
    /// The scheduler with this time between remaps, if it has one; its name then says the period,
    /// where names say any.
    pub fn at_period(&self, period: Option<Span>) -> Self {
        let mut scheduler = self.clone();
        if let (Self::Dfrs(policy), Some(period)) = (&mut scheduler, period) {
            policy.settings.period = period;
        }
        scheduler
    }

    /// The scheduler that knows this penalty of the simulated world, if it weighs moves; others do
    /// not know it, as in the papers.
    pub fn at_penalty(&self, penalty: Span) -> Self {
        let mut scheduler = self.clone();
        if let Self::Dfrs(policy) = &mut scheduler
            && policy.weighs_moves()
        {
            policy.settings.penalty = penalty;
        }
        scheduler
    }

    /// What it does, in one line.
    pub fn description(&self) -> String {
        match self {
            Self::Dfrs(policy) => dfrs_papers::description(policy),
            Self::Batch(batch) => batch.description().into(),
        }
    }
}

impl fmt::Display for Scheduler {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dfrs(policy) => policy.fmt(formatter),
            Self::Batch(batch) => formatter.write_str(&batch.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displayed_name_has_the_effective_period() {
        let at = |name: &str, period: Option<i64>| {
            let scheduler: Scheduler = name.parse().unwrap();
            let period = period.map(Span::from_seconds);
            scheduler.at_period(period).to_string()
        };
        assert_eq!(at("DYNMCB8-PER", Some(60)), "DYNMCB8-PER 60");
        assert_eq!(at("DYNMCB8-PER 60", None), "DYNMCB8-PER 60");
        assert_eq!(at("DYNMCB8", Some(60)), "DYNMCB8");
        assert_eq!(at("EASY", Some(60)), "EASY");
    }

    #[test]
    fn names_are_read_and_printed() {
        for name in [
            "FCFS",
            "EASY",
            "EASY/no-shadow",
            "Conservative",
            "EASY/gang2",
            "EASY/gang7",
            "EASY/force2",
            "EASY/force9",
            "EASY/suspend",
            "EASY/restricted",
            "GreedyPM*/per/OPT=MIN/MINVT=600",
        ] {
            assert_eq!(name.parse::<Scheduler>().unwrap().to_string(), name);
            assert_eq!(
                name.to_lowercase()
                    .parse::<Scheduler>()
                    .unwrap()
                    .to_string(),
                name
            );
        }
        let error = "SJF".parse::<Scheduler>().unwrap_err().to_string();
        assert!(
            error.contains("SJF") && error.contains("EASY/no-shadow"),
            "{error}"
        );
        assert!(!error.contains('\n'), "{error}");
    }
}
