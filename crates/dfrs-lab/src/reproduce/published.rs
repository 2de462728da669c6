//! The numbers that the papers print, and the values of the curves that they draw.

mod curves;
mod ipdps;
mod tpds;

use super::measure::Measure;
use super::traces::TraceSet;

/// Which number over the traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    Average,
    Deviation,
    Maximum,
}

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// The value.
    Is(f64),
    /// “Under” this.
    Below(f64),
}

/// What the paper prints or draws for a cell of an experiment; none if it does neither.
/// `period` is none where the experiment has no periods.
pub fn published(
    experiment: &str,
    set: TraceSet,
    policy: &str,
    period: Option<u32>,
    measure: Measure,
    statistic: Statistic,
) -> Option<Value> {
    let average = |value: Option<Value>| value.filter(|_| statistic == Statistic::Average);
    match experiment {
        "ipdps-figure-1a" => average(curves::by_load(curves::IPDPS_1A, set, policy)),
        "ipdps-figure-1b" => average(curves::by_load(curves::IPDPS_1B, set, policy)),
        "tpds-figure-1" => average(curves::by_load(curves::TPDS_1, set, policy)),
        "tpds-figure-2" => average(curves::underutilization(set, policy, period)),
        "tpds-figure-3" => average(curves::degradation(set, policy, period)),
        "ipdps-table-1" => ipdps::table_1(set, policy, statistic),
        "ipdps-table-2" => ipdps::table_2(policy, measure, statistic),
        "tpds-costs" => tpds::costs(policy, period, measure, statistic),
        "tpds-degradation" => tpds::degradation(set, policy, statistic),
        "tpds-underutilization" => tpds::underutilization(set, policy, statistic),
        // The paper does not say with which period, or whether with a penalty.
        "tpds-whole" | "tpds-whole-no-penalty" if matches!(period, None | Some(600)) => {
            average(tpds::whole(policy, measure))
        }
        _ => None,
    }
}

/// Average, standard deviation and maximum.
type Triple = [f64; 3];

fn pick(triple: Triple, statistic: Statistic) -> Value {
    Value::Is(match statistic {
        Statistic::Average => triple[0],
        Statistic::Deviation => triple[1],
        Statistic::Maximum => triple[2],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::experiment::all;

    /// How many numbers are there for an experiment.
    fn count(name: &str) -> usize {
        let experiment = all()
            .find(|experiment| experiment.name == name)
            .expect(name);
        let mut found = 0;
        for set in experiment.sets {
            for policy in experiment.policies {
                for period in experiment.all_periods() {
                    for measure in experiment.measures {
                        for statistic in
                            [Statistic::Average, Statistic::Deviation, Statistic::Maximum]
                        {
                            let value = published(name, *set, policy, period, *measure, statistic);
                            found += usize::from(value.is_some());
                        }
                    }
                }
            }
        }
        found
    }

    /// A misspelt policy or set would leave a number out.
    #[test]
    fn every_published_number_is_in_an_experiment() {
        assert_eq!(count("ipdps-table-1"), 9 * 9);
        assert_eq!(count("ipdps-table-2"), 6 * 6 * 2);
        assert_eq!(count("tpds-underutilization"), 3 * 3);
        assert_eq!(count("tpds-whole"), 3);
        assert_eq!(count("tpds-whole-no-penalty"), 3);
        assert_eq!(count("tpds-costs"), 2 * 6 * 2 + 3);
        assert_eq!(count("tpds-degradation"), 13 * 9);
        assert_eq!(count("tpds-figure-1"), 10 * 9);
        assert_eq!(count("tpds-figure-2"), 3 * 2 * 9);
        assert_eq!(count("tpds-figure-3"), 3 * 9);
        assert_eq!(count("ipdps-figure-1a"), 9 * 9);
        assert_eq!(count("ipdps-figure-1b"), 9 * 9);
    }

    /// The curves are those of the tables.
    #[test]
    fn curve_averages_match_the_tables() {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / 9.0;
        let off = |curve: f64, printed: f64| (curve / printed - 1.0).abs();
        for (policy, values) in curves::IPDPS_1B {
            let row = ipdps::TABLE_1.iter().find(|row| row.0 == *policy);
            assert!(
                off(mean(values), row.expect(policy).1[0]) < 0.05,
                "{policy}"
            );
        }
        for (policy, values) in curves::TPDS_1 {
            let row = tpds::DEGRADATION.iter().find(|row| row.0 == *policy);
            assert!(
                off(mean(values), row.expect(policy).2[0]) < 0.01,
                "{policy}"
            );
        }
        // The text of Section V says so.
        assert!(off(mean(&curves::IPDPS_1A[5].1), 1.16) < 0.01);
    }
}
