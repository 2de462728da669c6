//! What the papers conclude in words, checked against what was measured.

mod ipdps;
mod tpds;

use dfrs_report::{Agreement, Cell, Table};

use super::experiment::PENALTY;
use super::measure::Measure;
use super::results::{Query, Results};
use super::traces::TraceSet;

/// A sentence of a paper.
struct PaperClaim {
    /// Where it stands.
    place: &'static str,
    /// What it says.
    statement: &'static str,
    /// What was measured; none if it was not.
    check: fn(&Results) -> Option<ClaimFinding>,
}

/// What was found about a claim.
struct ClaimFinding {
    found: String,
    holds: ClaimVerdict,
}

/// Whether a claim holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClaimVerdict {
    Yes,
    Partly,
    No,
}

impl ClaimVerdict {
    /// Yes if all, no if none.
    fn of(held: usize, all: usize) -> Self {
        match held {
            held if held == all => Self::Yes,
            0 => Self::No,
            _ => Self::Partly,
        }
    }

    fn when(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}

/// The claims that could be checked; none if there are none.
pub fn table(results: &Results) -> Option<Table> {
    let mut table = Table::new(
        "What the papers say in words. “holds” is judged by the numbers beside it.",
        &["where", "claim", "reproduced", "holds"],
    );
    let mut is_empty = true;
    for claim in tpds::CLAIMS.iter().chain(ipdps::CLAIMS) {
        let Some(ClaimFinding { found, holds }) = (claim.check)(results) else {
            continue;
        };
        is_empty = false;
        let (word, close) = match holds {
            ClaimVerdict::Yes => ("yes", Agreement::Near),
            ClaimVerdict::Partly => ("partly", Agreement::Off),
            ClaimVerdict::No => ("no", Agreement::Far),
        };
        table.row([
            Cell::text(claim.place),
            Cell::text(claim.statement),
            Cell::text(found),
            Cell::marked(word, close),
        ]);
    }
    (!is_empty).then_some(table)
}

const LOADS: std::ops::RangeInclusive<u8> = 1..=9;

/// An average with the papers' usual penalty and the policy's own period.
fn mean(results: &Results, set: TraceSet, policy: &str, measure: Measure) -> Option<f64> {
    mean_at(results, set, policy, None, measure)
}

fn mean_at(
    results: &Results,
    set: TraceSet,
    policy: &str,
    period: Option<u32>,
    measure: Measure,
) -> Option<f64> {
    let query = Query {
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
