//! The numbers of the TPDS 2012 paper, and those of its long version, the research report INRIA RR-7659
//! (HAL inria-00603091): the same experiments with the tables for which the paper had no room.

use super::{Statistic, Triple, Value, pick};
use crate::reproduce::experiment::{BEST, EASY_PUBLISHED, SECOND};
use crate::reproduce::measure::Measure;
use crate::reproduce::traces::TraceSet;

/// RR-7659, Table 2: degradation from bound over the unscaled traces, the scaled ones and the weeks of
/// HPC2N.
pub const DEGRADATION: [(&str, Triple, Triple, Triple); 13] = [
    (
        "FCFS",
        [5457.2, 2958.5, 15102.7],
        [5869.3, 2789.1, 17403.3],
        [3578.5, 3727.8, 21718.4],
    ),
    (
        EASY_PUBLISHED,
        [4955.4, 2730.6, 14036.8],
        [5262.0, 2588.9, 14534.1],
        [3041.9, 3438.0, 21317.4],
    ),
    (
        "Greedy*/OPT=MIN",
        [2435.0, 2285.6, 11229.9],
        [3204.3, 2517.5, 19129.2],
        [949.8, 1828.5, 11778.4],
    ),
    (
        "GreedyP*/OPT=MIN",
        [37.5, 156.0, 1204.9],
        [115.7, 644.0, 10354.2],
        [13.5, 68.0, 819.2],
    ),
    (
        "GreedyPM*/OPT=MIN",
        [33.8, 154.0, 1321.7],
        [124.0, 673.5, 9598.8],
        [13.8, 68.2, 819.2],
    ),
    (
        "Greedy*/per/OPT=MIN",
        [30.4, 9.7, 65.7],
        [29.1, 12.3, 101.4],
        [24.3, 15.9, 81.6],
    ),
    (
        "GreedyPM*/per/OPT=MIN",
        [20.3, 6.9, 32.0],
        [17.9, 8.6, 89.9],
        [17.9, 19.3, 198.6],
    ),
    (
        SECOND,
        [4.9, 2.9, 19.2],
        [6.1, 6.3, 103.5],
        [6.9, 14.2, 149.3],
    ),
    (BEST, [4.8, 2.4, 13.6], [6.1, 5.4, 90.2], [6.9, 14.4, 149.6]),
    (
        "MCB8*/OPT=MIN/MINVT=600",
        [6.9, 5.4, 44.4],
        [13.2, 21.6, 270.9],
        [12.0, 32.8, 370.0],
    ),
    (
        "MCB8*/per/OPT=MIN/MINVT=600",
        [7.8, 3.9, 21.9],
        [12.2, 15.3, 195.7],
        [13.6, 30.2, 318.9],
    ),
    (
        "/per/OPT=MIN/MINVT=600",
        [43.0, 19.7, 134.7],
        [40.4, 25.0, 238.3],
        [105.0, 445.6, 5011.9],
    ),
    (
        "/stretch-per/OPT=MAX/MINVT=600",
        [43.0, 19.6, 134.7],
        [40.2, 24.8, 236.9],
        [105.0, 445.6, 5011.9],
    ),
];

/// RR-7659, Table 3: average and maximum of GB/s, events per hour and events per job, of preemptions
/// and migrations each.
const COSTS: [(&str, [(f64, f64); 6]); 2] = [
    (
        SECOND,
        [
            (0.56, 1.36),
            (0.24, 0.63),
            (37.70, 97.20),
            (52.14, 119.16),
            (5.56, 23.88),
            (6.34, 16.48),
        ],
    ),
    (
        BEST,
        [
            (0.54, 1.34),
            (0.26, 0.62),
            (33.80, 94.32),
            (56.45, 127.08),
            (5.11, 23.23),
            (6.84, 16.94),
        ],
    ),
];

/// TPDS 2012, Section 5.3.2: averages over the unscaled traces, the scaled ones and the weeks of HPC2N.
const UNDERUTILIZATION: [(&str, Triple); 3] = [
    (EASY_PUBLISHED, [0.349, 0.384, 0.064]),
    (SECOND, [0.497, 0.610, 0.344]),
    (BEST, [0.497, 0.610, 0.344]),
];

/// In the same place: all of HPC2N at once.
const WHOLE: [(&str, f64); 3] = [(EASY_PUBLISHED, 0.08), (SECOND, 0.10), (BEST, 0.10)];

/// Degradation from bound.
pub fn degradation(set: TraceSet, policy: &str, statistic: Statistic) -> Option<Value> {
    let (_, unscaled, scaled, weeks) = DEGRADATION.iter().find(|row| row.0 == policy)?;
    let triple = match set {
        TraceSet::Unscaled => unscaled,
        TraceSet::Scaled => scaled,
        TraceSet::Weeks => weeks,
        _ => return None,
    };
    Some(pick(*triple, statistic))
}

/// What moves cost with a period of 600 s; the bandwidth of both together as the paper has it (TPDS
/// 2012, Sections 5.2 and, for a period of an hour, 5.3.2).
pub fn costs(
    policy: &str,
    period: Option<u32>,
    measure: Measure,
    statistic: Statistic,
) -> Option<Value> {
    let limit = match (policy, period, measure, statistic) {
        (BEST, Some(600), Measure::Bandwidth, Statistic::Average) => Some(0.80),
        (BEST, Some(600), Measure::Bandwidth, Statistic::Maximum) => Some(2.0),
        (BEST, Some(3600), Measure::Bandwidth, Statistic::Average) => Some(0.2),
        _ => None,
    };
    if period != Some(600) || limit.is_some() {
        return limit.map(Value::Below);
    }
    let (_, columns) = COSTS.iter().find(|row| row.0 == policy)?;
    let (average, maximum) = columns[measure.cost_column()?];
    match statistic {
        Statistic::Average => Some(Value::Is(average)),
        Statistic::Maximum => Some(Value::Is(maximum)),
        Statistic::Deviation => None,
    }
}

/// Normalized underutilization.
pub fn underutilization(set: TraceSet, policy: &str, statistic: Statistic) -> Option<Value> {
    let (_, values) = UNDERUTILIZATION.iter().find(|row| row.0 == policy)?;
    let place = match set {
        TraceSet::Unscaled => 0,
        TraceSet::Scaled => 1,
        TraceSet::Weeks => 2,
        _ => return None,
    };
    (statistic == Statistic::Average).then_some(Value::Is(values[place]))
}

/// Normalized underutilization of all of HPC2N at once.
pub fn whole(policy: &str, measure: Measure) -> Option<Value> {
    let (_, value) = WHOLE.iter().find(|row| row.0 == policy)?;
    (measure == Measure::Underutilization).then_some(Value::Is(*value))
}
