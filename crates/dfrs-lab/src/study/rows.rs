//! A line for each run.

use dfrs_report::csv_line;
use serde_json::Value;

use super::file::Study;
use super::grid::StudyRow;
use super::measures;

/// The names of the columns: where the run belongs, the options of the study, and what was measured.
fn columns(study: &Study) -> Vec<String> {
    let mut names = ["traces", "trace", "load", "nodes"]
        .map(String::from)
        .to_vec();
    names.extend(study.options.iter().map(|choice| choice.name.clone()));
    names.extend(["policy", "jobs"].map(String::from));
    names.extend(measures().map(String::from));
    names
}

/// All runs as CSV; what is not known is left empty.
pub fn csv(study: &Study, rows: &[StudyRow]) -> Result<String, String> {
    let mut text = csv_line(&columns(study));
    for row in rows {
        let load = row
            .source
            .load
            .map_or(String::new(), |load| load.to_string());
        let mut line = vec![
            row.source.block.name.clone(),
            row.source.name.clone(),
            load,
            row.nodes.to_string(),
        ];
        line.extend(row.setting.values.iter().cloned());
        let measured = row.measured()?;
        line.extend(
            ["policy", "jobs"]
                .into_iter()
                .chain(measures())
                .map(|name| match &measured[name] {
                    Value::Null => String::new(),
                    Value::String(text) => text.clone(),
                    value => value.to_string(),
                }),
        );
        text += &csv_line(&line);
    }
    Ok(text)
}
