//! Tables of experiments.

mod averages;
mod measures;

use dfrs_report::{Cell, Table, decimals};

use super::cells::{STATISTICS, compared_cells, label, show};
use super::experiment::Experiment;
use super::measure::SampleStatistics;
use super::published::{Statistic, Value, published};
use super::results::Results;
use super::traces::{ALL_TRACES, TraceSet};
pub use averages::averages;
pub use measures::measures;

/// For each set of traces: average, deviation and maximum of each policy, beside what is published if
/// anything is.
pub fn spreads(experiment: &Experiment, results: &Results) -> Vec<Table> {
    let Some(measure) = experiment.measures.first().copied() else {
        return Vec::new();
    };
    present(experiment, results)
        .map(|set| {
            // A statistic of which the paper prints nothing has one column.
            let is_printed = |statistic: Statistic| {
                experiment.policies.iter().any(|policy| {
                    published(experiment.name, set, policy, None, measure, statistic).is_some()
                })
            };
            let has_groups = experiment.is_published(set);
            let mut heads = vec!["policy"];
            let mut groups = vec![("", 1)];
            for statistic in STATISTICS {
                if is_printed(statistic) {
                    heads.extend(["published", "reproduced", "difference"]);
                    groups.push((name(statistic), 3));
                } else {
                    heads.push(if has_groups {
                        "reproduced"
                    } else {
                        name(statistic)
                    });
                    groups.push((name(statistic), 1));
                }
            }
            let count = results.traces.of(set).len();
            let caption = format!(
                "{}, {}: {}.",
                measure.title(),
                set.title(),
                counted(count, "trace")
            );
            let mut table = Table::new(&first_upper(&caption), &heads);
            for (head, columns) in groups.into_iter().filter(|_| has_groups) {
                table = table.group(head, columns);
            }
            for policy in experiment.policies {
                let Some(spread) = experiment.spread(results, set, policy, None, measure) else {
                    continue;
                };
                let mut row = vec![Cell::text(label(policy))];
                for statistic in STATISTICS {
                    let reproduced = spread.get(statistic);
                    let value = published(experiment.name, set, policy, None, measure, statistic);
                    if is_printed(statistic) {
                        let [printed, ours, difference] =
                            compared_cells(measure, value, reproduced);
                        let errors = match (statistic, value) {
                            (Statistic::Average, Some(Value::Is(value))) => {
                                standard_errors(experiment, results, set, policy, spread, value)
                            }
                            _ => String::new(),
                        };
                        row.extend([printed, ours, difference.followed_by(&errors)]);
                    } else {
                        row.push(Cell::number(show(measure, reproduced)));
                    }
                }
                table.row(row);
            }
            table
        })
        .collect()
}

/// How many standard errors of the two averages lie between them: the synthetic traces are others than
/// the paper's. The loads of one trace are not independent, so traces are counted, not runs. Where the
/// paper prints no deviation it is taken to be ours.
fn standard_errors(
    experiment: &Experiment,
    results: &Results,
    set: TraceSet,
    policy: &str,
    ours: SampleStatistics,
    value: f64,
) -> String {
    let traces = u32::try_from(results.traces.of(TraceSet::Unscaled).len()).unwrap_or(u32::MAX);
    if !matches!(set, TraceSet::Unscaled | TraceSet::Scaled) || traces < 2 {
        return String::new();
    }
    let measure = experiment.measures[0];
    let deviation = Statistic::Deviation;
    let theirs = match published(experiment.name, set, policy, None, measure, deviation) {
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

/// A number with the name of what is counted: `1 trace`, `2 traces`.
pub fn counted(count: usize, name: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {name}{ending}")
}

fn name(statistic: Statistic) -> &'static str {
    match statistic {
        Statistic::Average => "average",
        Statistic::Deviation => "standard deviation",
        Statistic::Maximum => "maximum",
    }
}

fn first_upper(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or(String::new(), |first| {
        first.to_uppercase().chain(characters).collect()
    })
}
