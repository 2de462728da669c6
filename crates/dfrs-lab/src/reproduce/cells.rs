//! The cells of an experiment: what was measured beside what is published.

use dfrs_report::{Agreement, Cell, compared, csv_line, decimals, percent, significant};

use super::experiment::{BATCH, EASY, EASY_PUBLISHED, EASY_SHARED, Experiment};
use super::measure::{Measure, SampleStatistics};
use super::published::{Statistic, Value, published};
use super::results::{Query, Results};
use super::traces::TraceSet;

/// The three numbers that are reported of a cell.
pub const STATISTICS: [Statistic; 3] =
    [Statistic::Average, Statistic::Deviation, Statistic::Maximum];

impl Experiment {
    /// The cell's values.
    pub fn spread(
        &self,
        results: &Results,
        set: TraceSet,
        policy: &str,
        period: Option<u32>,
        measure: Measure,
    ) -> Option<SampleStatistics> {
        let penalty = self.penalty;
        results.spread(&Query {
            set,
            policy,
            penalty,
            period,
            measure,
        })
    }

    /// The periods of the experiment; `None` alone if it has none.
    pub fn all_periods(&self) -> Vec<Option<u32>> {
        match self.periods {
            [] => vec![None],
            periods => periods.iter().copied().map(Some).collect(),
        }
    }

    /// The periods that make a difference to the policy: batch schedulers have none, and are listed
    /// under the first.
    pub fn periods_of(&self, policy: &str) -> Vec<Option<u32>> {
        let mut periods = self.all_periods();
        if BATCH.contains(&policy) {
            periods.truncate(1);
        }
        periods
    }

    /// The published average of its first measure, if it is known.
    pub fn published_mean(&self, set: TraceSet, policy: &str, period: Option<u32>) -> Option<f64> {
        let measure = *self.measures.first()?;
        match published(self.name, set, policy, period, measure, Statistic::Average)? {
            Value::Is(value) => Some(value),
            Value::Below(_) => None,
        }
    }

    /// Whether the paper prints anything for this set.
    pub fn is_published(&self, set: TraceSet) -> bool {
        let mut measures = self.measures.iter();
        measures.any(|measure| self.is_measure_published(set, *measure))
    }

    /// Whether the paper prints anything of this measure for this set.
    pub fn is_measure_published(&self, set: TraceSet, measure: Measure) -> bool {
        self.policies.iter().any(|policy| {
            self.all_periods().into_iter().any(|period| {
                STATISTICS.into_iter().any(|statistic| {
                    published(self.name, set, policy, period, measure, statistic).is_some()
                })
            })
        })
    }

    /// Everything that was measured, a line for each cell.
    pub fn csv(&self, results: &Results) -> String {
        let mut csv = csv_line(&[
            "traces",
            "policy",
            "penalty_seconds",
            "period_seconds",
            "measure",
            "count",
            "mean",
            "standard_deviation",
            "maximum",
            "published_mean",
            "published_standard_deviation",
            "published_maximum",
        ]);
        for set in self.sets {
            for policy in self.policies {
                for period in self.all_periods() {
                    for measure in self.measures {
                        let Some(spread) = self.spread(results, *set, policy, period, *measure)
                        else {
                            continue;
                        };
                        let mut fields = vec![
                            set.name(),
                            (*policy).into(),
                            self.penalty.to_string(),
                            period.map_or(String::new(), |period| period.to_string()),
                            measure.name().into(),
                            spread.count.to_string(),
                            spread.mean.to_string(),
                            spread.deviation.to_string(),
                            spread.maximum.to_string(),
                        ];
                        fields.extend(STATISTICS.map(|statistic| {
                            match published(self.name, *set, policy, period, *measure, statistic) {
                                None => String::new(),
                                Some(Value::Is(value)) => value.to_string(),
                                Some(Value::Below(value)) => format!("<{value}"),
                            }
                        }));
                        csv += &csv_line(&fields);
                    }
                }
            }
        }
        csv
    }
}

impl SampleStatistics {
    /// The number of this statistic.
    pub const fn get(&self, statistic: Statistic) -> f64 {
        match statistic {
            Statistic::Average => self.mean,
            Statistic::Deviation => self.deviation,
            Statistic::Maximum => self.maximum,
        }
    }
}

/// A policy's name for people.
pub fn label(policy: &str) -> String {
    match policy {
        EASY_PUBLISHED => format!("{policy} (as published)"),
        EASY => format!("{policy} (as defined)"),
        EASY_SHARED => format!("{policy} (shared nodes)"),
        _ => policy.into(),
    }
}

/// A number as the papers print such numbers.
pub fn show(measure: Measure, value: f64) -> String {
    match measure {
        Measure::Underutilization | Measure::Stalled => percent(value),
        Measure::MaxStretch | Measure::MeanStretch => significant(value, 4),
        _ => decimals(value, 2),
    }
}

/// Published, reproduced, and what lies between them.
pub fn compared_cells(measure: Measure, value: Option<Value>, reproduced: f64) -> [Cell; 3] {
    match value {
        Some(Value::Below(limit)) => {
            let (text, close) = if reproduced < limit {
                ("below", Agreement::Near)
            } else {
                ("above", Agreement::of(limit, reproduced))
            };
            [
                Cell::number(format!("< {}", show(measure, limit))),
                Cell::number(show(measure, reproduced)),
                Cell::marked(text, close),
            ]
        }
        Some(Value::Is(value)) => compared(Some(value), reproduced, |value| show(measure, value)),
        None => compared(None, reproduced, |value| show(measure, value)),
    }
}
