//! Printing results.

use std::fmt::Write;

use dfrs_sim::metrics::SimSummary;
use serde::Serialize;
use serde_json::Value;

use crate::show::aligned;

/// An array with an object for each of these, one a line.
///
/// # Errors
///
/// One line, if a number cannot be written as JSON.
pub fn json(objects: &[impl Serialize]) -> Result<String, String> {
    let lines: Result<Vec<String>, _> = objects.iter().map(serde_json::to_string).collect();
    let lines = lines.map_err(|error| error.to_string())?;
    Ok(format!("[\n  {}\n]\n", lines.join(",\n  ")))
}

/// What is measured, in the order of columns: all fields of a [`SimSummary`] but the first two.
const MEASURES: &str = "max_stretch mean_stretch bound degradation normalized_underutilization normalized_stalled \
    makespan pauses migrations pause_gb migration_gb decide_seconds_mean decide_seconds_max \
    degradation_from_best max_stretch_10s mean_stretch_10s max_stretch_30s mean_stretch_30s \
    mean_wait mean_turnaround utilization pauses_per_hour migrations_per_hour pauses_per_job \
    migrations_per_job pause_gb_per_second migration_gb_per_second median_stretch stretch_90 \
    stretch_99";

/// Their names.
pub fn measures() -> impl Iterator<Item = &'static str> + Clone {
    MEASURES.split(' ')
}

/// What is measured only where it means something.
struct OptionalMeasure {
    /// Its field of a [`SimSummary`].
    name: &'static str,
    /// The head of its column for people.
    head: &'static str,
    value: fn(&SimSummary) -> Option<f64>,
}

/// All of them.
const OPTIONAL_MEASURES: [OptionalMeasure; 3] = [
    OptionalMeasure {
        name: "utilization_before",
        head: "CPU before",
        value: |result| result.utilization_before,
    },
    OptionalMeasure {
        name: "utilization_after",
        head: "CPU after",
        value: |result| result.utilization_after,
    },
    OptionalMeasure {
        name: STRANDED_GPUS,
        head: "GPUs stranded",
        value: |result| result.stranded_gpus,
    },
];

/// That of studies.
pub(crate) const STRANDED_GPUS: &str = "stranded_gpus";

/// Those that some result has.
fn optional_measures(
    results: &[SimSummary],
) -> impl Iterator<Item = &'static OptionalMeasure> + Clone {
    OPTIONAL_MEASURES.iter().filter(|measure| {
        results
            .iter()
            .any(|result| (measure.value)(result).is_some())
    })
}

/// The results as CSV with a line of names first; what is null is left empty.
///
/// # Errors
///
/// One line, if a result cannot be taken apart.
pub fn csv(results: &[SimSummary]) -> Result<String, String> {
    let names = ["policy", "jobs"].into_iter().chain(measures());
    let names = names.chain(optional_measures(results).map(|measure| measure.name));
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

fn number(value: impl Into<Option<f64>>, digits: usize) -> String {
    let value: Option<f64> = value.into();
    value.map_or(String::new(), |value| format!("{value:.digits$}"))
}

fn columns() -> Vec<SummaryColumn> {
    vec![
        ("policy", |result| result.policy.clone()),
        ("jobs", |result| result.jobs.to_string()),
        ("max stretch", |result| number(result.max_stretch, 2)),
        ("mean stretch", |result| number(result.mean_stretch, 3)),
        ("mean wait s", |result| number(result.mean_wait, 1)),
        ("underutil.", |result| {
            number(result.normalized_underutilization, 4)
        }),
        ("stalled", |result| number(result.normalized_stalled, 4)),
        ("makespan s", |result| number(result.makespan, 0)),
        ("pauses", |result| result.pauses.to_string()),
        ("migrations", |result| result.migrations.to_string()),
        ("GB/s", |result| {
            let moved = result.pause_gb_per_second + result.migration_gb_per_second;
            number(moved, 3)
        }),
        ("decide ms", |result| {
            number(result.decide_seconds_mean * 1e3, 3)
        }),
        ("max ms", |result| {
            number(result.decide_seconds_max * 1e3, 3)
        }),
    ]
}

/// Columns for people.
pub fn table(results: &[SimSummary]) -> String {
    let mut columns = columns();
    if results.iter().any(|result| result.bound.is_some()) {
        columns.insert(3, ("bound", |result| number(result.bound, 3)));
        columns.insert(4, ("degr. bound", |result| number(result.degradation, 2)));
    }
    if results.len() > 1 {
        let best: SummaryColumn = ("degr. best", |result| {
            number(result.degradation_from_best, 2)
        });
        let wait = columns.iter().position(|(head, _)| *head == "mean wait s");
        columns.insert(wait.unwrap_or(columns.len()), best);
    }
    let further = optional_measures(results);
    let heads = columns.iter().map(|(head, _)| *head);
    let heads = heads.chain(further.clone().map(|measure| measure.head));
    let mut rows: Vec<Vec<String>> = vec![heads.map(str::to_owned).collect()];
    rows.extend(results.iter().map(|result| {
        let fields = columns.iter().map(|(_, field)| field(result));
        let further = further
            .clone()
            .map(|measure| number((measure.value)(result), 4));
        fields.chain(further).collect()
    }));
    aligned(&rows)
}
