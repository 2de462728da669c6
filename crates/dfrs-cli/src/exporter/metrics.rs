//! The metrics: names and help by Prometheus's conventions, in base units.

use std::fmt::Error;

use dfrs_proto::status::{BreakerState, Spread, Status};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};

use crate::status;

/// Upper ends of histograms' buckets, in seconds: the same at all times.
const BUCKETS: [f64; 12] = [
    0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 60.0,
];

/// What there is to tell.
#[derive(Debug)]
struct Snapshot {
    /// None: it could not be read.
    status: Option<Status>,
    /// UNIX seconds.
    now: f64,
}

/// In OpenMetrics' text format.
pub(super) fn encoded(status: Option<&Status>, now: f64) -> String {
    let mut registry = Registry::default();
    let status = status.cloned();
    registry.register_collector(Box::new(Snapshot { status, now }));
    let mut text = String::new();
    // A String takes all.
    let _ = prometheus_client::encoding::text::encode(&mut text, &registry);
    text
}

impl Collector for Snapshot {
    fn encode(&self, encoder: DescriptorEncoder) -> Result<(), Error> {
        let mut out = Out(encoder);
        let readable = f64::from(u8::from(self.status.is_some()));
        out.gauge(
            "dfrs_status_readable",
            "Whether the status file could be read",
            readable,
        )?;
        let Some(status) = &self.status else {
            return Ok(());
        };
        out.state(status, self.now)?;
        out.cluster(status)?;
        out.passes(status)?;
        out.disk(status)
    }
}

/// The label of a sample, its name and its value; none: the metric has no labels.
type Label<'a> = Option<(&'a str, &'a str)>;

struct Out<'a>(DescriptorEncoder<'a>);

