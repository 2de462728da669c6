//! Numbers of the IPDPS 2010 paper.

use super::{Statistic, Triple, Value, pick};
use crate::reproduce::experiment::EASY_PUBLISHED;
use crate::reproduce::measure::Measure;
use crate::reproduce::traces::TraceSet;

/// IPDPS 2010, Table I: average, standard deviation and maximum over the scaled traces, the unscaled
/// ones and the weeks of HPC2N.
pub const TABLE_1: [(&str, Triple, Triple, Triple); 9] = [
    (
        "FCFS",
        [435.32, 239.37, 1470.30],
        [448.74, 238.38, 1128.44],
        [469.51, 581.12, 4422.00],
    ),
    (
        EASY_PUBLISHED,
        [392.78, 227.85, 1454.26],
        [410.06, 226.41, 989.91],
        [402.93, 500.13, 3136.92],
    ),
    (
        "GREEDY",
        [284.07, 222.33, 2288.65],
        [239.76, 217.47, 1128.32],
        [134.32, 268.66, 2129.98],
    ),
    (
        "GREEDY-PMTN",
        [9.45, 41.30, 509.05],
        [3.28, 10.59, 84.16],
        [1.72, 6.63, 89.54],
    ),
    (
        "GREEDY-PMTN-MIGR",
        [10.86, 46.35, 509.04],
        [3.61, 13.81, 102.69],
        [1.77, 6.87, 92.87],
    ),
    (
        "DYNMCB8",
        [108.78, 183.77, 1435.44],
        [36.95, 32.16, 162.33],
        [67.19, 229.96, 2241.83],
    ),
    (
        "DYNMCB8-PER 600",
        [3.55, 2.62, 16.38],
        [4.83, 3.90, 21.30],
        [14.73, 64.41, 668.24],
    ),
    (
        "DYNMCB8-ASAP-PER 600",
        [2.62, 1.66, 12.77],
        [3.28, 2.03, 11.00],
        [4.23, 3.05, 24.68],
    ),
    (
        "DYNMCB8-STRETCH-PER 600",
        [3.59, 2.53, 16.38],
        [4.89, 3.77, 20.97],
        [16.01, 78.24, 900.45],
    ),
];

/// IPDPS 2010, Table II: average and maximum of GB/s, events per hour and events per job, of
/// preemptions and migrations each.
const TABLE_2: [(&str, [(f64, f64); 6]); 6] = [
    (
        "GREEDY-PMTN",
        [
            (0.10, 0.27),
            (0.00, 0.00),
            (12.26, 39.24),
            (0.00, 0.00),
            (1.26, 4.44),
            (0.00, 0.00),
        ],
    ),
    (
        "GREEDY-PMTN-MIGR",
        [
            (0.05, 0.14),
            (0.03, 0.12),
            (5.42, 20.88),
            (8.99, 34.56),
            (0.58, 2.64),
            (0.90, 2.58),
        ],
    ),
    (
        "DYNMCB8",
        [
            (0.53, 1.48),
            (1.46, 2.90),
            (84.99, 294.48),
            (604.55, 1329.84),
            (9.32, 23.61),
            (71.54, 110.19),
        ],
    ),
    (
        "DYNMCB8-PER 600",
        [
            (0.60, 1.31),
            (0.26, 0.77),
            (45.58, 110.16),
            (48.80, 141.84),
            (7.63, 32.32),
            (6.18, 20.77),
        ],
    ),
    (
        "DYNMCB8-ASAP-PER 600",
        [
            (0.59, 1.34),
            (0.27, 0.77),
            (44.05, 105.84),
            (49.16, 142.92),
            (7.33, 30.87),
            (6.08, 20.35),
        ],
    ),
    (
        "DYNMCB8-STRETCH-PER 600",
        [
            (0.38, 0.87),
            (0.51, 1.11),
            (33.78, 76.32),
            (88.32, 197.64),
            (7.15, 27.68),
            (16.11, 40.61),
        ],
    ),
];

pub fn table_1(set: TraceSet, policy: &str, statistic: Statistic) -> Option<Value> {
    let (_, scaled, unscaled, weeks) = TABLE_1.iter().find(|row| row.0 == policy)?;
    let triple = match set {
        TraceSet::Scaled => scaled,
        TraceSet::Unscaled => unscaled,
        TraceSet::Weeks => weeks,
        _ => return None,
    };
    Some(pick(*triple, statistic))
}

pub fn table_2(policy: &str, measure: Measure, statistic: Statistic) -> Option<Value> {
    let (_, columns) = TABLE_2.iter().find(|row| row.0 == policy)?;
    let (average, maximum) = columns[measure.cost_column()?];
    match statistic {
        Statistic::Average => Some(Value::Is(average)),
        Statistic::Maximum => Some(Value::Is(maximum)),
        Statistic::Deviation => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::experiment::IPDPS;

    #[test]
    fn rows_are_the_papers_algorithms() {
        let names: Vec<&str> = TABLE_1.iter().map(|row| row.0).collect();
        assert_eq!(names, IPDPS);
    }
}
