//! What the papers conclude in words, checked against what was measured.

mod ipdps;
mod tpds;

use dfrs_report::{Agreement, Cell, Table};

use super::experiment::PENALTY;
use super::measure::Measure;
use super::results::{PaperCell, Results};
use super::texts::TEXTS;
use super::traces::TraceSet;

/// The name of a claim, whose text is in `texts.toml`, and what was found; none if it was not measured.
pub(super) type PaperClaim<R> = (&'static str, fn(&R) -> Option<ClaimFinding>);

/// What was found about a claim, how many of its parts hold, and how many there are.
pub(super) type ClaimFinding = (String, usize, usize);

/// The claims of the papers on DFRS that could be checked; none if there are none.
pub fn table(results: &Results) -> Option<Table> {
    table_of(
        "What the papers say",
        tpds::CLAIMS.iter().chain(ipdps::CLAIMS),
        results,
    )
}

/// The names of these.
#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let all = tpds::CLAIMS.iter().chain(ipdps::CLAIMS);
    all.map(|(name, _)| *name)
}

/// The claims that could be checked; none if there are none. A claim holds if all of its parts do.
pub(super) fn table_of<'a, R: 'a>(
    what: &str,
    claims: impl IntoIterator<Item = &'a PaperClaim<R>>,
    results: &R,
) -> Option<Table> {
    let mut table = Table::new(
        &format!("{what} in words. “holds” is judged by the numbers beside it."),
        &["where", "claim", "reproduced", "holds"],
    );
    let mut is_empty = true;
    for (name, check) in claims {
        let Some((found, held, parts)) = check(results) else {
            continue;
        };
        let claim = TEXTS.claim(name);
        is_empty = false;
        let (word, close) = match held {
            held if held == parts => ("yes", Agreement::Near),
            0 => ("no", Agreement::Far),
            _ => ("partly", Agreement::Off),
        };
        table.row([
            Cell::text(&claim.place),
            Cell::text(&claim.statement),
            Cell::text(found),
            Cell::marked(word, close),
        ]);
    }
    (!is_empty).then_some(table)
}

/// The findings about several sets of traces as one; none if there are none. How many of them hold.
fn together(found: impl IntoIterator<Item = (String, bool)>) -> Option<ClaimFinding> {
    let (texts, held): (Vec<String>, Vec<bool>) = found.into_iter().unzip();
    let all = texts.len();
    let held = held.into_iter().filter(|holds| *holds).count();
    (all > 0).then(|| (texts.join("; "), held, all))
}

const LOADS: std::ops::RangeInclusive<u8> = 1..=9;

/// An average with the papers' usual penalty and the policy's own period.
pub(super) fn mean(
    results: &Results,
    set: TraceSet,
    policy: &str,
    measure: Measure,
) -> Option<f64> {
    mean_at(results, set, policy, None, measure)
}

fn mean_at(
    results: &Results,
    set: TraceSet,
    policy: &str,
    period: Option<u32>,
    measure: Measure,
) -> Option<f64> {
    let query = PaperCell {
        set,
        policy,
        penalty: match measure {
            Measure::DegradationFromBest { penalty } => penalty,
            _ => PENALTY,
        },
        period,
        measure,
    };
    results.spread(&query).map(|spread| spread.mean)
}

/// For each load, the quotient of two policies' averages.
fn ratios(results: &Results, above: &str, below: &str, measure: Measure) -> Option<Vec<f64>> {
    LOADS
        .map(|tenths| {
            let set = TraceSet::Load(tenths);
            Some(mean(results, set, above, measure)? / mean(results, set, below, measure)?)
        })
        .collect()
}

/// The smallest and the largest.
fn ends(values: &[f64]) -> (f64, f64) {
    values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(*value), high.max(*value))
        })
}

/// The policy with the smallest average.
fn best<'a>(
    results: &Results,
    set: TraceSet,
    policies: &[&'a str],
    measure: Measure,
) -> Option<(&'a str, f64)> {
    let averages: Option<Vec<(&str, f64)>> = policies
        .iter()
        .map(|policy| Some((*policy, mean(results, set, policy, measure)?)))
        .collect();
    averages?
        .into_iter()
        .min_by(|left, right| left.1.total_cmp(&right.1))
}