impl Out<'_> {
    fn state(&mut self, status: &Status, now: f64) -> Result<(), Error> {
        let labels = [
            ("version", status.software.as_str()),
            ("mode", &status.mode),
            ("policy", &status.policy),
        ];
        let help = "The version that runs, and what dfrs.conf says";
        let mut info = self
            .0
            .encode_descriptor("dfrs", help, None, MetricType::Info)?;
        info.encode_info(&labels)?;
        let works = status::trouble(status, now - status.written).is_none();
        let works = f64::from(u8::from(works));
        self.gauge(
            "dfrs_healthy",
            "Whether DFRS does what its mode says, as dfrs status finds",
            works,
        )?;
        self.seconds(
            "dfrs_status_written_timestamp",
            "When the status was written, UNIX time",
            status.written,
        )?;
        self.seconds(
            "dfrs_started_timestamp",
            "Since when DFRS runs with this dfrs.conf, UNIX time",
            status.started,
        )?;
        let of = |state| f64::from(u8::from(status.breaker.state == state));
        self.gauges(
            "dfrs_breaker_state",
            "The breaker's state: 1 for the one that it is in",
            "state",
            &[
                ("off", of(BreakerState::Off)),
                ("closed", of(BreakerState::Closed)),
                ("standing-down", of(BreakerState::StandingDown)),
                ("open", of(BreakerState::Open)),
            ],
        )?;
        let trips = u64::from(status.breaker.trips);
        self.counter(
            "dfrs_breaker_trips",
            "How often the breaker was tripped since somebody last asked for a start",
            trips,
        )
    }

    fn cluster(&mut self, status: &Status) -> Result<(), Error> {
        let jobs = &status.jobs;
        self.gauges(
            "dfrs_jobs",
            "Jobs of DFRS's partitions; the waiting rest of an array is one",
            "state",
            &[
                ("waiting", jobs.waiting.into()),
                ("running", jobs.running.into()),
                ("parked", jobs.parked.into()),
                ("paused", jobs.paused.into()),
                ("under_way", jobs.under_way.into()),
                ("suspended", jobs.suspended.into()),
            ],
        )?;
        let nodes = &status.nodes;
        self.gauge("dfrs_nodes", "Nodes of DFRS's partitions", nodes.all.into())?;
        self.gauge("dfrs_nodes_up", "Nodes that take work", nodes.up.into())?;
        self.gauge(
            "dfrs_nodes_can_park",
            "Nodes that can park jobs",
            nodes.can_park.into(),
        )?;
        self.gauge(
            "dfrs_nodes_silent",
            "Nodes whose dfrsd does not answer",
            nodes.silent.into(),
        )?;
        let couriers = &status.couriers;
        self.gauge(
            "dfrs_nodes_due",
            "Nodes that wait for a message with orders",
            couriers.due.into(),
        )?;
        self.gauge(
            "dfrs_messages",
            "Messages with orders that are under way",
            couriers.under_way.into(),
        )?;
        self.gauge(
            "dfrs_messages_late",
            "Messages with orders that take longer than a second",
            couriers.late.into(),
        )?;
        self.gauge(
            "dfrs_questions",
            "Questions to nodes that are under way",
            couriers.questions.into(),
        )
    }

    fn passes(&mut self, status: &Status) -> Result<(), Error> {
        let passes = &status.passes;
        self.histogram(
            "dfrs_pass_duration",
            "Time of scheduling passes by the clock",
            &[(None, &passes.wall)],
        )?;
        self.histogram(
            "dfrs_pass_cpu",
            "CPU time of scheduling passes",
            &[(None, &passes.cpu)],
        )?;
        let parts: Vec<(Label, &Spread)> = passes
            .parts
            .iter()
            .map(|(name, spread)| (Some(("part", name.as_str())), spread))
            .collect();
        self.histogram(
            "dfrs_pass_part_duration",
            "Time of the parts of passes by the clock",
            &parts,
        )?;
        self.counter(
            "dfrs_passes_skipped",
            "Passes that could not look at Slurm, or ended by a panic",
            passes.skipped,
        )?;
        self.counter(
            "dfrs_plans_dropped",
            "Plans that broke a rule",
            passes.plans_dropped,
        )?;
        self.counter(
            "dfrs_decisions_ended",
            "Decisions that took too long and were ended",
            passes.decisions_ended,
        )?;
        let locks = &status.locks;
        let both = |read, write| {
            [
                (Some(("lock", "read")), read),
                (Some(("lock", "write")), write),
            ]
        };
        self.histogram(
            "dfrs_lock_held",
            "For how long DFRS held slurmctld's locks",
            &both(&locks.read_holds, &locks.write_holds),
        )?;
        self.histogram(
            "dfrs_lock_wait",
            "For how long DFRS waited for slurmctld's locks",
            &both(&locks.read_waits, &locks.write_waits),
        )
    }

    fn disk(&mut self, status: &Status) -> Result<(), Error> {
        let file = &status.state_file;
        self.gauge(
            "dfrs_state_file_changes",
            "Changes that the state file lacks",
            float(file.changes),
        )?;
        self.seconds(
            "dfrs_state_file_lag",
            "For how long the oldest of them has waited",
            float(file.age) / 1e6,
        )?;
        self.gauge(
            "dfrs_state_file_failing",
            "Whether the last attempt to write it failed",
            f64::from(u8::from(file.fails)),
        )?;
        let Some(journal) = &status.journal else {
            return Ok(());
        };
        self.gauge(
            "dfrs_journal_lines",
            "Lines that the journal lacks",
            float(journal.lines),
        )?;
        self.seconds(
            "dfrs_journal_lag",
            "For how long the oldest of them has waited",
            float(journal.age) / 1e6,
        )?;
        self.gauge(
            "dfrs_journal_failing",
            "Whether the last attempt to write it failed",
            f64::from(u8::from(journal.fails)),
        )?;
        self.counter(
            "dfrs_journal_lines_lost",
            "Lines that were lost, because too many waited",
            journal.lost,
        )
    }

    fn gauge(&mut self, name: &str, help: &str, value: f64) -> Result<(), Error> {
        let mut metric = self
            .0
            .encode_descriptor(name, help, None, MetricType::Gauge)?;
        metric.encode_gauge(&value)
    }

    fn seconds(&mut self, name: &str, help: &str, value: f64) -> Result<(), Error> {
        let unit = Some(&Unit::Seconds);
        let mut metric = self
            .0
            .encode_descriptor(name, help, unit, MetricType::Gauge)?;
        metric.encode_gauge(&value)
    }

    fn gauges(
        &mut self,
        name: &str,
        help: &str,
        label: &str,
        values: &[(&str, f64)],
    ) -> Result<(), Error> {
        let mut metric = self
            .0
            .encode_descriptor(name, help, None, MetricType::Gauge)?;
        for (word, value) in values {
            let labels = [(label, *word)];
            metric.encode_family(&labels)?.encode_gauge(value)?;
        }
        Ok(())
    }

    /// Its name gets `_total`.
    fn counter(&mut self, name: &str, help: &str, value: u64) -> Result<(), Error> {
        let mut metric = self
            .0
            .encode_descriptor(name, help, None, MetricType::Counter)?;
        metric.encode_counter::<NoLabelSet, u64, f64>(&value, None)
    }

    fn histogram(
        &mut self,
        name: &str,
        help: &str,
        spreads: &[(Label, &Spread)],
    ) -> Result<(), Error> {
        let help = format!("{help}; sums are at most an eighth too large");
        let unit = Some(&Unit::Seconds);
        let mut metric = self
            .0
            .encode_descriptor(name, &help, unit, MetricType::Histogram)?;
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

/// The plugin's buckets, of which there are eight for each power of two, in those of [`BUCKETS`].
fn buckets(metric: &mut MetricEncoder, spread: &Spread) -> Result<(), Error> {
    let mut counts: Vec<(f64, u64)> = BUCKETS.iter().map(|end| (*end, 0)).collect();
    counts.push((f64::INFINITY, 0));
    let mut sum = 0.0;
    for (most, count) in &spread.buckets {
        // The last bucket of the plugin's says "and more".
        let seconds = float((*most).min(spread.max)) / 1e6;
        sum += seconds * float(*count);
        let place = counts.iter_mut().find(|(end, _)| seconds <= *end);
        if let Some((_, counted)) = place {
            *counted += count;
        }
    }
    let count = counts.iter().map(|(_, count)| count).sum();
    metric.encode_histogram::<NoLabelSet>(sum, count, &counts, None)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "metrics are floating-point numbers"
)]
fn float(number: u64) -> f64 {
    number as f64
}
