//! CPU that is left idle.

use dfrs_core::Span;
use dfrs_sim::JobRecord;
use dfrs_sim::trace::{NODE_CPU, TraceJob};
use serde::Serialize;

use super::groups::TrialGroup;
use super::worlds::OnTop;
use crate::input::LogJobs;

/// CPU while jobs were submitted: from the first submission to the last.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IdleCpu {
    /// All there is, in hours of a node's CPUs times their number; of nodes where the file counts these.
    pub all_hours: f64,
    /// The share of it that backfill leaves idle.
    pub backfill_leaves: f64,
    /// The share of it that other jobs than the short ones leave idle under backfill alone; none if no job is short.
    pub others_leave: Option<f64>,
    /// The share of it on which the short jobs compute on top.
    pub used_on_top: Option<f64>,
}

/// What these schedules leave idle; none if all jobs were submitted at once.
pub fn of(source: &LogJobs, backfill: &[JobRecord], on_top: Option<&OnTop>) -> Option<IdleCpu> {
    let length = source.last().since(source.first());
    let all = f64::from(source.nodes) * length.seconds();
    if all <= 0.0 {
        return None;
    }
    let leaves = |records: &[JobRecord], counts: fn(&TraceJob) -> bool| {
        let jobs = source.trace.jobs.iter().zip(records);
        let counted = jobs.filter(|(job, _)| counts(job));
        let held: f64 = counted
            .map(|(job, record)| held_nodes(job) * within(source, record).seconds())
            .sum();
        1.0 - held / all
    };
    let is_other = |job: &TraceJob| TrialGroup::of(job) != TrialGroup::Short;
    Some(IdleCpu {
        all_hours: all * source.node_cpus / 3600.0,
        backfill_leaves: leaves(backfill, |_| true),
        others_leave: on_top.map(|on_top| leaves(&on_top.records, is_other)),
        used_on_top: on_top.map(|on_top| on_top.used / all),
    })
}

/// What a batch scheduler keeps for it, in nodes.
fn held_nodes(job: &TraceJob) -> f64 {
    // Precise enough: a share of a node, to the microcore.
    let share = job.allocated_cpu.0 as f64 / NODE_CPU.0 as f64;
    f64::from(job.tasks) * share
}

/// How long the job was there while jobs were submitted.
fn within(source: &LogJobs, record: &JobRecord) -> Span {
    let (start, finish) = (
        record.start.max(source.first()),
        record.finish.min(source.last()),
    );
    finish.since(start).max(Span::ZERO)
}
