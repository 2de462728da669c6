//! The plugin's metrics: names and help by Prometheus's conventions, in base units.

use std::fmt::Error;

use dfrs_proto::status::{BreakerState, DeviceCounts, Distribution, Status, WaitsFor};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;

use super::writer::{Label, MetricsWriter, float};
use crate::status;

/// The metrics of a status file.
#[derive(Debug)]
struct StatusMetrics {
    /// None: it could not be read.
    status: Option<Status>,
    /// UNIX seconds.
    now: f64,
}

/// In OpenMetrics' text format.
pub(super) fn encoded(status: Option<&Status>, now: f64) -> String {
    let status = status.cloned();
    super::writer::encoded(StatusMetrics { status, now })
}

impl Collector for StatusMetrics {
    fn encode(&self, encoder: DescriptorEncoder) -> Result<(), Error> {
        let mut out = MetricsWriter(encoder);
        let readable = f64::from(self.status.is_some());
        out.gauge("dfrs_status_readable", readable)?;
        let Some(status) = &self.status else {
            return Ok(());
        };
        out.state(status, self.now)?;
        out.cluster(status)?;
        out.devices(status)?;
        out.passes(status)?;
        out.disk(status)
    }
}

impl MetricsWriter<'_> {
    fn state(&mut self, status: &Status, now: f64) -> Result<(), Error> {
        let labels = [
            ("version", status.software.as_str()),
            ("mode", &status.mode),
            ("policy", &status.policy),
        ];
        self.info("dfrs", &labels)?;
        let works = status::trouble(status, now - status.written).is_none();
        let works = f64::from(works);
        self.gauge("dfrs_healthy", works)?;
        self.seconds("dfrs_status_written_timestamp", status.written)?;
        self.seconds("dfrs_started_timestamp", status.started)?;
        let of = |state| f64::from(status.breaker.state == state);
        self.gauges(
            "dfrs_breaker_state",
            "state",
            &[
                ("off", of(BreakerState::Off)),
                ("closed", of(BreakerState::Closed)),
                ("standing-down", of(BreakerState::StandingDown)),
                ("open", of(BreakerState::Open)),
            ],
        )?;
        let trips = u64::from(status.breaker.trips);
        self.counter("dfrs_breaker_trips", trips)
    }

    fn cluster(&mut self, status: &Status) -> Result<(), Error> {
        let jobs = &status.jobs;
        self.gauges(
            "dfrs_jobs",
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
        self.gauges("dfrs_jobs_waiting", "cause", &causes(&jobs.waits_for))?;
        let metrics = &status.job_metrics;
        self.gauge("dfrs_jobs_sharing", metrics.sharing.into())?;
        self.gauge("dfrs_jobs_lowered", metrics.lowered.into())?;
        self.gauges(
            "dfrs_yield",
            "statistic",
            &[
                ("lowest", metrics.lowest_yield),
                ("mean", metrics.mean_yield),
            ],
        )?;
        self.gauges(
            "dfrs_stretch",
            "statistic",
            &[
                ("mean", metrics.mean_stretch),
                ("largest", metrics.largest_stretch),
            ],
        )?;
        let done = &status.done;
        self.counter("dfrs_jobs_submitted", done.came)?;
        self.counter("dfrs_jobs_ended", done.ended)?;
        self.counters(
            "dfrs_actions",
            "action",
            &[
                ("start", done.starts),
                ("suspend", done.suspends),
                ("resume", done.resumes),
                ("warn", done.warnings),
                ("requeue", done.requeues),
            ],
        )?;
        let nodes = &status.nodes;
        self.gauge("dfrs_nodes", nodes.all.into())?;
        self.gauge("dfrs_nodes_up", nodes.up.into())?;
        self.gauge("dfrs_nodes_can_park", nodes.can_park.into())?;
        self.gauge("dfrs_nodes_silent", nodes.silent.into())?;
        let messages = &status.messages;
        self.gauge("dfrs_nodes_due", messages.due.into())?;
        self.gauge("dfrs_messages", messages.under_way.into())?;
        self.gauge("dfrs_messages_late", messages.late.into())?;
        self.gauge("dfrs_queries", messages.queries.into())
    }

    fn devices(&mut self, status: &Status) -> Result<(), Error> {
        let jobs = &status.jobs.with_devices;
        if status.devices.is_empty() && jobs.all == 0 {
            return Ok(());
        }
        let by_kind = |of: fn(&DeviceCounts) -> u64| -> Vec<(&str, f64)> {
            let counts = status.devices.iter();
            counts
                .map(|(kind, count)| (kind.as_str(), float(of(count))))
                .collect()
        };
        self.gauges("dfrs_devices", "kind", &by_kind(|count| count.all))?;
        self.gauges("dfrs_devices_held", "kind", &by_kind(|count| count.held))?;
        self.gauges("dfrs_devices_free", "kind", &by_kind(|count| count.free))?;
        self.gauge("dfrs_device_jobs", jobs.all.into())?;
        self.gauges(
            "dfrs_device_jobs_waiting",
            "cause",
            &causes(&jobs.waits_for),
        )
    }

    fn passes(&mut self, status: &Status) -> Result<(), Error> {
        let passes = &status.passes;
        self.histogram("dfrs_pass_duration", &[(None, &passes.wall)])?;
        self.histogram("dfrs_pass_cpu", &[(None, &passes.cpu)])?;
        let parts: Vec<(Label, &Distribution)> = passes
            .parts
            .iter()
            .map(|(name, spread)| (Some(("part", name.as_str())), spread))
            .collect();
        self.histogram("dfrs_pass_part_duration", &parts)?;
        self.counter("dfrs_passes_skipped", passes.skipped)?;
        self.counter("dfrs_plans_dropped", passes.plans_dropped)?;
        self.counter("dfrs_decisions_ended", passes.decisions_ended)?;
        let locks = &status.locks;
        let both = |read, write| {
            [
                (Some(("lock", "read")), read),
                (Some(("lock", "write")), write),
            ]
        };
        self.histogram(
            "dfrs_lock_held",
            &both(&locks.read_holds, &locks.write_holds),
        )?;
        self.histogram(
            "dfrs_lock_wait",
            &both(&locks.read_waits, &locks.write_waits),
        )
    }

    fn disk(&mut self, status: &Status) -> Result<(), Error> {
        let file = &status.state_file;
        self.gauge("dfrs_state_file_changes", float(file.changes))?;
        self.seconds("dfrs_state_file_lag", float(file.age) / 1e6)?;
        self.gauge("dfrs_state_file_failing", f64::from(file.fails))?;
        let Some(journal) = &status.journal else {
            return Ok(());
        };
        self.gauge("dfrs_journal_lines", float(journal.lines))?;
        self.seconds("dfrs_journal_lag", float(journal.age) / 1e6)?;
        self.gauge("dfrs_journal_failing", f64::from(journal.fails))?;
        self.counter("dfrs_journal_lines_lost", journal.lost)
    }
}

/// Numbers of jobs by what they wait for.
fn causes(waits_for: &WaitsFor) -> [(&'static str, f64); 7] {
    [
        ("memory", waits_for.memory.into()),
        ("devices", waits_for.devices.into()),
        ("cpu", waits_for.cpu.into()),
        ("nodes", waits_for.nodes.into()),
        ("decision", waits_for.decision.into()),
        ("nothing", waits_for.nothing.into()),
        ("slurm", waits_for.slurm.into()),
    ]
}
