//! The cells of an experiment: what was measured beside what is published.

use dfrs_report::{Agreement, Cell, compared, csv_line, decimals, percent, significant};

use super::experiment::{BATCH, EASY, EASY_PUBLISHED, EASY_SHARED, Experiment};
use super::measure::{Measure, SampleStatistics};
use super::published::{Statistic, Value, published};
use super::results::{PaperCell, Results};
use super::traces::TraceSet;

impl Experiment {
    /// What the experiment is about: the first of its measures.
    pub fn measure(&self) -> Measure {
        self.measures[0]
    }

    /// A cell of it.
    pub fn cell<'a>(
        &self,
        set: TraceSet,
        policy: &'a str,
        period: Option<u32>,
        measure: Measure,
    ) -> PaperCell<'a> {
        PaperCell {
            set,
            policy,
            penalty: self.penalty,
            period,
            measure,
        }
    }

    /// All of its cells.
    pub fn cells(&self) -> impl Iterator<Item = PaperCell<'static>> {
        self.sets.iter().flat_map(move |set| self.cells_of(*set))
    }

    fn cells_of(&self, set: TraceSet) -> impl Iterator<Item = PaperCell<'static>> {
        let policies = self.policies.iter();
        let runs = policies.flat_map(|policy| {
            let periods = self.all_periods().into_iter();
            periods.map(move |period| (*policy, period))
        });
        runs.flat_map(move |(policy, period)| {
            let measures = self.measures.iter();
            measures.map(move |measure| self.cell(set, policy, period, *measure))
        })
    }

    /// The average of its first measure.
    pub fn mean(
        &self,
        results: &Results,
        set: TraceSet,
        policy: &str,
        period: Option<u32>,
    ) -> Option<f64> {
        let spread = results.spread(&self.cell(set, policy, period, self.measure()))?;
        Some(spread.mean)
    }

    /// What the paper says of a cell of it.
    pub fn published(&self, cell: &PaperCell, statistic: Statistic) -> Option<Value> {
        published(self.name, cell, statistic)
    }

    /// The published average of its first measure, if it is known.
    pub fn published_mean(&self, set: TraceSet, policy: &str, period: Option<u32>) -> Option<f64> {
        let cell = self.cell(set, policy, period, self.measure());
        match self.published(&cell, Statistic::Average)? {
            Value::Is(value) => Some(value),
            Value::Below(_) => None,
        }
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

    /// Whether the paper prints anything for this set, of those of these measures and statistics.
    pub fn is_published(
        &self,
        set: TraceSet,
        is_asked: impl Fn(Measure, Statistic) -> bool,
    ) -> bool {
        self.cells_of(set).any(|cell| {
            let asked = Statistic::ALL.into_iter();
            let mut asked = asked.filter(|statistic| is_asked(cell.measure, *statistic));
            asked.any(|statistic| self.published(&cell, statistic).is_some())
        })
    }

    /// Everything that was measured, a line for each cell.
    pub fn csv(&self, results: &Results) -> String {
        let mut csv = "traces,policy,penalty_seconds,period_seconds,measure,count,mean,\
                 standard_deviation,maximum,published_mean,published_standard_deviation,\
                 published_maximum\n"
            .to_owned();
        for cell in self.cells() {
            let Some(spread) = results.spread(&cell) else {
                continue;
            };
            let mut fields = vec![
                cell.set.name(),
                cell.policy.into(),
                self.penalty.to_string(),
                cell.period
                    .map_or(String::new(), |period| period.to_string()),
                cell.measure.name().into(),
                spread.count.to_string(),
            ];
            fields.extend(Statistic::ALL.map(|statistic| spread.get(statistic).to_string()));
            fields.extend(
                Statistic::ALL.map(|statistic| match self.published(&cell, statistic) {
                    None => String::new(),
                    Some(Value::Is(value)) => value.to_string(),
                    Some(Value::Below(value)) => format!("<{value}"),
                }),
            );
            csv += &csv_line(&fields);
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
