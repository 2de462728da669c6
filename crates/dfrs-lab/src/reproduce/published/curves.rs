//! The curves that the papers draw. Their figures are vector graphics, so that the corners of the lines
//! give the values to three or four digits: the averages over all loads are those of the papers' tables
//! (IPDPS 2010, Table I; INRIA RR-7659, Table 2), which a test checks.

use super::Value;
use crate::reproduce::experiment::{BEST, EASY_PUBLISHED, PERIODS};
use crate::reproduce::traces::TraceSet;

/// Averages at the loads 0.1 to 0.9.
pub type ByLoad = (&'static str, [f64; 9]);
/// Averages at the periods of the experiments.
type ByPeriod = [f64; 9];

/// TPDS 2012, Figure 1, which is Figure 1 of INRIA RR-7659.
pub const TPDS_1: &[ByLoad] = &[
    (
        "FCFS",
        [
            4290.0, 5246.0, 5795.0, 6027.0, 6225.0, 6327.0, 6371.0, 6298.0, 6225.0,
        ],
    ),
    (
        EASY_PUBLISHED,
        [
            3966.0, 4750.0, 5150.0, 5369.0, 5507.0, 5623.0, 5741.0, 5662.0, 5597.0,
        ],
    ),
    (
        "Greedy*/OPT=MIN",
        [
            1385.0, 2071.0, 2664.0, 3235.0, 3412.0, 3734.0, 4058.0, 4077.0, 4202.0,
        ],
    ),
    (
        "GreedyPM*/OPT=MIN",
        [
            7.387, 26.85, 52.62, 62.59, 126.4, 146.3, 245.5, 233.9, 213.2,
        ],
    ),
    (
        "Greedy*/per/OPT=MIN",
        [29.52, 31.71, 31.86, 31.13, 30.07, 28.05, 27.16, 26.42, 25.4],
    ),
    (
        "GreedyPM*/per/OPT=MIN",
        [
            22.73, 21.11, 19.69, 18.33, 17.14, 16.07, 15.45, 15.74, 14.68,
        ],
    ),
    (
        BEST,
        [
            3.541, 4.598, 5.558, 6.298, 6.371, 6.673, 6.401, 7.578, 7.525,
        ],
    ),
    (
        "MCB8*/per/OPT=MIN/MINVT=600",
        [4.974, 7.791, 8.786, 11.23, 13.57, 12.87, 16.63, 17.1, 16.63],
    ),
    (
        "/per/OPT=MIN/MINVT=600",
        [48.53, 45.7, 42.74, 40.06, 39.14, 37.37, 36.86, 36.6, 36.35],
    ),
    (
        "/stretch-per/OPT=MAX/MINVT=600",
        [48.53, 45.7, 42.64, 39.87, 39.05, 37.03, 36.52, 36.35, 36.01],
    ),
];

/// IPDPS 2010, Figure 1(a).
pub const IPDPS_1A: &[ByLoad] = &[
    (
        "FCFS",
        [
            605.1, 603.8, 623.2, 595.6, 614.8, 637.5, 623.2, 631.7, 634.6,
        ],
    ),
    (
        EASY_PUBLISHED,
        [
            571.9, 549.0, 560.3, 531.9, 544.1, 568.0, 562.9, 569.3, 570.6,
        ],
    ),
    (
        "GREEDY",
        [
            225.7, 289.4, 359.6, 418.5, 446.9, 516.5, 514.2, 521.2, 544.1,
        ],
    ),
    (
        "GREEDY-PMTN",
        [1.79, 5.765, 12.11, 15.15, 23.98, 27.84, 34.51, 31.46, 34.2],
    ),
    (
        "GREEDY-PMTN-MIGR",
        [
            2.097, 7.581, 13.35, 16.43, 24.25, 39.26, 33.89, 31.89, 35.22,
        ],
    ),
    (
        "DYNMCB8",
        [1.197, 1.399, 1.249, 1.23, 1.121, 1.091, 1.064, 1.054, 1.078],
    ),
    (
        "DYNMCB8-PER 600",
        [
            7.115, 5.713, 5.137, 4.515, 4.316, 4.078, 3.828, 3.768, 3.751,
        ],
    ),
    (
        "DYNMCB8-ASAP-PER 600",
        [3.123, 3.005, 3.38, 3.158, 3.158, 2.991, 2.757, 2.63, 2.684],
    ),
    (
        "DYNMCB8-STRETCH-PER 600",
        [
            7.003, 5.548, 4.943, 4.325, 4.134, 3.889, 3.618, 3.626, 3.634,
        ],
    ),
];

/// IPDPS 2010, Figure 1(b).
pub const IPDPS_1B: &[ByLoad] = &[
    (
        "FCFS",
        [
            534.3, 516.5, 482.6, 430.0, 422.3, 399.1, 396.4, 366.2, 376.3,
        ],
    ),
    (
        EASY_PUBLISHED,
        [
            504.9, 469.7, 434.9, 383.2, 372.9, 354.8, 353.2, 330.0, 336.0,
        ],
    ),
    (
        "GREEDY",
        [
            197.9, 248.2, 259.6, 292.7, 302.1, 325.6, 321.9, 299.4, 311.9,
        ],
    ),
    (
        "GREEDY-PMTN",
        [
            1.232, 2.265, 4.106, 5.713, 11.09, 11.21, 13.38, 16.92, 19.25,
        ],
    ),
    (
        "GREEDY-PMTN-MIGR",
        [
            1.538, 3.465, 5.448, 5.897, 11.14, 18.91, 14.09, 15.88, 17.31,
        ],
    ),
    (
        "DYNMCB8",
        [
            32.03, 52.45, 91.09, 108.2, 122.8, 134.4, 150.5, 141.3, 147.2,
        ],
    ),
    (
        "DYNMCB8-PER 600",
        [6.369, 5.011, 4.219, 3.403, 3.13, 2.702, 2.678, 2.27, 2.229],
    ),
    (
        "DYNMCB8-ASAP-PER 600",
        [4.088, 3.388, 3.18, 2.708, 2.451, 2.165, 2.046, 1.806, 1.75],
    ),
    (
        "DYNMCB8-STRETCH-PER 600",
        [6.369, 5.114, 4.267, 3.45, 3.173, 2.739, 2.678, 2.291, 2.255],
    ),
];

/// TPDS 2012, Figure 2 (RR-7659, Figure 3): the unscaled traces, the scaled ones, the weeks of HPC2N.
/// The scaled one begins above the picture: its first value is that of RR-7659, Table 4.
const TPDS_2: [ByPeriod; 3] = [
    [
        0.497, 0.382, 0.338, 0.303, 0.282, 0.274, 0.265, 0.267, 0.267,
    ],
    [
        0.608, 0.427, 0.362, 0.308, 0.277, 0.264, 0.253, 0.253, 0.256,
    ],
    [
        0.344, 0.252, 0.219, 0.186, 0.164, 0.150, 0.132, 0.123, 0.116,
    ],
];

/// The level of EASY there.
const TPDS_2_EASY: [f64; 3] = [0.349, 0.384, 0.064];

/// TPDS 2012, Figure 3 (RR-7659, Figure 4), for the same sets. The lines begin at 900 s: the first values
/// are those of RR-7659, Table 2.
const TPDS_3: [ByPeriod; 3] = [
    [4.8, 4.33, 4.13, 4.36, 4.25, 4.59, 4.92, 5.46, 5.72],
    [6.1, 5.51, 5.68, 5.83, 6.34, 6.68, 8.79, 11.7, 13.9],
    [6.9, 6.49, 6.08, 6.03, 6.15, 6.4, 6.47, 6.86, 9.1],
];

/// The value of a curve over the load.
pub fn by_load(curves: &[ByLoad], set: TraceSet, policy: &str) -> Option<Value> {
    let TraceSet::Load(tenths) = set else {
        return None;
    };
    let (_, values) = curves.iter().find(|curve| curve.0 == policy)?;
    let value = values.get(usize::from(tenths).checked_sub(1)?)?;
    Some(Value::Is(*value))
}

/// Normalized underutilization over the period.
pub fn underutilization(set: TraceSet, policy: &str, period: Option<u32>) -> Option<Value> {
    if policy == EASY_PUBLISHED {
        return Some(Value::Is(TPDS_2_EASY[place(set)?]));
    }
    by_period(&TPDS_2, set, policy, period)
}

/// Degradation from bound over the period.
pub fn degradation(set: TraceSet, policy: &str, period: Option<u32>) -> Option<Value> {
    by_period(&TPDS_3, set, policy, period)
}

fn by_period(
    curves: &[ByPeriod; 3],
    set: TraceSet,
    policy: &str,
    period: Option<u32>,
) -> Option<Value> {
    let at = PERIODS.iter().position(|known| Some(*known) == period)?;
    (policy == BEST).then_some(Value::Is(curves[place(set)?][at]))
}

fn place(set: TraceSet) -> Option<usize> {
    match set {
        TraceSet::Unscaled => Some(0),
        TraceSet::Scaled => Some(1),
        TraceSet::Weeks => Some(2),
        _ => None,
    }
}
