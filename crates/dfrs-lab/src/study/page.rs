//! The page of a study: for each combination of traces and options tables and a chart.

use std::collections::BTreeMap;

use dfrs_report::{Axis, Cell, Chart, Page, Series, Style, Table, decimals, significant};
use dfrs_sim::metrics::CLASSES;

use super::compare::SummaryLine;
use super::file::{POLICY, Study};
use crate::paired::PairedComparison;
use crate::show::sentence;

/// Fewer traces make no curve.
const MIN_OF_CHART: usize = 3;
/// Averages of fewer traces scatter too widely to be relied on.
const MIN_RELIABLE: usize = 100;

/// The page. `lines` are of the study's measures, `classes` of the measures of all classes.
pub fn page(study: &Study, size: &str, lines: &[SummaryLine], classes: &[SummaryLine]) -> String {
    let name = study.path.file_name().unwrap_or_default().to_string_lossy();
    let mut page = Page::new(&format!("Study {name}"), &format!("{size}."));
    introduction(&mut page, study);
    for lines in lines.chunk_by(SummaryLine::is_of_same_section) {
        let first = &lines[0];
        page.section(&sentence(&first.short_title(study)));
        let count = first.sorted().len();
        if count < MIN_RELIABLE {
            page.text(&format!("{count} traces: averages scatter widely."));
        }
        page.table(&spreads(study, lines));
        if count >= MIN_OF_CHART {
            let chart = by_traces(study, lines);
            page.figure(
                &chart.to_svg(),
                "The traces of each policy, each policy's sorted by itself.",
            );
        }
        let classes: Vec<&SummaryLine> = classes
            .iter()
            .filter(|line| first.is_of_same_section(line))
            .collect();
        page.table(&by_class(study, &classes));
    }
    page.to_html()
}

fn introduction(page: &mut Page, study: &Study) {
    page.text(
        "Stretch is time in the system over run time, bounded below. Means of heavy tails hang on few traces: look at \
         medians, ratios and curves. Underutilization is the papers' measure of waste.",
    );
    let fixed = study
        .options
        .iter()
        .filter(|choice| choice.values.len() == 1);
    let fixed: Vec<String> = fixed
        .map(|choice| format!("`{} = {}`", choice.name, choice.values[0]))
        .collect();
    if !fixed.is_empty() {
        page.text(&format!("In all runs: {}.", fixed.join(", ")));
    }
    if !study.baseline.is_empty() {
        page.text(&format!(
            "Ratios are of geometric means over the same traces, to {}, with 95% confidence interval.",
            baseline(study)
        ));
    }
}

/// With what others are compared, in words.
fn baseline(study: &Study) -> String {
    let named: Vec<String> = study
        .baseline
        .iter()
        .map(|(name, value)| format!("{name} `{value}`"))
        .collect();
    named.join(", ")
}

/// A row for each policy, four columns for each measure.
fn spreads(study: &Study, lines: &[SummaryLine]) -> Table {
    let mut heads = vec![POLICY];
    for _ in &study.measures {
        heads.extend(["mean", "median", "worst", "ratio"]);
    }
    let mut table = Table::new("Mean ± standard error, median and worst", &heads).group("", 1);
    for measure in &study.measures {
        table = table.group(&measure.replace('_', " "), 4);
    }
    let first = study.measures.first();
    let policies = lines.iter().filter(|line| Some(&line.measure) == first);
    for policy in policies {
        let mut row = vec![Cell::text(code(&policy.policy))];
        let same = lines.iter().filter(|line| line.policy == policy.policy);
        row.extend(same.flat_map(cells));
        table.row(row);
    }
    table
}

fn code(name: &str) -> String {
    format!("`{name}`")
}

/// Mean with its error, median, worst, ratio.
fn cells(line: &SummaryLine) -> [Cell; 4] {
    let [mean, error, median, worst] = line.spread();
    let shown = |value: Option<f64>| value.map_or("–".into(), |value| significant(value, 3));
    let error = error.map_or(String::new(), |error| {
        format!(" ± {}", significant(error, 2))
    });
    [
        Cell::number(shown(mean) + &error),
        Cell::number(shown(median)),
        Cell::number(shown(worst)),
        Cell::number(line.comparison.as_ref().map_or(String::new(), ratio)),
    ]
}

fn ratio(comparison: &PairedComparison) -> String {
    let Some(found) = comparison.ratio else {
        return "–".into();
    };
    let interval = found.interval.map_or(String::new(), |(low, high)| {
        format!(" ({}–{})", factor(low), factor(high))
    });
    factor(found.value) + &interval
}

/// Two decimals, or two digits.
fn factor(value: f64) -> String {
    match value {
        value if value < 0.095 => significant(value, 2),
        value if value < 9.95 => decimals(value, 2),
        value => significant(value, 3),
    }
}

/// The sorted values of the first measure.
// Precise enough: numbers of traces.
fn by_traces(study: &Study, lines: &[SummaryLine]) -> Chart {
    let measure = study.measures.first().copied().unwrap_or_default();
    let words = measure.replace('_', " ");
    let mut chart = Chart::new(
        &sentence(&words),
        Axis::linear("share of traces").with_range(0.0, 1.0),
        Axis::log(&format!("{words} of the trace")),
    );
    for line in lines.iter().filter(|line| line.measure == measure) {
        let values = line.sorted();
        let all = values.len().max(1) as f64;
        let points = values.iter().enumerate();
        let points = points.map(|(place, value)| ((place as f64 + 0.5) / all, *value));
        let series = Series::new(&line.policy, points.collect()).styled(Style::Line);
        let is_baseline = study
            .baseline
            .iter()
            .any(|(name, value)| name == POLICY && *value == line.policy);
        chart = chart.with(if is_baseline { series.dashed() } else { series });
    }
    chart
}

/// A row for each class, for each policy its mean stretch and its largest.
fn by_class(study: &Study, lines: &[&SummaryLine]) -> Table {
    let mut policies: Vec<&str> = Vec::new();
    let mut found: BTreeMap<(&str, &str), &SummaryLine> = BTreeMap::new();
    for line in lines {
        if !policies.contains(&line.policy.as_str()) {
            policies.push(&line.policy);
        }
        found.entry((&line.policy, line.measure)).or_insert(line);
    }
    let cells_of = |policy: &str, measure: &str| match found.get(&(policy, measure)) {
        Some(line) => cells(line),
        None => [(); 4].map(|()| Cell::number("–")),
    };
    let mut heads = vec!["run time", "tasks"];
    for _ in &policies {
        heads.extend(["mean", "worst"]);
        heads.extend((!study.baseline.is_empty()).then_some("ratio"));
    }
    let caption = "By run time (short: up to a minute; medium: up to an hour) and number of tasks (small: 2 to 8): mean \
                   stretch over traces, the largest stretch of any, and the ratio of the mean";
    let mut table = Table::new(caption, &heads).group("", 2);
    for policy in &policies {
        table = table.group(policy, if study.baseline.is_empty() { 2 } else { 3 });
    }
    for class in CLASSES {
        let [mean, max] = class.measures;
        let mut row = vec![Cell::text(class.run_time), Cell::text(class.tasks)];
        for policy in &policies {
            let [mean, _, _, ratio] = cells_of(policy, mean);
            let [_, _, worst, _] = cells_of(policy, max);
            row.extend([mean, worst]);
            row.extend((!study.baseline.is_empty()).then_some(ratio));
        }
        table.row(row);
    }
    table
}
