//! The tables behind charts.

use dfrs_report::{Cell, Table};

use super::present;
use crate::reproduce::cells::{label, show};
use crate::reproduce::experiment::Experiment;
use crate::reproduce::measure::Measure;
use crate::reproduce::results::Results;
use crate::reproduce::traces::TraceSet;

/// The averages behind a chart: a row for each policy (and set, where there are several curves of
/// one), a column for each load or period.
pub fn averages(experiment: &Experiment, results: &Results) -> Option<Table> {
    let measure = *experiment.measures.first()?;
    let caption = format!("Averages of {}.", measure.title());
    if experiment.periods.is_empty() {
        let columns: Vec<String> = experiment
            .sets
            .iter()
            .map(|set| set.name().replace("load-", ""))
            .collect();
        let mut heads = vec!["policy"];
        heads.extend(columns.iter().map(String::as_str));
        let mut table = Table::new(&caption, &heads);
        for policy in experiment.policies {
            let cells = experiment
                .sets
                .iter()
                .map(|set| average(experiment, results, *set, policy, None, measure));
            table.row([Cell::text(label(policy))].into_iter().chain(cells));
            let published = experiment
                .sets
                .iter()
                .map(|set| published_average(experiment, *set, policy, None));
            if let Some(cells) = published.collect::<Option<Vec<Cell>>>() {
                table.row([Cell::text(PUBLISHED)].into_iter().chain(cells));
            }
        }
        return Some(table);
    }
    let columns: Vec<String> = experiment
        .periods
        .iter()
        .map(|period| format!("{period} s"))
        .collect();
    let mut heads = vec!["traces", "policy"];
    heads.extend(columns.iter().map(String::as_str));
    let mut table = Table::new(&caption, &heads);
    for set in present(experiment, results) {
        for policy in experiment.policies {
            let periods = experiment.periods_of(policy);
            let cells = periods
                .iter()
                .map(|period| average(experiment, results, set, policy, *period, measure));
            let names = [Cell::text(set.short_title()), Cell::text(label(policy))];
            table.row(names.into_iter().chain(cells));
            let published = periods
                .iter()
                .map(|period| published_average(experiment, set, policy, *period));
            if let Some(cells) = published.collect::<Option<Vec<Cell>>>() {
                let names = [Cell::text(""), Cell::text(PUBLISHED)];
                table.row(names.into_iter().chain(cells));
            }
        }
    }
    Some(table)
}

fn average(
    experiment: &Experiment,
    results: &Results,
    set: TraceSet,
    policy: &str,
    period: Option<u32>,
    measure: Measure,
) -> Cell {
    let spread = experiment.spread(results, set, policy, period, measure);
    Cell::number(spread.map_or("–".into(), |spread| show(measure, spread.mean)))
}

/// What stands before the published values of the row above.
const PUBLISHED: &str = "… published";

fn published_average(
    experiment: &Experiment,
    set: TraceSet,
    policy: &str,
    period: Option<u32>,
) -> Option<Cell> {
    let measure = *experiment.measures.first()?;
    let value = experiment.published_mean(set, policy, period)?;
    Some(Cell::number(show(measure, value)))
}
