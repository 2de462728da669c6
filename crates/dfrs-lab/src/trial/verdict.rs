//! What follows from the numbers, by rules that are the same for each site.

use serde::Serialize;

use super::groups::TrialGroup;
use super::rows::{TrialGroupRows, TrialRow};
use crate::show::{duration, percent, significant};
use crate::summary::share;

/// The mean stretch is worse from this ratio to that of backfill on.
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
    /// The jobs that should gain do not.
    NothingToGain,
    /// Jobs are worse off.
    DoNot,
    /// Some gain and others pay for it.
    Weigh,
    /// Many gain and few lose.
    Try,
}

impl TrialAdvice {
    fn words(self) -> &'static str {
        match self {
            Self::NothingToGain => "nothing to gain",
            Self::DoNot => "do not",
            Self::Weigh => "weigh it",
            Self::Try => "worth a try",
        }
    }
}

/// How some jobs are in a world, against backfill.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// Their mean stretch under backfill.
    pub stretch_before: f64,
    /// Their mean stretch in this world.
    pub stretch_after: f64,
    /// The share of them that is done more than a minute sooner.
    pub sooner: f64,
    /// The share of them that is done more than a minute later.
    pub later: f64,
    /// By how much the worst is later, in seconds.
    pub largest_loss: f64,
}

impl Evidence {
    /// Of this kind of jobs in the world of this name.
    fn of(group: &TrialGroupRows, world: &str) -> Option<Self> {
        let before = group.row(super::BACKFILL)?;
        let after: &TrialRow = group.row(world)?;
        let shift = after.shift.as_ref()?;
        Some(Self {
            stretch_before: before.mean_stretch,
            stretch_after: after.mean_stretch,
            sooner: share(shift.sooner, group.jobs),
            later: share(shift.later, group.jobs),
            largest_loss: shift.largest_loss,
        })
    }

    fn ratio(&self) -> f64 {
        self.stretch_after / self.stretch_before
    }

    fn is_worse(&self) -> bool {
        self.ratio() >= WORSE
    }

    fn is_better(&self) -> bool {
        self.sooner >= MIN_SOONER || self.ratio() <= BETTER
    }
}

/// The first rule that applies, in the order of docs/trial.md. `gaining`: the jobs for which it is done; `all`: all jobs.
pub fn advice(gaining: &Evidence, all: &Evidence) -> TrialAdvice {
    let loses = |jobs: &Evidence| jobs.is_worse() || jobs.later > jobs.sooner;
    if loses(gaining) || loses(all) {
        // Less than that is chance, and nothing is gained either.
        return match all.later >= MIN_LATER || gaining.is_worse() || all.is_worse() {
            true => TrialAdvice::DoNot,
            false => TrialAdvice::NothingToGain,
        };
    }
    if !gaining.is_better() {
        return TrialAdvice::NothingToGain;
    }
    match all.later >= MIN_LATER || all.largest_loss >= MIN_LOSS {
        true => TrialAdvice::Weigh,
        false => TrialAdvice::Try,
    }
}

/// A verdict on one world.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrialVerdict {
    /// The world's name.
    pub world: &'static str,
    /// What to do.
    pub advice: TrialAdvice,
    /// The same for people, with the numbers from which it follows.
    pub text: String,
}

/// The verdict on a world that is there for the jobs of one kind.
pub fn on_world(
    groups: &[TrialGroupRows],
    world: &'static str,
    gaining: TrialGroup,
) -> TrialVerdict {
    let evidence = |group: TrialGroup| {
        let rows = groups.iter().find(|rows| rows.group == group)?;
        Evidence::of(rows, world)
    };
    let (Some(of_gaining), Some(all)) = (evidence(gaining), evidence(TrialGroup::All)) else {
        return TrialVerdict {
            world,
            advice: TrialAdvice::NothingToGain,
            text: format!("There are no {}.", gaining.name()),
        };
    };
    let advice = advice(&of_gaining, &all);
    let mut text = format!("{}. {}", advice.words(), sentences(gaining, &of_gaining));
    if gaining != TrialGroup::All {
        text += &format!(" {}", sentences(TrialGroup::All, &all));
    }
    text += &payers(groups, world);
    TrialVerdict {
        world,
        advice,
        text,
    }
}

/// How these jobs are.
fn sentences(group: TrialGroup, evidence: &Evidence) -> String {
    let stretch = |value| significant(value, 3);
    let worst = match evidence.largest_loss > 0.0 {
        true => format!(", at worst {}", duration(evidence.largest_loss)),
        false => String::new(),
    };
    format!(
        "Of {} {} are done more than a minute sooner and {} later{worst}; the mean stretch is {}, with backfill {}.",
        group.name(),
        percent(evidence.sooner),
        percent(evidence.later),
        stretch(evidence.stretch_after),
        stretch(evidence.stretch_before),
    )
}

