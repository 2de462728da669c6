//! What Section 5.3.2 says about periods.

use dfrs_report::{percent, significant};

use super::{BOUND, IDLE, SETS};
use crate::reproduce::claims::{ClaimFinding, ends, mean, mean_at, together};
use crate::reproduce::experiment::{BEST, EASY, EASY_PUBLISHED, PERIODS};
use crate::reproduce::measure::Measure;
use crate::reproduce::results::Results;
use crate::reproduce::traces::TraceSet;

/// The underutilization under the recommended policy at the periods from this one on.
fn idle_from(results: &Results, set: TraceSet, first: u32) -> Option<Vec<f64>> {
    let periods = PERIODS.iter().filter(|period| **period >= first);
    periods
        .map(|period| mean_at(results, set, BEST, Some(*period), IDLE))
        .collect()
}

pub fn better_than_easy(results: &Results, easy: &str) -> Option<ClaimFinding> {
    let (mut held, mut all, mut found) = (0, 0, Vec::new());
    for set in [TraceSet::Unscaled, TraceSet::Scaled] {
        let theirs = mean(results, set, easy, IDLE)?;
        let long = idle_from(results, set, 901)?;
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
    Some((found.join("; "), held, all))
}

pub fn plateau(results: &Results) -> Option<ClaimFinding> {
    let set = TraceSet::Weeks;
    let theirs = mean(results, set, EASY_PUBLISHED, IDLE)?;
    let (low, high) = ends(&idle_from(results, set, 0)?);
    let found = format!(
        "{} to {}, {EASY_PUBLISHED} {}, {EASY} {}",
        percent(low),
        percent(high),
        percent(theirs),
        percent(mean(results, set, EASY, IDLE)?)
    );
    let is_reached = (low - 0.118).abs() < 0.0118;
    Some((
        found,
        usize::from(low > theirs) + usize::from(is_reached),
        2,
    ))
}

/// For each set that there is: the averages at the shortest and the longest period.
fn first_and_last(
    results: &Results,
    measure: Measure,
) -> impl Iterator<Item = (TraceSet, f64, f64)> {
    let (first, last) = (PERIODS[0], PERIODS[PERIODS.len() - 1]);
    SETS.into_iter().filter_map(move |set| {
        let at = |period| mean_at(results, set, BEST, Some(period), measure);
        Some((set, at(first)?, at(last)?))
    })
}

pub fn falls(results: &Results) -> Option<ClaimFinding> {
    together(first_and_last(results, IDLE).map(|(set, first, last)| {
        let (from, to) = (percent(first), percent(last));
        (
            format!("{}: from {from} to {to}", set.title()),
            last < first,
        )
    }))
}

pub fn rises(results: &Results) -> Option<ClaimFinding> {
    let limit = |set: TraceSet| match set {
        TraceSet::Scaled => 3.0,
        TraceSet::Unscaled => 1.5,
        _ => 2.0,
    };
    together(first_and_last(results, BOUND).map(|(set, first, last)| {
        let found = format!("{}: {}", set.title(), significant(last / first, 3));
        (found, last / first < limit(set))
    }))
}

pub fn at_long_periods(results: &Results, easy: &str) -> Option<ClaimFinding> {
    let (found, held, all) = together(SETS.into_iter().filter_map(|set| {
        let ours = mean_at(results, set, BEST, Some(6000), BOUND)?;
        let ratio = mean(results, set, easy, BOUND)? / ours;
        let found = format!("{}: {}", set.title(), significant(ratio, 3));
        Some((found, ratio >= 100.0))
    }))?;
    Some((format!("{easy} over {BEST}: {found}"), held, all))
}
