//! Charts of experiments.

use dfrs_report::{Axis, Chart, Series, Style};

use super::cells::label;
use super::experiment::{BATCH, BEST, EASY, EASY_PUBLISHED, EASY_SHARED, Experiment};
use super::results::Results;
use super::traces::TraceSet;

/// Averages over the load, a line for each policy. What is not DFRS is dashed.
pub fn by_load(experiment: &Experiment, results: &Results) -> Option<Chart> {
    load_chart(experiment, &experiment.text().title, |set, policy| {
        experiment.mean(results, set, policy, None)
    })
}

/// The published figures by load, in the same colours.
pub fn by_load_published(experiment: &Experiment) -> Option<Chart> {
    let title = format!("{}, as published", experiment.text().title);
    load_chart(experiment, &title, |set, policy| {
        experiment.published_mean(set, policy, None)
    })
}

/// None if there is nothing to draw.
fn load_chart(
    experiment: &Experiment,
    title: &str,
    average: impl Fn(TraceSet, &str) -> Option<f64>,
) -> Option<Chart> {
    let ticks = (1..10).map(|tenths| (f64::from(tenths) / 10.0, format!("0.{tenths}")));
    let mut chart = Chart::new(
        title,
        Axis::linear("offered load").with_ticks(ticks.collect()),
        Axis::log(&value_label(experiment)),
    );
    for policy in experiment.policies {
        let points = experiment.sets.iter().filter_map(|set| {
            let TraceSet::Load(tenths) = set else {
                return None;
            };
            Some((f64::from(*tenths) / 10.0, average(*set, policy)?))
        });
        // One without points keeps its colour from the others.
        let series = Series::new(&label(policy), points.collect());
        chart = chart.with(match *policy {
            BEST => series.bold(),
            policy if BATCH.contains(&policy) => series.dashed(),
            _ => series,
        });
    }
    let is_empty = chart.series.iter().all(|series| series.points.is_empty());
    (!is_empty).then_some(chart)
}

/// Averages over the period on one set of traces, batch schedulers as levels, with what the text of
/// the paper says about underutilization.
pub fn by_period(experiment: &Experiment, results: &Results, set: TraceSet) -> Option<Chart> {
    let title = format!("{}: {}", experiment.text().title, set.title());
    let axis = Axis::linear(&value_label(experiment)).with_range(0.0, 0.1);
    let mut chart = Chart::new(&title, period_axis(experiment), axis);
    chart = chart.with(Series::new(BEST, points(experiment, results, set)?));
    for policy in [EASY_PUBLISHED, EASY, EASY_SHARED] {
        let mean = experiment.mean(results, set, policy, None)?;
        chart = chart.with(Series::level(&label(policy), mean));
    }
    if let Some(value) = experiment.published_mean(set, EASY_PUBLISHED, None) {
        chart = chart.with(Series::level("EASY, published", value));
    }
    let points = published_points(experiment, set);
    let series = Series::new("GreedyPM*/per/…, published", points);
    Some(chart.with(series.styled(Style::Points)))
}

/// The published averages under the recommended policy over the period.
fn published_points(experiment: &Experiment, set: TraceSet) -> Vec<(f64, f64)> {
    let periods = experiment.periods.iter();
    periods
        .filter_map(|period| {
            let value = experiment.published_mean(set, BEST, Some(*period))?;
            Some((f64::from(*period), value))
        })
        .collect()
}

/// Averages over the period, a line for each set of traces that there is.
pub fn sets_by_period(experiment: &Experiment, results: &Results) -> Option<Chart> {
    let axis = Axis::linear(&value_label(experiment)).with_range(0.0, 1.0);
    let mut chart = Chart::new(&experiment.text().title, period_axis(experiment), axis);
    for set in experiment.sets {
        if let Some(points) = points(experiment, results, *set) {
            let published = format!("{}, published", set.short_title());
            let others = published_points(experiment, *set);
            chart = chart
                .with(Series::new(&set.title(), points))
                .with(Series::new(&published, others).styled(Style::Points));
        }
    }
    (!chart.series.is_empty()).then_some(chart)
}

fn period_axis(experiment: &Experiment) -> Axis {
    let named = [600, 1800, 3600, 6000, 9000, 12_000];
    let periods = experiment.periods.iter();
    let ticks = periods.filter(|period| named.contains(period));
    let ticks = ticks.map(|period| (f64::from(*period), period.to_string()));
    Axis::linear("period in seconds").with_ticks(ticks.collect())
}

/// What the values of a chart are.
fn value_label(experiment: &Experiment) -> String {
    format!("average {}", experiment.measure().title())
}

/// The averages under the recommended policy over the period.
fn points(experiment: &Experiment, results: &Results, set: TraceSet) -> Option<Vec<(f64, f64)>> {
    let periods = experiment.periods.iter();
    let point = |period: &u32| {
        let mean = experiment.mean(results, set, BEST, Some(*period))?;
        Some((f64::from(*period), mean))
    };
    periods.map(point).collect()
}
