//! The rules, which are the same for each site.

use serde::Serialize;

use super::rows::TrialGroupRows;
use crate::summary::share;

/// A mean is worse from this ratio to that of backfill on.
const WORSE: f64 = 1.01;

/// The mean stretch is better up to this ratio to that of backfill.
const BETTER: f64 = 0.9;

/// From this share of jobs on that are done more than a minute sooner, users notice it.
const MIN_SOONER: f64 = 0.05;

/// From this share of jobs on that are done more than a minute later, users complain.
const MIN_LATER: f64 = 0.05;

/// From this loss of a single job on, its user complains, in seconds.
const MIN_LOSS: f64 = 6.0 * 3600.0;

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TrialAdvice {
    /// Jobs are worse off.
    DoNot,
    /// The jobs that should gain do not.
    NothingToGain,
    /// Some gain and others pay for it.
    Weigh,
    /// Jobs gain and few lose.
    Try,
}

impl TrialAdvice {
    /// Whether it is a step to take, or to think about.
    pub fn is_for_it(self) -> bool {
        matches!(self, Self::Weigh | Self::Try)
    }

    /// In two words or three.
    pub fn words(self) -> &'static str {
        match self {
            Self::DoNot => "do not",
            Self::NothingToGain => "nothing to gain",
            Self::Weigh => "weigh it",
            Self::Try => "worth a try",
        }
    }
}

/// How some jobs are in a world, against backfill.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// Their mean stretch under backfill, and in this world.
    pub stretch: (f64, f64),
    /// Their mean lost time under backfill, and in this world, in seconds.
    pub lost: (f64, f64),
    /// The share of them that is done more than a minute sooner.
    pub sooner: f64,
    /// The share of them that is done more than a minute later.
    pub later: f64,
    /// By how much the worst is later, in seconds.
    pub largest_loss: f64,
}

impl Evidence {
    /// Of this kind of jobs in the world of this name.
    pub fn of(group: &TrialGroupRows, world: &str) -> Option<Self> {
        let (before, after) = (group.row(super::BACKFILL)?, group.row(world)?);
        let shift = after.shift.as_ref()?;
        Some(Self {
            stretch: (before.mean_stretch, after.mean_stretch),
            lost: (before.mean_lost, after.mean_lost),
            sooner: share(shift.sooner, group.jobs),
            later: share(shift.later, group.jobs),
            largest_loss: shift.largest_loss,
        })
    }

    fn has_worse_stretch(&self) -> bool {
        self.stretch.1 >= WORSE * self.stretch.0
    }

    fn has_better_stretch(&self) -> bool {
        self.stretch.1 <= BETTER * self.stretch.0
    }

    /// A second in the mean is none.
    fn loses_more(&self) -> bool {
        self.lost.1 >= WORSE * self.lost.0 && self.lost.1 - self.lost.0 >= 1.0
    }

    fn is_better(&self) -> bool {
        self.sooner >= MIN_SOONER || self.has_better_stretch()
    }

    /// Many of them are worse off, and more than are better off.
    pub fn pays(&self) -> bool {
        self.later >= MIN_LATER && self.later > self.sooner
    }

    /// It pays, and in the mean it gets nothing for that.
    fn pays_for_nothing(&self) -> bool {
        self.pays() && (!self.has_better_stretch() || self.loses_more())
    }
}

/// The first rule that applies, in the order of docs/replay.md, and its reason. `gaining`: the jobs for which it is
/// done; `all`: all jobs.
pub fn advice(gaining: &Evidence, all: &Evidence) -> (TrialAdvice, &'static str) {
    let rules = [
        (
            gaining.has_worse_stretch() || all.has_worse_stretch(),
            TrialAdvice::DoNot,
            "the mean stretch is worse",
        ),
        (
            gaining.pays_for_nothing() || all.pays_for_nothing(),
            TrialAdvice::DoNot,
            "more jobs are later than sooner, and not all means are better",
        ),
        (
            !gaining.is_better(),
            TrialAdvice::NothingToGain,
            "backfill is as good",
        ),
        (
            all.loses_more(),
            TrialAdvice::Weigh,
            "jobs gain, but the mean time lost is worse",
        ),
        (
            gaining.later >= MIN_LATER || all.later >= MIN_LATER,
            TrialAdvice::Weigh,
            "some jobs gain, and others pay",
        ),
        (
            all.largest_loss >= MIN_LOSS,
            TrialAdvice::Weigh,
            "some jobs gain, and a few lose much",
        ),
    ];
    let first = rules.into_iter().find(|(applies, ..)| *applies);
    first.map_or(
        (TrialAdvice::Try, "jobs gain, and few lose"),
        |(_, advice, reason)| (advice, reason),
    )
}

