//! Numbers of the TPDS 2012 paper.

use super::{Statistic, Value};
use crate::reproduce::experiment::{BEST, EASY_PUBLISHED, SECOND};
use crate::reproduce::measure::Measure;
use crate::reproduce::traces::TraceSet;

/// TPDS 2012, Section 5.3.2: averages over the unscaled traces, the scaled ones, the weeks of HPC2N,
/// and all of HPC2N at once.
const UNDERUTILIZATION: [(&str, [f64; 4]); 3] = [
    (EASY_PUBLISHED, [0.349, 0.384, 0.064, 0.08]),
    (SECOND, [0.497, 0.610, 0.344, 0.10]),
    (BEST, [0.497, 0.610, 0.344, 0.10]),
];

/// TPDS 2012, Sections 5.2 and, for a period of an hour, 5.3.2.
pub fn costs(
    policy: &str,
    period: Option<u32>,
    measure: Measure,
    statistic: Statistic,
) -> Option<Value> {
    if policy != BEST {
        return None;
    }
    let limit = match (period, measure, statistic) {
        (Some(600), Measure::Bandwidth, Statistic::Average) => 0.80,
        (Some(600), Measure::Bandwidth, Statistic::Maximum) => 2.0,
        (Some(600), Measure::PausesPerHour, Statistic::Average) => 38.0,
        (Some(600), Measure::MigrationsPerHour, Statistic::Average) => 53.0,
        (Some(600), Measure::PausesPerJob, Statistic::Average) => 6.0,
        (Some(600), Measure::MigrationsPerJob, Statistic::Average) => 7.0,
        (Some(3600), Measure::Bandwidth, Statistic::Average) => 0.2,
        _ => return None,
    };
    Some(Value::Below(limit))
}

pub fn underutilization(set: TraceSet, policy: &str, statistic: Statistic) -> Option<Value> {
    let (_, values) = UNDERUTILIZATION.iter().find(|row| row.0 == policy)?;
    let place = match set {
        TraceSet::Unscaled => 0,
        TraceSet::Scaled => 1,
        TraceSet::Weeks => 2,
        TraceSet::Whole => 3,
        _ => return None,
    };
    (statistic == Statistic::Average).then_some(Value::Is(values[place]))
}