/// Which kinds of jobs are worse off, if any, in a sentence.
fn payers(groups: &[TrialGroupRows], world: &str) -> String {
    let pays = |rows: &&TrialGroupRows| {
        let evidence = Evidence::of(rows, world);
        rows.group != TrialGroup::All
            && evidence.is_some_and(|evidence| {
                evidence.later >= MIN_LATER && evidence.later > evidence.sooner
            })
    };
    let names: Vec<&str> = groups
        .iter()
        .filter(pays)
        .map(|rows| rows.group.name())
        .collect();
    match names.is_empty() {
        true => String::new(),
        false => format!(" Those who pay: {}.", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nothing differs from backfill.
    const SAME: Evidence = Evidence {
        stretch_before: 4.0,
        stretch_after: 4.0,
        sooner: 0.0,
        later: 0.0,
        largest_loss: 0.0,
    };

    const GOOD: Evidence = Evidence {
        stretch_after: 2.0,
        sooner: 0.3,
        ..SAME
    };

    #[test]
    fn advice_is_to_try_when_many_gain_and_few_lose() {
        assert_eq!(advice(&GOOD, &GOOD), TrialAdvice::Try);
        let few = Evidence {
            later: 0.049,
            largest_loss: MIN_LOSS - 1.0,
            ..GOOD
        };
        assert_eq!(advice(&GOOD, &few), TrialAdvice::Try);
        assert_eq!(advice(&GOOD, &SAME), TrialAdvice::Try);
    }

    #[test]
    fn advice_is_to_weigh_when_some_pay() {
        let many = Evidence {
            later: 0.05,
            ..GOOD
        };
        let long = Evidence {
            later: 0.001,
            largest_loss: MIN_LOSS,
            ..GOOD
        };
        assert_eq!(advice(&GOOD, &many), TrialAdvice::Weigh);
        assert_eq!(advice(&GOOD, &long), TrialAdvice::Weigh);
    }

    #[test]
    fn advice_is_against_it_when_stretch_or_most_jobs_are_worse() {
        let worse = Evidence {
            stretch_after: 4.04,
            ..GOOD
        };
        assert_eq!(advice(&worse, &worse), TrialAdvice::DoNot);
        assert_eq!(advice(&GOOD, &worse), TrialAdvice::DoNot);
        let later = Evidence {
            later: 0.31,
            ..GOOD
        };
        assert_eq!(advice(&later, &later), TrialAdvice::DoNot);
        let hardly = Evidence {
            stretch_after: 4.039,
            ..GOOD
        };
        assert_eq!(advice(&hardly, &hardly), TrialAdvice::Try);
    }

    #[test]
    fn advice_is_nothing_to_gain_when_backfill_is_as_good() {
        assert_eq!(advice(&SAME, &SAME), TrialAdvice::NothingToGain);
        let little = Evidence {
            stretch_after: 3.61,
            sooner: 0.049,
            ..SAME
        };
        assert_eq!(advice(&little, &little), TrialAdvice::NothingToGain);
        let by_stretch = Evidence {
            stretch_after: 3.6,
            ..little
        };
        assert_eq!(advice(&by_stretch, &little), TrialAdvice::Try);
        let by_chance = Evidence {
            later: 0.01,
            ..SAME
        };
        assert_eq!(advice(&by_chance, &by_chance), TrialAdvice::NothingToGain);
    }

    fn rows(group: TrialGroup, evidence: Evidence) -> TrialGroupRows {
        let row = |world, mean_stretch, shift| TrialRow {
            world,
            median_lost: 0.0,
            lost_95: 0.0,
            median_stretch: 1.0,
            mean_stretch,
            shift,
        };
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // of 1000 jobs
        let count = |share: f64| (share * 1000.0).round() as usize;
        let shift = super::super::rows::TrialShift {
            sooner: count(evidence.sooner),
            later: count(evidence.later),
            largest_loss: evidence.largest_loss,
        };
        TrialGroupRows {
            group,
            jobs: 1000,
            share_of_jobs: 1.0,
            share_of_cpu: 1.0,
            rows: vec![
                row(super::super::BACKFILL, evidence.stretch_before, None),
                row("world", evidence.stretch_after, Some(shift)),
            ],
        }
    }

    #[test]
    fn verdict_has_the_numbers_and_those_that_pay() {
        let paying = Evidence {
            later: 0.2,
            largest_loss: 25_200.0,
            stretch_after: 5.0,
            ..SAME
        };
        let groups = [
            rows(TrialGroup::Short, GOOD),
            rows(TrialGroup::SeveralNodes, paying),
            rows(TrialGroup::All, paying),
        ];
        let verdict = on_world(&groups, "world", TrialGroup::All);
        assert_eq!(verdict.advice, TrialAdvice::DoNot);
        assert_eq!(
            verdict.text,
            "do not. Of all jobs 0.0% are done more than a minute sooner and 20.0% later, at worst 7 h; the mean stretch is 5.00, with backfill 4.00. Those who pay: jobs on several nodes."
        );
        let on_top = on_world(&groups, "world", TrialGroup::Short);
        assert!(
            on_top
                .text
                .contains("Of short jobs on one node 30.0% are done more than a minute sooner"),
            "{}",
            on_top.text
        );
    }

    #[test]
    fn verdict_says_it_when_there_are_no_such_jobs() {
        let verdict = on_world(&[rows(TrialGroup::All, GOOD)], "world", TrialGroup::Short);
        assert_eq!(verdict.advice, TrialAdvice::NothingToGain);
        assert_eq!(verdict.text, "There are no short jobs on one node.");
    }
}