/// Evidence for tests.
#[cfg(test)]
pub(super) mod samples {
    use super::Evidence;

    /// Nothing differs from backfill.
    pub const SAME: Evidence = Evidence {
        stretch: (4.0, 4.0),
        lost: (600.0, 600.0),
        sooner: 0.0,
        later: 0.0,
        largest_loss: 0.0,
    };

    /// Jobs gain.
    pub const GOOD: Evidence = Evidence {
        stretch: (4.0, 2.0),
        lost: (600.0, 300.0),
        sooner: 0.3,
        ..SAME
    };
}

#[cfg(test)]
mod tests {
    use super::samples::{GOOD, SAME};
    use super::*;

    fn of(gaining: Evidence, all: Evidence) -> TrialAdvice {
        advice(&gaining, &all).0
    }

    #[test]
    fn advice_is_to_try_when_many_gain_and_few_lose() {
        assert_eq!(of(GOOD, GOOD), TrialAdvice::Try);
        let few = Evidence {
            later: 0.049,
            largest_loss: MIN_LOSS - 1.0,
            ..GOOD
        };
        assert_eq!(of(GOOD, few), TrialAdvice::Try);
        assert_eq!(of(GOOD, SAME), TrialAdvice::Try);
    }

    #[test]
    fn advice_is_to_weigh_when_some_pay() {
        let many = Evidence {
            later: 0.05,
            ..GOOD
        };
        let much = Evidence {
            later: 0.001,
            largest_loss: MIN_LOSS,
            ..GOOD
        };
        let lost = Evidence {
            lost: (600.0, 606.0),
            ..GOOD
        };
        for all in [many, much, lost] {
            assert_eq!(of(GOOD, all), TrialAdvice::Weigh);
        }
        assert_eq!(of(many, GOOD), TrialAdvice::Weigh);
        let hardly = Evidence {
            lost: (600.0, 605.0),
            ..GOOD
        };
        assert_eq!(of(GOOD, hardly), TrialAdvice::Try);
    }

    #[test]
    fn advice_is_against_it_when_stretch_or_most_jobs_are_worse() {
        let worse = Evidence {
            stretch: (4.0, 4.04),
            ..GOOD
        };
        assert_eq!(of(worse, worse), TrialAdvice::DoNot);
        assert_eq!(of(GOOD, worse), TrialAdvice::DoNot);
        assert_eq!(of(worse, GOOD), TrialAdvice::DoNot);
        let later = Evidence {
            later: 0.31,
            lost: (600.0, 606.0),
            ..GOOD
        };
        assert_eq!(of(GOOD, later), TrialAdvice::DoNot);
        assert_eq!(of(later, GOOD), TrialAdvice::DoNot);
        let paid = Evidence {
            lost: (600.0, 605.0),
            ..later
        };
        assert_eq!(of(paid, paid), TrialAdvice::Weigh);
        let hardly = Evidence {
            stretch: (4.0, 4.039),
            ..GOOD
        };
        assert_eq!(of(hardly, hardly), TrialAdvice::Try);
    }

    #[test]
    fn advice_is_nothing_to_gain_when_backfill_is_as_good() {
        assert_eq!(of(SAME, SAME), TrialAdvice::NothingToGain);
        let little = Evidence {
            stretch: (4.0, 3.61),
            sooner: 0.049,
            ..SAME
        };
        assert_eq!(of(little, little), TrialAdvice::NothingToGain);
        let by_stretch = Evidence {
            stretch: (4.0, 3.6),
            ..little
        };
        assert_eq!(of(by_stretch, little), TrialAdvice::Try);
        let by_chance = Evidence {
            later: 0.01,
            ..SAME
        };
        assert_eq!(of(by_chance, by_chance), TrialAdvice::NothingToGain);
    }
}
