//! The tables behind charts.

use dfrs_report::{Cell, Table};

use super::present;
use crate::reproduce::cells::{label, show};
use crate::reproduce::experiment::Experiment;
use crate::reproduce::results::Results;
use crate::reproduce::traces::TraceSet;

/// What stands before the published values of the row above.
const PUBLISHED: &str = "… published";

/// The averages behind a chart: a row for each policy (and set, where there are several curves of
/// one), a column for each load or period.
pub fn averages(experiment: &Experiment, results: &Results) -> Table {
    let by_load = experiment.periods.is_empty();
    let columns: Vec<String> = if by_load {
        let sets = experiment.sets.iter();
        sets.map(|set| set.name().replace("load-", "")).collect()
    } else {
        let periods = experiment.periods.iter();
        periods.map(|period| format!("{period} s")).collect()
    };
    let mut heads = if by_load {
        vec!["policy"]
    } else {
        vec!["traces", "policy"]
    };
    heads.extend(columns.iter().map(String::as_str));
    let caption = format!("Averages of {}.", experiment.measure().title());
    let mut table = Table::new(&caption, &heads);
    if by_load {
        for policy in experiment.policies {
            let sets = experiment.sets.iter();
            let cells: Vec<_> = sets.map(|set| (*set, None)).collect();
            add_rows(&mut table, experiment, results, (policy, None), &cells);
        }
        return table;
    }
    for set in present(experiment, results) {
        for policy in experiment.policies {
            let periods = experiment.periods_of(policy).into_iter();
            let cells: Vec<_> = periods.map(|period| (set, period)).collect();
            let names = (*policy, Some(set.short_title()));
            add_rows(&mut table, experiment, results, names, &cells);
        }
    }
    table
}

/// Adds the averages of a policy over these sets with these periods and, if all of them are known, the published
/// ones.
fn add_rows(
    table: &mut Table,
    experiment: &Experiment,
    results: &Results,
    (policy, set): (&str, Option<String>),
    cells: &[(TraceSet, Option<u32>)],
) {
    let shown = |value: f64| show(experiment.measure(), value);
    let row = |set: Option<String>, name: String, values: Vec<String>| {
        let names = set.into_iter().chain([name]).map(Cell::text);
        names.chain(values.into_iter().map(Cell::number))
    };
    let reproduced = cells.iter().map(|(set, period)| {
        let mean = experiment.mean(results, *set, policy, *period);
        mean.map_or("–".into(), shown)
    });
    let published = cells.iter().map(|(set, period)| {
        let mean = experiment.published_mean(*set, policy, *period);
        mean.map(shown)
    });
    let below = set.is_some().then(String::new);
    table.row(row(set, label(policy), reproduced.collect()));
    if let Some(values) = published.collect() {
        table.row(row(below, PUBLISHED.into(), values));
    }
}
