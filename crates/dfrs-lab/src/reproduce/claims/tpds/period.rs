//! What Section 5.3.2 says about periods.

use dfrs_report::{percent, significant};

use super::{BOUND, IDLE, SETS};
use crate::reproduce::claims::{ClaimFinding, ClaimVerdict, ends, mean, mean_at};
use crate::reproduce::experiment::{BEST, EASY, EASY_PUBLISHED, PERIODS};
use crate::reproduce::measure::Measure;
use crate::reproduce::results::Results;
use crate::reproduce::traces::TraceSet;

pub fn better_than_easy(results: &Results, easy: &str) -> Option<ClaimFinding> {
    let (mut held, mut all, mut found) = (0, 0, Vec::new());
    for set in [TraceSet::Unscaled, TraceSet::Scaled] {
        let theirs = mean(results, set, easy, IDLE)?;
        let long: Option<Vec<f64>> = PERIODS
            .iter()
            .filter(|period| **period > 900)
            .map(|period| mean_at(results, set, BEST, Some(*period), IDLE))
            .collect();
        let long = long?;
        held += long.iter().filter(|value| **value < theirs).count();
        all += long.len();
        let (low, high) = ends(&long);
        found.push(format!(
            "{}: {} to {}, {easy} {}",
            set.title(),
            percent(low),
            percent(high),
            percent(theirs)
        ));
    }
    Some(ClaimFinding {
        holds: ClaimVerdict::of(held, all),
        found: found.join("; "),
    })
}

pub fn plateau(results: &Results) -> Option<ClaimFinding> {
    let set = TraceSet::Weeks;
    let theirs = mean(results, set, EASY_PUBLISHED, IDLE)?;
    let ours: Option<Vec<f64>> = PERIODS
        .iter()
        .map(|period| mean_at(results, set, BEST, Some(*period), IDLE))
        .collect();
    let (low, high) = ends(&ours?);
    Some(ClaimFinding {
        found: format!(
            "{} to {}, {EASY_PUBLISHED} {}, {EASY} {}",
            percent(low),
            percent(high),
            percent(theirs),
            percent(mean(results, set, EASY, IDLE)?)
        ),
        holds: ClaimVerdict::of(
            usize::from(low > theirs) + usize::from((low - 0.118).abs() < 0.0118),
            2,
        ),
    })
}

/// For each set that there is: the averages at the shortest and the longest period.
fn first_and_last(results: &Results, measure: Measure) -> Vec<(TraceSet, f64, f64)> {
    let (first, last) = (PERIODS[0], PERIODS[PERIODS.len() - 1]);
    SETS.iter()
        .filter_map(|set| {
            let at = |period| mean_at(results, *set, BEST, Some(period), measure);
            Some((*set, at(first)?, at(last)?))
        })
        .collect()
}

pub fn falls(results: &Results) -> Option<ClaimFinding> {
    let pairs = first_and_last(results, IDLE);
    let held = pairs.iter().filter(|(_, first, last)| last < first).count();
    let found = pairs.iter().map(|(set, first, last)| {
        format!(
            "{}: from {} to {}",
            set.title(),
            percent(*first),
            percent(*last)
        )
    });
    (!pairs.is_empty()).then(|| ClaimFinding {
        found: found.collect::<Vec<_>>().join("; "),
        holds: ClaimVerdict::of(held, pairs.len()),
    })
}

pub fn rises(results: &Results) -> Option<ClaimFinding> {
    let pairs = first_and_last(results, BOUND);
    let limit = |set: TraceSet| match set {
        TraceSet::Scaled => 3.0,
        TraceSet::Unscaled => 1.5,
        _ => 2.0,
    };
    let held = pairs
        .iter()
        .filter(|(set, first, last)| last / first < limit(*set))
        .count();
    let found = pairs
        .iter()
        .map(|(set, first, last)| format!("{}: {}", set.title(), significant(last / first, 3)));
    (!pairs.is_empty()).then(|| ClaimFinding {
        found: found.collect::<Vec<_>>().join("; "),
        holds: ClaimVerdict::of(held, pairs.len()),
    })
}

pub fn at_long_periods(results: &Results, easy: &str) -> Option<ClaimFinding> {
    let (mut held, mut found) = (0, Vec::new());
    for set in SETS {
        let ours = mean_at(results, set, BEST, Some(6000), BOUND);
        if let (Some(theirs), Some(ours)) = (mean(results, set, easy, BOUND), ours) {
            held += usize::from(theirs / ours >= 100.0);
            found.push(format!(
                "{}: {}",
                set.title(),
                significant(theirs / ours, 3)
            ));
        }
    }
    (!found.is_empty()).then(|| ClaimFinding {
        holds: ClaimVerdict::of(held, found.len()),
        found: format!("{easy} over {BEST}: {}", found.join("; ")),
    })
}
