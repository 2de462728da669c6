//! Printing results.

use std::fmt::Write;

use dfrs_sim::metrics::SimSummary;
use serde_json::Value;

/// An array with an object for each policy, one a line.
///
/// # Errors
///
/// One line, if a number cannot be written as JSON.
pub fn json(results: &[SimSummary]) -> Result<String, String> {
    let lines: Result<Vec<String>, _> = results.iter().map(serde_json::to_string).collect();
    let lines = lines.map_err(|error| error.to_string())?;
    Ok(format!("[\n  {}\n]\n", lines.join(",\n  ")))
}

/// What is measured, in the order of columns: all fields of a [`SimSummary`] but the first two.
pub const MEASURES: [&str; 30] = [
    "max_stretch",
    "mean_stretch",
    "bound",
    "degradation",
    "normalized_underutilization",
    "normalized_stalled",
    "makespan",
    "pauses",
    "migrations",
    "pause_gb",
    "migration_gb",
    "decide_seconds_mean",
    "decide_seconds_max",
    "degradation_from_best",
    "max_stretch_10s",
    "mean_stretch_10s",
    "max_stretch_30s",
    "mean_stretch_30s",
    "mean_wait",
    "mean_turnaround",
    "utilization",
    "pauses_per_hour",
    "migrations_per_hour",
    "pauses_per_job",
    "migrations_per_job",
    "pause_gb_per_second",
    "migration_gb_per_second",
    "median_stretch",
    "stretch_90",
    "stretch_99",
];

/// The results as CSV with a line of names first; what is null is left empty.
///
/// # Errors
///
/// One line, if a result cannot be taken apart.
pub fn csv(results: &[SimSummary]) -> Result<String, String> {
    let names = ["policy", "jobs"].into_iter().chain(MEASURES);
    let mut text = names.clone().collect::<Vec<_>>().join(",") + "\n";
    for result in results {
        let fields = fields(result)?;
        let fields = names.clone().map(|name| match &fields[name] {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            value => value.to_string(),
        });
        let _ = writeln!(text, "{}", fields.collect::<Vec<_>>().join(",")); // a String takes all
    }
    Ok(text)
}

/// The fields of a result by their names.
pub(crate) fn fields(result: &SimSummary) -> Result<Value, String> {
    serde_json::to_value(result).map_err(|error| error.to_string())
}

/// A column for people: its head, and its field.
type SummaryColumn = (&'static str, fn(&SimSummary) -> String);

fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or(String::new(), |value| format!("{value:.digits$}"))
}

fn columns() -> Vec<SummaryColumn> {
    vec![
        ("policy", |result| result.policy.clone()),
        ("jobs", |result| result.jobs.to_string()),
        ("max stretch", |result| number(Some(result.max_stretch), 2)),
        ("mean stretch", |result| {
            number(Some(result.mean_stretch), 3)
        }),
        ("mean wait s", |result| number(Some(result.mean_wait), 1)),
        ("underutil.", |result| {
            number(Some(result.normalized_underutilization), 4)
        }),
        ("stalled", |result| {
            number(Some(result.normalized_stalled), 4)
        }),
        ("makespan s", |result| number(Some(result.makespan), 0)),
        ("pauses", |result| result.pauses.to_string()),
        ("migrations", |result| result.migrations.to_string()),
        ("GB/s", |result| {
            let moved = result.pause_gb_per_second + result.migration_gb_per_second;
            number(Some(moved), 3)
        }),
        ("decide ms", |result| {
            number(Some(result.decide_seconds_mean * 1e3), 3)
        }),
        ("max ms", |result| {
            number(Some(result.decide_seconds_max * 1e3), 3)
        }),
    ]
}

/// Columns for people.
#[must_use]
pub fn table(results: &[SimSummary]) -> String {
    let mut columns = columns();
    if results.iter().any(|result| result.bound.is_some()) {
        columns.insert(3, ("bound", |result| number(result.bound, 3)));
        columns.insert(4, ("degr. bound", |result| number(result.degradation, 2)));
    }
    if results.len() > 1 {
        let best: SummaryColumn = ("degr. best", |result| {
            number(Some(result.degradation_from_best), 2)
        });
        let wait = columns.iter().position(|(head, _)| *head == "mean wait s");
        columns.insert(wait.unwrap_or(columns.len()), best);
    }
    let heads: Vec<&str> = columns.iter().map(|(head, _)| *head).collect();
    let mut rows: Vec<Vec<String>> = vec![heads.iter().copied().map(String::from).collect()];
    rows.extend(results.iter().map(|result| {
        let fields = columns.iter().map(|(_, field)| field(result));
        fields.collect()
    }));
    let widths: Vec<usize> = (0..heads.len())
        .map(|column| rows.iter().map(|row| row[column].len()).max().unwrap_or(0))
        .collect();
    rows.iter().fold(String::new(), |mut text, row| {
        let _ = write!(text, "{:<width$}", row[0], width = widths[0]); // a String takes all
        for (field, width) in row.iter().zip(&widths).skip(1) {
            let _ = write!(text, "  {field:>width$}");
        }
        text.push('\n');
        text
    })
}
