//! The numbers that the papers print, and the values of the curves that they draw.

use std::sync::LazyLock;

use super::results::PaperCell;

/// All of them, with where they stand, and what a column of them is.
const NUMBERS: &str = include_str!("published.txt");

/// What distinguishes columns.
const COLUMNS: [&str; 4] = ["traces", "period", "measure", "statistic"];

/// Which number over the traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    Average,
    Deviation,
    Maximum,
}

impl Statistic {
    /// The three numbers that are reported of a cell.
    pub const ALL: [Self; 3] = [Self::Average, Self::Deviation, Self::Maximum];

    /// Its name among the published numbers.
    const fn word(self) -> &'static str {
        match self {
            Self::Average => "average",
            Self::Deviation => "deviation",
            Self::Maximum => "maximum",
        }
    }

    /// Its name in tables.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Deviation => "standard deviation",
            statistic => statistic.word(),
        }
    }
}

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// The value.
    Is(f64),
    /// “Under” this.
    Below(f64),
}

/// A number, and what it is of. None: that makes no difference.
struct PublishedNumber {
    experiment: &'static str,
    policy: &'static str,
    traces: Option<&'static str>,
    period: Option<u32>,
    measure: Option<&'static str>,
    statistic: &'static str,
    value: Value,
}

static PUBLISHED: LazyLock<Vec<PublishedNumber>> =
    LazyLock::new(|| NUMBERS.split("\n[").skip(1).flat_map(section).collect());

/// The numbers of an experiment.
fn section(text: &'static str) -> Vec<PublishedNumber> {
    let (experiment, lines) = text.split_once(']').unwrap_or((text, ""));
    let lines: Vec<(&str, Vec<&str>)> = lines
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(':'))
        .map(|(head, fields)| (head, fields.split_whitespace().collect()))
        .collect();
    let of_column = |name: &str, column: usize| {
        let (_, fields) = lines.iter().find(|(head, _)| *head == name)?;
        fields.get(column).or(fields.first()).copied()
    };
    let policies = lines.iter().filter(|(head, _)| !COLUMNS.contains(head));
    let cells = policies.flat_map(|(policy, fields)| {
        let fields = fields.iter().enumerate();
        fields.map(|(column, field)| (*policy, column, *field))
    });
    let number = |(policy, column, field): (&'static str, usize, &'static str)| {
        let (number, value): (&str, fn(f64) -> Value) = match field.strip_prefix('<') {
            Some(limit) => (limit, Value::Below),
            None => (field, Value::Is),
        };
        Some(PublishedNumber {
            experiment,
            policy,
            traces: of_column("traces", column),
            period: of_column("period", column).and_then(|period| period.parse().ok()),
            measure: of_column("measure", column),
            statistic: of_column("statistic", column).unwrap_or(Statistic::Average.word()),
            value: value(number.parse().ok()?),
        })
    };
    cells.filter_map(number).collect()
}

/// What the paper prints or draws for a cell of an experiment; none if it does neither.
/// The cell's period is none where the experiment has no periods.
pub fn published(experiment: &str, cell: &PaperCell, statistic: Statistic) -> Option<Value> {
    let set = cell.set.name();
    let is_of = |number: &&PublishedNumber| {
        number.experiment == experiment
            && number.policy == cell.policy
            && number.statistic == statistic.word()
            && number.traces.is_none_or(|traces| traces == set)
            && number
                .period
                .is_none_or(|period| Some(period) == cell.period)
            && number
                .measure
                .is_none_or(|measure| measure == cell.measure.name())
    };
    PUBLISHED.iter().find(is_of).map(|number| number.value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::experiment::{Experiment, IPDPS, TPDS, all};
    use crate::reproduce::traces::TraceSet;

    fn named(name: &str) -> &'static Experiment {
        all()
            .find(|experiment| experiment.name == name)
            .expect(name)
    }

    /// How many numbers are there for an experiment.
    fn count(name: &str) -> usize {
        let experiment = named(name);
        let cells = experiment.cells();
        cells
            .flat_map(|cell| Statistic::ALL.map(|statistic| published(name, &cell, statistic)))
            .flatten()
            .count()
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
        // The level of EASY is that of all periods.
        let repeated = 3 * 8;
        let numbers = all().map(|experiment| count(experiment.name));
        assert_eq!(PUBLISHED.len() + repeated, numbers.sum::<usize>());
    }

    /// The mean over all loads of a published curve, if there is one.
    fn mean(name: &str, policy: &str) -> Option<f64> {
        let values = (1..=9).map(|tenths| {
            let set = TraceSet::Load(tenths);
            named(name).published_mean(set, policy, None)
        });
        let values: Option<Vec<f64>> = values.collect();
        Some(values?.iter().sum::<f64>() / 9.0)
    }

    /// The curves are those of the tables.
    #[test]
    fn curve_averages_match_the_tables() {
        let off = |curve: f64, printed: f64| (curve / printed - 1.0).abs();
        for (curves, table, policies, count, limit) in [
            ("ipdps-figure-1b", "ipdps-table-1", IPDPS, 9, 0.05),
            ("tpds-figure-1", "tpds-degradation", TPDS, 10, 0.01),
        ] {
            let drawn = policies.iter();
            let drawn = drawn.filter_map(|policy| Some((*policy, mean(curves, policy)?)));
            assert_eq!(drawn.clone().count(), count);
            for (policy, curve) in drawn {
                let printed = named(table).published_mean(TraceSet::Scaled, policy, None);
                assert!(off(curve, printed.expect(policy)) < limit, "{policy}");
            }
        }
        // The text of Section V says so.
        let curve = mean("ipdps-figure-1a", "DYNMCB8").expect("a curve");
        assert!(off(curve, 1.16) < 0.01);
    }

    #[test]
    fn rows_are_the_papers_algorithms() {
        let numbers = PUBLISHED.iter();
        let mut names: Vec<&str> = numbers
            .filter(|number| number.experiment == "ipdps-table-1")
            .map(|number| number.policy)
            .collect();
        names.dedup();
        assert_eq!(names, [IPDPS; 3].concat());
    }
}
