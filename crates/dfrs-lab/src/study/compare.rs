//! What is reported of a study: for each combination and policy means, medians and the worst, and
//! how it compares with the baseline, trace by trace.

use std::collections::BTreeMap;
use std::fmt::Write;

use dfrs_proto::text::counted;
use dfrs_report::{csv_line, significant};
use serde_json::Value;

use super::file::{POLICY, Study, SweptOption};
use super::grid::StudyRow;
use crate::paired::{self, PairedComparison};
use crate::show::aligned;
use crate::summary::{mean, quantile, sorted};

/// Runs that differ in nothing but the trace, and one measure of them.
pub struct SummaryLine {
    /// Name of the traces, and their load.
    pub block: String,
    pub load: Option<String>,
    /// The values of the study's options.
    pub settings: Vec<String>,
    pub policy: String,
    pub measure: &'static str,
    /// The values by trace; a trace without a value is left out.
    values: BTreeMap<String, f64>,
    pub comparison: Option<PairedComparison>,
}

/// What distinguishes lines but for the measure.
type RunGroup = (String, Option<String>, Vec<String>, String);

/// The runs of a study in groups that differ in nothing but the trace.
pub struct RunGroups<'a> {
    study: &'a Study,
    /// The groups in the order of their first runs.
    order: Vec<RunGroup>,
    /// What was measured, by trace, with the period that each ran at, where names say one.
    groups: BTreeMap<RunGroup, GroupedRuns>,
}

/// The runs of a group.
struct GroupedRuns {
    /// The policy's name with its period.
    policy: String,
    /// The trace of each, and all that was measured.
    measured: Vec<(String, Value)>,
}

impl<'a> RunGroups<'a> {
    /// Sorts the runs. O(runs × (measures + log groups)).
    pub fn new(study: &'a Study, rows: &[StudyRow]) -> Self {
        let mut all = Self {
            study,
            order: Vec::new(),
            groups: BTreeMap::new(),
        };
        for row in rows {
            let group = (
                row.source.block.name.clone(),
                row.source.load.map(|load| load.to_string()),
                row.setting.values.clone(),
                study.name_of(row.policy),
            );
            let of_group = all.groups.entry(group).or_insert_with_key(|group| {
                all.order.push(group.clone());
                GroupedRuns {
                    policy: row.summary.policy.clone(),
                    measured: Vec::new(),
                }
            });
            let measured = row.measured().unwrap_or_default();
            of_group.measured.push((row.source.name.clone(), measured));
        }
        all
    }

    /// All lines: combination by combination, measure by measure, policy by policy.
    pub fn summary(&self, measures: &[&'static str]) -> Vec<SummaryLine> {
        let is_same = |one: &RunGroup, other: &RunGroup| {
            (&one.0, &one.1, &one.2) == (&other.0, &other.1, &other.2)
        };
        let mut lines = Vec::new();
        for groups in self.order.chunk_by(is_same) {
            for measure in measures {
                lines.extend(groups.iter().map(|group| self.line(group, measure)));
            }
        }
        lines
    }

    /// One measure of a group.
    fn line(&self, group: &RunGroup, measure: &'static str) -> SummaryLine {
        let (block, load, settings, _) = group.clone();
        let policy = self.groups.get(group).map(|runs| runs.policy.clone());
        let own = self.values(group, measure);
        let comparison = baseline_of(self.study, group)
            .filter(|baseline| baseline != group)
            .and_then(|baseline| pairs(&own, &self.values(&baseline, measure)));
        SummaryLine {
            block,
            load,
            settings,
            policy: policy.unwrap_or_default(),
            measure,
            values: own,
            comparison,
        }
    }

    /// The values of a group by trace.
    fn values(&self, group: &RunGroup, measure: &str) -> BTreeMap<String, f64> {
        let runs = self.groups.get(group).into_iter();
        runs.flat_map(|runs| &runs.measured)
            .filter_map(|(trace, measured)| Some((trace.clone(), measured[measure].as_f64()?)))
            .collect()
    }
}

/// With which runs those of a group are compared; none without a baseline.
fn baseline_of(study: &Study, group: &RunGroup) -> Option<RunGroup> {
    if study.baseline.is_empty() {
        return None;
    }
    let mut baseline = group.clone();
    for (name, value) in &study.baseline {
        if name == POLICY {
            baseline.3.clone_from(value);
        }
        for (choice, own) in study.options.iter().zip(&mut baseline.2) {
            if choice.name == *name {
                own.clone_from(value);
            }
        }
    }
    Some(baseline)
}

fn pairs(own: &BTreeMap<String, f64>, other: &BTreeMap<String, f64>) -> Option<PairedComparison> {
    let pairs: Vec<(f64, f64)> = own
        .iter()
        .filter_map(|(trace, value)| Some((*value, *other.get(trace)?)))
        .collect();
    paired::compare(&pairs)
}

impl SummaryLine {
    /// Whether both are of the same traces with the same options.
    pub fn is_of_same_section(&self, other: &Self) -> bool {
        (&self.block, &self.load, &self.settings) == (&other.block, &other.load, &other.settings)
    }

    /// What the line is about, apart from policy and measure.
    fn title(&self, study: &Study) -> String {
        self.title_with(study, |_| true)
    }

    /// The title without options that have one value in this study.
    pub fn short_title(&self, study: &Study) -> String {
        self.title_with(study, |choice| choice.values.len() > 1)
    }

