//! Metrics of each kind, in OpenMetrics' text format.

use std::fmt::Error;

use dfrs_proto::status::Distribution;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};

/// What each metric is: `name: text` a line.
const HELP: &str = include_str!("help.txt");

/// Upper ends of histograms' buckets, in seconds: the same at all times.
const BUCKETS: [f64; 12] = [
    0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 60.0,
];

/// The metrics of a collector, in OpenMetrics' text format.
pub(super) fn encoded(collector: impl Collector) -> String {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(collector));
    let mut text = String::new();
    // A String takes all.
    let _ = prometheus_client::encoding::text::encode(&mut text, &registry);
    text
}

/// The label of a sample, its name and its value; none: the metric has no labels.
pub(super) type Label<'a> = Option<(&'a str, &'a str)>;

pub(super) struct MetricsWriter<'a>(pub(super) DescriptorEncoder<'a>);

impl MetricsWriter<'_> {
    fn metric<'a>(
        &'a mut self,
        name: &'a str,
        kind: MetricType,
    ) -> Result<MetricEncoder<'a>, Error> {
        self.0.encode_descriptor(name, help(name), None, kind)
    }

    fn metric_in_seconds<'a>(
        &'a mut self,
        name: &'a str,
        kind: MetricType,
    ) -> Result<MetricEncoder<'a>, Error> {
        self.0
            .encode_descriptor(name, help(name), Some(&Unit::Seconds), kind)
    }

    /// Labels with the value 1; its name gets `_info`.
    pub(super) fn info(&mut self, name: &str, labels: &[(&str, &str)]) -> Result<(), Error> {
        self.metric(name, MetricType::Info)?.encode_info(&labels)
    }

    pub(super) fn gauge(&mut self, name: &str, value: f64) -> Result<(), Error> {
        self.metric(name, MetricType::Gauge)?.encode_gauge(&value)
    }

    pub(super) fn seconds(&mut self, name: &str, value: f64) -> Result<(), Error> {
        self.metric_in_seconds(name, MetricType::Gauge)?
            .encode_gauge(&value)
    }

    pub(super) fn gauges(
        &mut self,
        name: &str,
        label: &str,
        values: &[(&str, f64)],
    ) -> Result<(), Error> {
        let mut metric = self.metric(name, MetricType::Gauge)?;
        for (word, value) in values {
            let labels = [(label, *word)];
            metric.encode_family(&labels)?.encode_gauge(value)?;
        }
        Ok(())
    }

    /// Writes a counter, whose name gets `_total`.
    pub(super) fn counter(&mut self, name: &str, value: u64) -> Result<(), Error> {
        self.metric(name, MetricType::Counter)?
            .encode_counter::<NoLabelSet, u64, f64>(&value, None)
    }

    /// Writes counters, whose name gets `_total`.
    pub(super) fn counters(
        &mut self,
        name: &str,
        label: &str,
        values: &[(&str, u64)],
    ) -> Result<(), Error> {
        let mut metric = self.metric(name, MetricType::Counter)?;
        for (word, value) in values {
            let labels = [(label, *word)];
            let mut family = metric.encode_family(&labels)?;
            family.encode_counter::<NoLabelSet, u64, f64>(value, None)?;
        }
        Ok(())
    }

    pub(super) fn histogram(
        &mut self,
        name: &str,
        spreads: &[(Label, &Distribution)],
    ) -> Result<(), Error> {
        let mut metric = self.metric_in_seconds(name, MetricType::Histogram)?;
        for (label, spread) in spreads {
            match label {
                None => buckets(&mut metric, spread)?,
                Some((label, word)) => {
                    let labels = [(*label, *word)];
                    buckets(&mut metric.encode_family(&labels)?, spread)?;
                }
            }
        }
        Ok(())
    }
}

fn help(name: &str) -> &'static str {
    let mut helps = HELP.lines().filter_map(|line| line.split_once(": "));
    let found = helps.find(|(known, _)| *known == name);
    debug_assert!(found.is_some(), "help.txt has no line for {name}");
    found.map_or("", |(_, help)| help)
}

/// The plugin's buckets, of which there are eight for each power of two, in those of [`BUCKETS`].
fn buckets(metric: &mut MetricEncoder, spread: &Distribution) -> Result<(), Error> {
    let mut counts: Vec<(f64, u64)> = BUCKETS.iter().map(|end| (*end, 0)).collect();
    counts.push((f64::INFINITY, 0));
    let mut sum = 0.0;
    for (upper, count) in &spread.buckets {
        // The last bucket of the plugin's says "and more".
        let seconds = float((*upper).min(spread.max)) / 1e6;
        sum += seconds * float(*count);
        let place = counts.iter_mut().find(|(end, _)| seconds <= *end);
        if let Some((_, counted)) = place {
            *counted += count;
        }
    }
    let count = counts.iter().map(|(_, count)| count).sum();
    metric.encode_histogram::<NoLabelSet>(sum, count, &counts, None)
}

// Precise enough: metrics are floating-point numbers.
pub(super) fn float(number: u64) -> f64 {
    number as f64
}
