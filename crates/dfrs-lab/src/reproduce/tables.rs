//! Tables of experiments.

mod averages;
mod measures;

use dfrs_proto::text::counted;
use dfrs_report::{Cell, Table, decimals};

use super::cells::{compared_cells, label, show};
use super::experiment::Experiment;
use super::measure::SampleStatistics;
use super::published::{Statistic, Value};
use super::results::{PaperCell, Results};
use super::traces::{ALL_TRACES, TraceSet};
use crate::show::sentence;
pub use averages::averages;
pub use measures::measures;

/// For each set of traces: average, deviation and maximum of each policy, beside what is published if
/// anything is.
pub fn spreads(experiment: &Experiment, results: &Results) -> Vec<Table> {
    present(experiment, results)
        .map(|set| spreads_of(experiment, results, set))
        .collect()
}

fn spreads_of(experiment: &Experiment, results: &Results, set: TraceSet) -> Table {
    let measure = experiment.measure();
    let has_groups = experiment.is_published(set, |_, _| true);
    // A statistic of which the paper prints nothing has one column.
    let columns = Statistic::ALL.map(|statistic| {
        (
            statistic,
            experiment.is_published(set, |_, of| of == statistic),
        )
    });
    let mut heads = vec!["policy"];
    for (statistic, is_printed) in columns {
        match (is_printed, has_groups) {
            (true, _) => heads.extend(["published", "reproduced", "difference"]),
            (false, true) => heads.push("reproduced"),
            (false, false) => heads.push(statistic.title()),
        }
    }
    let count = counted(results.traces.of(set).len(), "trace");
    let caption = format!("{}, {}: {count}.", measure.title(), set.title());
    let mut table = Table::new(&sentence(&caption), &heads);
    if has_groups {
        table = table.group("", 1);
        for (statistic, is_printed) in columns {
            table = table.group(statistic.title(), if is_printed { 3 } else { 1 });
        }
    }
    for policy in experiment.policies {
        let cell = experiment.cell(set, policy, None, measure);
        let Some(spread) = results.spread(&cell) else {
            continue;
        };
        let mut row = vec![Cell::text(label(policy))];
        for (statistic, is_printed) in columns {
            let reproduced = spread.get(statistic);
            if !is_printed {
                row.push(Cell::number(show(measure, reproduced)));
                continue;
            }
            let value = experiment.published(&cell, statistic);
            let [printed, ours, difference] = compared_cells(measure, value, reproduced);
            let errors = match (statistic, value) {
                (Statistic::Average, Some(Value::Is(value))) => {
                    standard_errors(experiment, results, &cell, spread, value)
                }
                _ => String::new(),
            };
            row.extend([printed, ours, difference.followed_by(&errors)]);
        }
        table.row(row);
    }
    table
}

/// How many standard errors of the two averages lie between them: the synthetic traces are others than
/// the paper's. The loads of one trace are not independent, so traces are counted, not runs. Where the
/// paper prints no deviation it is taken to be ours.
fn standard_errors(
    experiment: &Experiment,
    results: &Results,
    cell: &PaperCell,
    ours: SampleStatistics,
    value: f64,
) -> String {
    let traces = u32::try_from(results.traces.of(TraceSet::Unscaled).len()).unwrap_or(u32::MAX);
    if !matches!(cell.set, TraceSet::Unscaled | TraceSet::Scaled) || traces < 2 {
        return String::new();
    }
    let theirs = match experiment.published(cell, Statistic::Deviation) {
        Some(Value::Is(deviation)) => deviation,
        _ => ours.deviation,
    };
    let variance =
        theirs.powi(2) / f64::from(ALL_TRACES) + ours.deviation.powi(2) / f64::from(traces);
    let errors = (ours.mean - value).abs() / variance.sqrt();
    format!(" ({} se)", decimals(errors, 1))
}

/// The sets of traces of which there are any.
fn present<'a>(
    experiment: &'a Experiment,
    results: &'a Results,
) -> impl Iterator<Item = TraceSet> + 'a {
    let sets = experiment.sets.iter().copied();
    sets.filter(|set| !results.traces.of(*set).is_empty())
}
