//! A node's metrics, from what its dfrsd says of itself.

use std::fmt::Error;

use dfrs_node_proto::report::{JobStatus, NodeStatus};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;

use super::writer::{MetricsWriter, float};

/// In OpenMetrics' text format; none: dfrsd did not answer.
pub(super) fn encoded(status: Option<NodeStatus>) -> String {
    super::writer::encoded(NodeMetrics(status))
}

#[derive(Debug)]
struct NodeMetrics(Option<NodeStatus>);

impl Collector for NodeMetrics {
    fn encode(&self, encoder: DescriptorEncoder) -> Result<(), Error> {
        let mut out = MetricsWriter(encoder);
        let answers = f64::from(self.0.is_some());
        out.gauge("dfrsd_up", answers)?;
        let Some(status) = &self.0 else {
            return Ok(());
        };
        out.node(status)?;
        out.node_jobs(&status.jobs)
    }
}

impl MetricsWriter<'_> {
    fn node(&mut self, status: &NodeStatus) -> Result<(), Error> {
        let labels = [
            ("node", status.node.as_str()),
            ("version", status.software.as_deref().unwrap_or("unknown")),
            ("cgroup", &status.cgroup),
        ];
        self.info("dfrsd", &labels)?;
        self.gauge("dfrsd_cpu_capacity_cores", status.capacity_cores)?;
        self.gauge("dfrsd_swap_bytes", float(status.swap_bytes))?;
        self.gauge("dfrsd_caps_lifted", f64::from(status.failed_open))?;
        let Some(ago) = status.heard_seconds_ago else {
            return Ok(());
        };
        self.seconds("dfrsd_orders_age", ago)
    }

    fn node_jobs(&mut self, jobs: &[JobStatus]) -> Result<(), Error> {
        let count = |state: &'static str| {
            let of = jobs.iter().filter(|job| state_of(job) == state).count();
            (state, float(of as u64))
        };
        self.gauges("dfrsd_jobs", "state", &STATES.map(count))?;
        let sum = |of: fn(&JobStatus) -> Option<f64>| {
            // From 0, not from the -0 of an empty sum.
            jobs.iter()
                .filter_map(of)
                .fold(0.0, |sum, value| sum + value)
        };
        self.gauge(
            "dfrsd_jobs_share_ratio",
            sum(|job| job.share.filter(|_| !job.frozen)),
        )?;
        self.gauge(
            "dfrsd_jobs_resident_bytes",
            sum(|job| job.resident_bytes.map(float)),
        )?;
        self.gauge(
            "dfrsd_jobs_swapped_bytes",
            sum(|job| job.swap_bytes.map(float)),
        )?;
        self.seconds("dfrsd_jobs_cpu", sum(|job| job.cpu_seconds))?;
        self.seconds("dfrsd_jobs_throttled", sum(|job| job.throttled_seconds))
    }
}

/// The states of a job on a node.
const STATES: [&str; 4] = ["running", "freezing", "parked", "absent"];

fn state_of(job: &JobStatus) -> &'static str {
    match (job.present, job.parked, job.frozen) {
        (false, _, _) => "absent",
        (_, true, _) => "parked",
        (_, _, true) => "freezing",
        _ => "running",
    }
}
