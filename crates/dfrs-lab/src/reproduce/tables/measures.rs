//! Tables of several measures.

use dfrs_report::{Cell, Table};

use super::present;
use crate::reproduce::cells::{compared_cells, label, show};
use crate::reproduce::experiment::Experiment;
use crate::reproduce::measure::Measure;
use crate::reproduce::published::{Statistic, Value};
use crate::reproduce::results::{PaperCell, Results};
use crate::reproduce::traces::TraceSet;
use crate::show::sentence;

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
        .map(|measure| sentence(measure.title()))
        .collect();
    let is_published = |measure: Measure| experiment.is_published(set, |of, _| of == measure);
    let what = match results.traces.of(set).len() {
        1 => "",
        _ => ", averages (maxima)",
    };
    let caption = format!("{}{what}: {}.", titles.join("; "), set.title());
    let mut heads = vec!["policy"];
    heads.extend((!experiment.periods.is_empty()).then_some("period"));
    let mut groups = vec![("", heads.len())];
    for (measure, title) in pair.iter().zip(&titles) {
        let columns: &[&str] = if is_published(*measure) {
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
                let cell = experiment.cell(set, policy, period, *measure);
                let [published, reproduced, difference] = cells(experiment, results, &cell);
                match is_published(*measure) {
                    true => row.extend([published, reproduced, difference]),
                    false => row.push(reproduced),
                }
            }
            table.row(row);
        }
    }
    table
}

/// Published, reproduced, difference of the averages.
fn cells(experiment: &Experiment, results: &Results, cell: &PaperCell) -> [Cell; 3] {
    let Some(spread) = results.spread(cell) else {
        return [Cell::number("–"), Cell::number("–"), Cell::number("")];
    };
    let measure = cell.measure;
    let printed = |statistic: Statistic| experiment.published(cell, statistic);
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

fn in_brackets(measure: Measure, value: Option<Value>) -> String {
    match value {
        None => String::new(),
        Some(Value::Is(value)) => format!(" ({})", show(measure, value)),
        Some(Value::Below(value)) => format!(" (< {})", show(measure, value)),
    }
}
