//! What follows from the numbers, for people.

use serde::Serialize;

use super::advice::{Evidence, TrialAdvice, advice};
use super::groups::TrialGroup;
use super::rows::TrialGroupRows;
use crate::show::{count, duration, number, percent, sentence, significant};

/// Fewer jobs than these say nothing.
const MIN_JOBS: usize = 10;

/// A smaller share of all jobs is not worth a change.
const MIN_SHARE: f64 = 0.01;

/// A verdict on one world.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrialVerdict {
    /// The world's name.
    pub world: &'static str,
    /// What to do.
    pub advice: TrialAdvice,
    /// The rule from which that follows.
    pub reason: String,
    /// The numbers from which it follows, a sentence for each kind of jobs.
    pub numbers: Vec<String>,
}

impl TrialVerdict {
    /// The verdict in a sentence.
    pub fn sentence(&self) -> String {
        let (world, advice) = (sentence(self.world), self.advice.words());
        format!("{world}: {advice}; {}.", self.reason)
    }
}

/// The verdict on a world that is there for the jobs of one kind. `pauses`: how often jobs gave up their places there.
pub fn on_world(
    groups: &[TrialGroupRows],
    world: &'static str,
    gaining: TrialGroup,
    pauses: u64,
) -> TrialVerdict {
    let rows = |group: TrialGroup| groups.iter().find(|rows| rows.group == group);
    let evidence = |group: TrialGroup| Evidence::of(rows(group)?, world);
    let (jobs, part) = rows(gaining).map_or((0, 0.0), |rows| (rows.jobs, rows.share_of_jobs));
    let enough = jobs >= MIN_JOBS && part >= MIN_SHARE;
    let (true, Some(of_gaining), Some(all)) =
        (enough, evidence(gaining), evidence(TrialGroup::All))
    else {
        return TrialVerdict {
            world,
            advice: TrialAdvice::NothingToGain,
            reason: format!("too few are {}: {}", gaining.name(), number(jobs)),
            numbers: Vec::new(),
        };
    };
    let (advice, reason) = advice(&of_gaining, &all);
    let mut numbers = vec![numbers_of(gaining, &of_gaining)];
    if gaining != TrialGroup::All {
        numbers.push(numbers_of(TrialGroup::All, &all));
    }
    numbers.extend(payers(groups, world, gaining));
    if pauses > 0 {
        numbers.push(format!(
            "Jobs gave up their places {} times.",
            count(pauses)
        ));
    }
    TrialVerdict {
        world,
        advice,
        reason: reason.to_owned(),
        numbers,
    }
}

/// How these jobs are, in a sentence.
fn numbers_of(group: TrialGroup, evidence: &Evidence) -> String {
    let (stretch, lost) = (evidence.stretch, evidence.lost);
    let worst = match evidence.largest_loss > 0.0 {
        true => format!(", at worst {}", duration(evidence.largest_loss)),
        false => String::new(),
    };
    format!(
        "{}: mean stretch {} (backfill {}), mean loss {} ({}), {} sooner, {} later{worst}.",
        sentence(group.name()),
        significant(stretch.1, 3),
        significant(stretch.0, 3),
        duration(lost.1),
        duration(lost.0),
        percent(evidence.sooner),
        percent(evidence.later),
    )
}

/// Which kinds of jobs but these are worse off, a sentence each.
fn payers(groups: &[TrialGroupRows], world: &str, gaining: TrialGroup) -> Vec<String> {
    let others = groups
        .iter()
        .filter(|rows| rows.group != TrialGroup::All && rows.group != gaining);
    let paying = others.filter_map(|rows| {
        let evidence = Evidence::of(rows, world)?;
        evidence.pays().then(|| {
            format!(
                "Worse off: {}, {} sooner, {} later, mean loss {} ({}).",
                rows.group.name(),
                percent(evidence.sooner),
                percent(evidence.later),
                duration(evidence.lost.1),
                duration(evidence.lost.0),
            )
        })
    });
    paying.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::advice::samples::{GOOD, SAME};
    use crate::trial::rows::{TrialRow, TrialShift};

    fn rows(group: TrialGroup, evidence: Evidence) -> TrialGroupRows {
        let row = |world, mean_stretch, mean_lost, shift| TrialRow {
            world,
            median_lost: 0.0,
            mean_lost,
            lost_95: 0.0,
            median_stretch: 1.0,
            mean_stretch,
            shift,
        };
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // of 1000 jobs
        let count = |share: f64| (share * 1000.0).round() as usize;
        let shift = TrialShift {
            sooner: count(evidence.sooner),
            later: count(evidence.later),
            largest_loss: evidence.largest_loss,
        };
        let (stretch, lost) = (evidence.stretch, evidence.lost);
        TrialGroupRows {
            group,
            jobs: 1000,
            share_of_jobs: 1.0,
            share_of_cpu: 1.0,
            rows: vec![
                row(crate::trial::BACKFILL, stretch.0, lost.0, None),
                row("world", stretch.1, lost.1, Some(shift)),
            ],
        }
    }

    #[test]
    fn verdict_has_the_numbers_and_those_that_pay() {
        let paying = Evidence {
            stretch: (4.0, 5.0),
            later: 0.2,
            largest_loss: 25_200.0,
            ..SAME
        };
        let groups = [
            rows(TrialGroup::Short, GOOD),
            rows(TrialGroup::SeveralNodes, paying),
            rows(TrialGroup::All, paying),
        ];
        let verdict = on_world(&groups, "world", TrialGroup::All, 0);
        assert_eq!(
            verdict.sentence(),
            "World: do not; the mean stretch is worse."
        );
        assert_eq!(
            verdict.numbers,
            [
                "All jobs: mean stretch 5.00 (backfill 4.00), mean loss 10 min (10 min), 0.0% sooner, 20.0% later, at worst 7 h.",
                "Worse off: jobs on several nodes, 0.0% sooner, 20.0% later, mean loss 10 min (10 min)."
            ]
        );
        let of_several = on_world(&groups, "world", TrialGroup::SeveralNodes, 0);
        assert_eq!(of_several.numbers.len(), 2, "{:?}", of_several.numbers);
        let on_top = on_world(&groups, "world", TrialGroup::Short, 1234);
        assert!(on_top.numbers[0].starts_with("Short jobs on one node: mean stretch 2.00 (backfill 4.00), mean loss 5 min (10 min), 30.0% sooner, 0.0% later."));
        let last = on_top.numbers.last().map(String::as_str);
        assert_eq!(last, Some("Jobs gave up their places 1,234 times."));
    }

    #[test]
    fn verdict_says_it_when_such_jobs_are_too_few() {
        let mut groups = [rows(TrialGroup::All, GOOD), rows(TrialGroup::Short, GOOD)];
        let advice =
            |groups: &[TrialGroupRows]| on_world(groups, "world", TrialGroup::Short, 0).advice;
        assert_eq!(advice(&groups), TrialAdvice::Try);
        groups[1].jobs = 9;
        assert_eq!(advice(&groups), TrialAdvice::NothingToGain);
        (groups[1].jobs, groups[1].share_of_jobs) = (10, 0.009);
        assert_eq!(advice(&groups), TrialAdvice::NothingToGain);
        let groups = [rows(TrialGroup::All, GOOD)];
        let verdict = on_world(&groups, "world", TrialGroup::Short, 0);
        assert_eq!(verdict.advice, TrialAdvice::NothingToGain);
        assert_eq!(
            verdict.sentence(),
            "World: nothing to gain; too few are short jobs on one node: 0."
        );
    }
}
