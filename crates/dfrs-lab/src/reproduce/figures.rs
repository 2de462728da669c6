//! Charts of experiments.

use dfrs_report::{Axis, Chart, Series, Style};

use super::cells::label;
use super::experiment::{BATCH, BEST, EASY, EASY_PUBLISHED, EASY_SHARED, Experiment};
use super::measure::Measure;
use super::results::Results;
use super::traces::TraceSet;

/// Averages over the load, a line for each policy. What is not DFRS is dashed.
pub fn by_load(experiment: &Experiment, results: &Results) -> Option<Chart> {
    let measure = *experiment.measures.first()?;
    load_chart(experiment, experiment.title, |set, policy| {
        let spread = experiment.spread(results, set, policy, None, measure)?;
        Some(spread.mean)
    })
}

/// The published figures by load, in the same colours.
pub fn by_load_published(experiment: &Experiment) -> Option<Chart> {
    let title = format!("{}, as published", experiment.title);
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
    let measure = *experiment.measures.first()?;
    let mut chart = Chart::new(
        title,
        Axis::linear("offered load").with_ticks(
            (1..10)
                .map(|tenths| (f64::from(tenths) / 10.0, format!("0.{tenths}")))
                .collect(),
        ),
        Axis::log(&format!("average {}", measure.title())),
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
    let measure = *experiment.measures.first()?;
    let axis = Axis::linear(&format!("average {}", measure.title())).with_range(0.0, 0.1);
    let mut chart = Chart::new(
        &format!("{}: {}", experiment.title, set.title()),
        period_axis(experiment),
        axis,
    )
    .with(curve(experiment, results, set, measure, BEST)?);
    for policy in [EASY_PUBLISHED, EASY, EASY_SHARED] {
        let spread = experiment.spread(results, set, policy, None, measure)?;
        chart = chart.with(Series::level(&label(policy), spread.mean));
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
    let measure = *experiment.measures.first()?;
    let title = format!("average {}", measure.title());
    let axis = Axis::linear(&title).with_range(0.0, 1.0);
    let mut chart = Chart::new(experiment.title, period_axis(experiment), axis);
    for set in experiment.sets {
        if let Some(mut series) = curve(experiment, results, *set, measure, BEST) {
            series.name = set.title();
            let published = format!("{}, published", set.short_title());
            let points = published_points(experiment, *set);
            chart = chart
                .with(series)
                .with(Series::new(&published, points).styled(Style::Points));
        }
    }
    (!chart.series.is_empty()).then_some(chart)
}

fn period_axis(experiment: &Experiment) -> Axis {
    let named = [600, 1800, 3600, 6000, 9000, 12_000];
    let ticks = experiment
        .periods
        .iter()
        .filter(|period| named.contains(period));
    Axis::linear("period in seconds").with_ticks(
        ticks
            .map(|period| (f64::from(*period), period.to_string()))
            .collect(),
    )
}

fn curve(
    experiment: &Experiment,
    results: &Results,
    set: TraceSet,
    measure: Measure,
    policy: &str,
) -> Option<Series> {
    let points: Option<Vec<(f64, f64)>> = experiment
        .periods
        .iter()
        .map(|period| {
            let spread = experiment.spread(results, set, policy, Some(*period), measure)?;
            Some((f64::from(*period), spread.mean))
        })
        .collect();
    Some(Series::new(&label(policy), points?))
}
