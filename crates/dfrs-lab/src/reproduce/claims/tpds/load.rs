//! What Section 5.1 says about degradation from the bound.

use dfrs_report::significant;

use super::{BOUND, SETS};
use crate::reproduce::claims::{ClaimFinding, LOADS, best, ends, mean, ratios, together};
use crate::reproduce::experiment::{BEST, TPDS};
use crate::reproduce::results::Results;
use crate::reproduce::traces::TraceSet;

pub fn orders_of_magnitude(results: &Results, easy: &str) -> Option<ClaimFinding> {
    let factors = ratios(results, easy, BEST, BOUND)?;
    let (low, high) = ends(&factors);
    let held = factors.iter().filter(|factor| **factor >= 100.0).count();
    let (low, high) = (significant(low, 3), significant(high, 3));
    let found = format!("{easy} over {BEST}: {low} to {high}");
    Some((found, held, factors.len()))
}

/// How many of the other DFRS algorithms are better at low and at higher loads.
pub fn greedy_pm(results: &Results) -> Option<ClaimFinding> {
    let subject = "GreedyPM*/OPT=MIN";
    let others = || {
        TPDS.iter()
            .filter(|name| name.contains('/') && !name.starts_with("EASY") && **name != subject)
    };
    let better = |tenths: u8| -> Option<usize> {
        let set = TraceSet::Load(tenths);
        let ours = mean(results, set, subject, BOUND)?;
        let all: Option<Vec<f64>> = others()
            .map(|name| mean(results, set, name, BOUND))
            .collect();
        Some(all?.into_iter().filter(|value| *value < ours).count())
    };
    let counts: Option<Vec<usize>> = LOADS.map(better).collect();
    let counts = counts?;
    let all = others().count();
    let low = counts[..3]
        .iter()
        .filter(|count| **count <= all / 2)
        .count();
    let high = counts[3..].iter().filter(|count| **count > all / 2).count();
    let listed: Vec<String> = counts.iter().map(ToString::to_string).collect();
    let found = format!(
        "of {all} others, better from load 0.1 to 0.9: {}",
        listed.join(", ")
    );
    Some((found, low + high, counts.len()))
}

pub fn best_everywhere(results: &Results) -> Option<ClaimFinding> {
    let mut held = 0;
    let mut exceptions = Vec::new();
    for tenths in LOADS {
        let set = TraceSet::Load(tenths);
        let (name, value) = best(results, set, TPDS, BOUND)?;
        let ours = mean(results, set, BEST, BOUND)?;
        if ours <= value * 1.05 {
            held += 1;
        } else {
            exceptions.push(format!(
                "at 0.{tenths} {name} has {}, it {}",
                significant(value, 3),
                significant(ours, 3)
            ));
        }
    }
    let found = match exceptions.as_slice() {
        [] => "at all nine loads".into(),
        exceptions => exceptions.join("; "),
    };
    Some((found, held, 9))
}

pub fn factor_7(results: &Results) -> Option<ClaimFinding> {
    together(SETS.into_iter().filter_map(|set| {
        let value = mean(results, set, BEST, BOUND)?;
        let found = format!("{}: {}", set.title(), significant(value, 3));
        Some((found, value <= 7.0))
    }))
}
