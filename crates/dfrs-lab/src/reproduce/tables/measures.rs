//! Tables of several measures.

use dfrs_report::{Cell, Table};

use super::{first_upper, present};
use crate::reproduce::cells::{compared_cells, label, show};
use crate::reproduce::experiment::Experiment;
use crate::reproduce::measure::Measure;
use crate::reproduce::published::{Statistic, Value, published};
use crate::reproduce::results::Results;
use crate::reproduce::traces::TraceSet;

/// Two measures a table: average and maximum for each policy and period, beside what is published if
/// anything is.
pub fn measures(experiment: &Experiment, results: &Results) -> Vec<Table> {
    present(experiment, results)
        .flat_map(|set| {
            let pairs = experiment.measures.chunks(2);
            pairs.map(move |pair| pair_of(experiment, results, set, pair))
        })
        .collect()
}

fn pair_of(experiment: &Experiment, results: &Results, set: TraceSet, pair: &[Measure]) -> Table {
    let titles: Vec<String> = pair
        .iter()
        .map(|measure| first_upper(measure.title()))
        .collect();
    let what = match results.traces.of(set).len() {
        1 => "",
        _ => ", averages (maxima)",
    };
    let caption = format!("{}{what}: {}.", titles.join("; "), set.title());
    let mut heads = vec!["policy"];
    heads.extend((!experiment.periods.is_empty()).then_some("period"));
    let mut groups = vec![("", heads.len())];
    for (measure, title) in pair.iter().zip(&titles) {
        let columns: &[&str] = if experiment.is_measure_published(set, *measure) {
            &["published", "reproduced", "difference"]
        } else {
            &["reproduced"]
        };
        heads.extend(columns);
        groups.push((title, columns.len()));
    }
    let mut table = Table::new(&caption, &heads);
    for (title, columns) in groups {
        table = table.group(title, columns);
    }
    for policy in experiment.policies {
        for period in experiment.periods_of(policy) {
            let mut row = vec![Cell::text(label(policy))];
            row.extend(
                period.map(|period| match experiment.periods_of(policy)[..] {
                    [_] => Cell::number("–"), // it knows none
                    _ => Cell::number(format!("{period} s")),
                }),
            );
            for measure in pair {
                row.extend(cells(experiment, results, set, policy, period, *measure));
            }
            table.row(row);
        }
    }
    table
}

/// Published, reproduced, difference of the averages; only the second if nothing is published of the
/// measure.
fn cells(
    experiment: &Experiment,
    results: &Results,
    set: TraceSet,
    policy: &str,
    period: Option<u32>,
    measure: Measure,
) -> Vec<Cell> {
    let printed =
        |statistic: Statistic| published(experiment.name, set, policy, period, measure, statistic);
    let spread = experiment.spread(results, set, policy, period, measure);
    let [average, reproduced, difference] = match spread {
        None => [Cell::number("–"), Cell::number("–"), Cell::number("")],
        Some(spread) => {
            let [average, reproduced, difference] =
                compared_cells(measure, printed(Statistic::Average), spread.mean);
            let theirs = in_brackets(measure, printed(Statistic::Maximum));
            let ours = Some(Value::Is(spread.maximum)).filter(|_| spread.count > 1);
            [
                average.followed_by(&theirs),
                reproduced.followed_by(&in_brackets(measure, ours)),
                difference,
            ]
        }
    };
    if experiment.is_measure_published(set, measure) {
        vec![average, reproduced, difference]
    } else {
        vec![reproduced]
    }
}

fn in_brackets(measure: Measure, value: Option<Value>) -> String {
    match value {
        None => String::new(),
        Some(Value::Is(value)) => format!(" ({})", show(measure, value)),
        Some(Value::Below(value)) => format!(" (< {})", show(measure, value)),
    }
}