    fn title_with(&self, study: &Study, is_named: impl Fn(&SweptOption) -> bool) -> String {
        let count = counted(self.values.len(), "trace");
        let mut title = format!("{}: {count}", self.block);
        if let Some(load) = &self.load {
            let _ = write!(title, ", load {load}"); // a String takes all
        }
        let named = study.options.iter().zip(&self.settings);
        for (choice, value) in named.filter(|(choice, _)| is_named(choice)) {
            let _ = write!(title, ", {} {value}", choice.name);
        }
        title
    }

    /// The values, ascending.
    pub fn sorted(&self) -> Vec<f64> {
        sorted(&self.values.values().copied().collect::<Vec<_>>())
    }

    /// Mean, standard error, median and the largest.
    pub fn spread(&self) -> [Option<f64>; 4] {
        let sorted = self.sorted();
        let worst = sorted.last().copied();
        let known = |value: f64| worst.map(|_| value);
        [
            known(mean(sorted.iter().copied())),
            paired::standard_error(&sorted),
            known(median(&sorted)),
            worst,
        ]
    }
}

/// Tables for people.
pub fn text(study: &Study, lines: &[SummaryLine]) -> String {
    let mut text = String::new();
    let mut last = String::new();
    for lines in lines.chunk_by(|one, other| {
        (&one.block, &one.load, &one.settings, one.measure)
            == (&other.block, &other.load, &other.settings, other.measure)
    }) {
        let title = lines[0].title(study);
        if title != last {
            let gap = if last.is_empty() { "" } else { "\n" };
            let _ = writeln!(text, "{gap}{title}"); // a String takes all
            last = title;
        }
        text += &table(study, lines);
    }
    if !study.baseline.is_empty() {
        let named: Vec<String> = study
            .baseline
            .iter()
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        let _ = writeln!(
            text,
            "\nRatio: of geometric means over the same traces, to {}, with 95% confidence interval.\nBelow: on how \
             many of the traces that differ. P: Wilcoxon's signed-rank test.",
            named.join(", ")
        );
    }
    text
}

fn table(study: &Study, lines: &[SummaryLine]) -> String {
    let mut heads = vec![lines[0].measure, "mean", "se", "median", "worst"];
    if !study.baseline.is_empty() {
        heads.extend(["ratio", "95%", "below", "p"]);
    }
    let mut rows: Vec<Vec<String>> = vec![heads.into_iter().map(String::from).collect()];
    rows.extend(lines.iter().map(|line| {
        let mut row = vec![line.policy.clone()];
        row.extend(line.spread().map(|value| value.map_or("-".into(), number)));
        row.extend(of_comparison(line.comparison.as_ref()));
        row
    }));
    let table = aligned(&rows);
    let lines = table.lines().map(|line| format!("  {}\n", line.trim_end()));
    lines.collect()
}

/// Of an even number the middle between the two in the middle.
fn median(sorted: &[f64]) -> f64 {
    let above = sorted.get(sorted.len() / 2).copied().unwrap_or(0.0);
    f64::midpoint(quantile(sorted, 0.5), above)
}

fn of_comparison(comparison: Option<&PairedComparison>) -> Vec<String> {
    let Some(found) = comparison else {
        return Vec::new();
    };
    let ratio = found.ratio.map_or("-".into(), |ratio| number(ratio.value));
    let interval = found.ratio.and_then(|ratio| ratio.interval);
    let interval = interval.map_or("-".into(), |(low, high)| {
        format!("{}-{}", number(low), number(high))
    });
    let (below, all) = (found.smaller, found.smaller + found.larger);
    let p = match found.wilcoxon {
        p if p < 0.0001 => "<0.0001".into(),
        p => format!("{p:.4}"),
    };
    vec![ratio, interval, format!("{below} of {all}"), p]
}

fn number(value: f64) -> String {
    significant(value, 3).replace('−', "-")
}

/// The comparison as CSV, with nothing rounded.
pub fn csv(study: &Study, lines: &[SummaryLine]) -> String {
    let mut names = vec!["traces", "load"];
    names.extend(study.options.iter().map(|choice| choice.name.as_str()));
    names.extend([
        "policy",
        "measure",
        "count",
        "mean",
        "standard_error",
        "median",
        "worst",
        "ratio",
        "ratio_low",
        "ratio_high",
        "smaller",
        "larger",
        "p_sign",
        "p_wilcoxon",
    ]);
    let mut text = csv_line(&names);
    for line in lines {
        let mut row = vec![line.block.clone(), line.load.clone().unwrap_or_default()];
        row.extend(line.settings.iter().cloned());
        row.extend([
            line.policy.clone(),
            line.measure.to_owned(),
            line.values.len().to_string(),
        ]);
        let shown = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        row.extend(line.spread().map(shown));
        let found = line.comparison.as_ref();
        let ratio = found.and_then(|found| found.ratio);
        let interval = ratio.and_then(|ratio| ratio.interval);
        row.extend([
            shown(ratio.map(|ratio| ratio.value)),
            shown(interval.map(|(low, _)| low)),
            shown(interval.map(|(_, high)| high)),
            found.map_or(String::new(), |found| found.smaller.to_string()),
            found.map_or(String::new(), |found| found.larger.to_string()),
            shown(found.map(|found| found.sign)),
            shown(found.map(|found| found.wilcoxon)),
        ]);
        text += &csv_line(&row);
    }
    text
}
