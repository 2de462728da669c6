//! The numbers that the papers print. What is in their figures only is not here.

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

/// What the paper prints for a cell of an experiment; none if it prints nothing, or only draws it.
/// `period` is none where the experiment has no periods.
pub fn published(
    experiment: &str,
    set: TraceSet,
    policy: &str,
    period: Option<u32>,
    measure: Measure,
    statistic: Statistic,
) -> Option<Value> {
    match experiment {
        "ipdps-table-1" => ipdps::table_1(set, policy, statistic),
        "ipdps-table-2" => ipdps::table_2(policy, measure, statistic),
        "tpds-costs" => tpds::costs(policy, period, measure, statistic),
        "tpds-underutilization" => tpds::underutilization(set, policy, statistic),
        _ => None,
    }
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
        let periods: Vec<Option<u32>> = match experiment.periods {
            [] => vec![None],
            periods => periods.iter().copied().map(Some).collect(),
        };
        let mut found = 0;
        for set in experiment.sets {
            for policy in experiment.policies {
                for period in &periods {
                    for measure in experiment.measures {
                        for statistic in
                            [Statistic::Average, Statistic::Deviation, Statistic::Maximum]
                        {
                            let value = published(name, *set, policy, *period, *measure, statistic);
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
    fn every_number_has_its_cell() {
        assert_eq!(count("ipdps-table-1"), 9 * 9);
        assert_eq!(count("ipdps-table-2"), 6 * 6 * 2);
        assert_eq!(count("tpds-underutilization"), 3 * 4);
        assert_eq!(count("tpds-costs"), 7);
    }
}
