//! The jobs of a file under one scheduler after the other.

use std::borrow::Cow;
use std::path::Path;
use std::thread;

use dfrs_proto::journal::{EventKind, JournalEvent};
use dfrs_sim::metrics::{STRETCH_BOUND, SimSummary, stretch};
use dfrs_sim::trace::Trace;
use dfrs_sim::{Batch, JobRecord, Scheduler, SimOutcome, SimSettings, simulate};
use indicatif::ProgressBar;

use super::ReplayOptions;
use super::timeline::{TimeBinning, Timeline, TimelineBuilder};
use crate::input::LogJobs;
use crate::runs::progress;

/// What became of the jobs.
pub struct ReplaySchedule {
    pub name: String,
    /// None: as it was.
    pub scheduler: Option<Scheduler>,
    pub records: Vec<JobRecord>,
    pub summary: SimSummary,
    pub timeline: Timeline,
    /// Time in the system beyond the run time, for each job, in seconds: what its user sees of the
    /// scheduler.
    pub lost: Vec<f64>,
    /// The bounded stretch of each job.
    pub stretch: Vec<f64>,
    /// Time from submission to the first start, for each job, in seconds.
    pub wait: Vec<f64>,
}

impl ReplaySchedule {
    pub fn is_dfrs(&self) -> bool {
        self.scheduler.as_ref().is_some_and(super::is_dfrs)
    }

    fn new(
        name: String,
        scheduler: Option<Scheduler>,
        source: &LogJobs,
        outcome: SimOutcome,
        timeline: Timeline,
    ) -> Self {
        let trace = &source.trace;
        let summary = summary(&name, scheduler.as_ref(), source, &outcome);
        let pairs = || trace.jobs.iter().zip(&outcome.jobs);
        Self {
            name,
            scheduler,
            lost: lost_times(trace, &outcome.jobs),
            stretch: stretches(trace, &outcome.jobs),
            wait: pairs()
                .map(|(job, record)| record.start.since(job.submit).seconds())
                .collect(),
            records: outcome.jobs,
            summary,
            timeline,
        }
    }
}

/// Time in the system beyond the run time, for each job, in seconds: what its user sees of the scheduler.
pub(crate) fn lost_times(trace: &Trace, records: &[JobRecord]) -> Vec<f64> {
    let pairs = trace.jobs.iter().zip(records);
    pairs
        .map(|(job, record)| (record.finish.since(job.submit) - job.runtime).seconds())
        .map(|lost| lost.max(0.0))
        .collect()
}

/// The bounded stretch of each job.
pub(crate) fn stretches(trace: &Trace, records: &[JobRecord]) -> Vec<f64> {
    let pairs = trace.jobs.iter().zip(records);
    pairs
        .map(|(job, record)| stretch(job, record, STRETCH_BOUND))
        .collect()
}

/// The recorded schedule (where it is known), EASY on whole and on shared nodes, and the policies
/// as they were requested; simulations side by side. `file` is the source's, for errors.
pub fn all(
    file: &Path,
    options: &ReplayOptions,
    source: &LogJobs,
) -> Result<Vec<ReplaySchedule>, String> {
    let wanted = vec![
        Scheduler::Batch(Batch::Easy),
        Scheduler::Batch(Batch::EasyShared),
    ];
    schedules_with(wanted, file, options, source)
}

/// The recorded schedule (where it is known), these batch schedulers, and the policies as they were
/// requested; simulations side by side. `file` is the source's, for errors.
pub fn schedules_with(
    mut wanted: Vec<Scheduler>,
    file: &Path,
    options: &ReplayOptions,
    source: &LogJobs,
) -> Result<Vec<ReplaySchedule>, String> {
    let cut = TimeBinning::of(&source.trace);
    let settings = options.settings(source);
    for policy in options.policies() {
        if !wanted.contains(&policy) {
            wanted.push(policy);
        }
    }
    let jobs = source.trace.jobs.len();
    let bar = &progress::bar("replay", "jobs", jobs * wanted.len(), 0);
    let simulated: Vec<Result<ReplaySchedule, String>> = thread::scope(|scope| {
        let handles: Vec<_> = wanted
            .into_iter()
            .map(|scheduler| {
                scope.spawn(move || simulate_one(scheduler, source, cut, settings, bar))
            })
            .collect();
        let join = |handle: thread::ScopedJoinHandle<'_, _>| {
            handle
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        handles.into_iter().map(join).collect()
    });
    bar.finish_and_clear();
    let mut schedules = Vec::new();
    if let Some((name, records)) = &source.as_it_was {
        let outcome = SimOutcome {
            jobs: records.clone(),
            ..SimOutcome::default()
        };
        let timeline = Timeline::of_batch(cut, &source.trace, records, &source.held());
        schedules.push(ReplaySchedule::new(
            name.clone(),
            None,
            source,
            outcome,
            timeline,
        ));
    }
    for schedule in simulated {
        schedules.push(schedule.map_err(|error| format!("{}: {error}", file.display()))?);
    }
    let lengths = schedules.iter().map(|schedule| schedule.timeline.bins());
    let longest = lengths.max().unwrap_or(0);
    for schedule in &mut schedules {
        schedule.timeline.pad_to(longest);
    }
    Ok(schedules)
}

/// Sums up an outcome. To its user a job is as long as it was; the work that a machine had is that of the jobs as
/// they ran there.
fn summary(
    name: &str,
    scheduler: Option<&Scheduler>,
    source: &LogJobs,
    outcome: &SimOutcome,
) -> SimSummary {
    let of = |trace: &Trace| {
        SimSummary::new(name.to_owned(), trace, source.nodes, outcome, STRETCH_BOUND)
    };
    let as_it_was = of(&source.trace);
    match (scheduler.is_some_and(super::is_dfrs), source.for_dfrs()) {
        (true, Cow::Owned(capped)) => {
            let capped = of(&capped);
            SimSummary {
                normalized_underutilization: capped.normalized_underutilization,
                normalized_stalled: capped.normalized_stalled,
                utilization: capped.utilization,
                ..as_it_was
            }
        }
        _ => as_it_was,
    }
}

fn simulate_one(
    scheduler: Scheduler,
    source: &LogJobs,
    cut: TimeBinning,
    settings: SimSettings,
    bar: &ProgressBar,
) -> Result<ReplaySchedule, String> {
    let failed = |error| format!("{scheduler}: {error}");
    let (outcome, timeline) = match &scheduler {
        Scheduler::Batch(batch) => {
            let (trace, nodes) = source.for_batch(*batch);
            let settings = SimSettings { nodes, ..settings };
            let outcome = simulate(trace, &scheduler, &settings, None).map_err(failed)?;
            bar.inc(outcome.jobs.len() as u64);
            let timeline = Timeline::of_batch(cut, &source.trace, &outcome.jobs, &source.held());
            (outcome, timeline)
        }
        Scheduler::Dfrs(_) => {
            let trace = source.for_dfrs();
            let mut builder = TimelineBuilder::new(cut, &trace);
            let mut sink = |event: &JournalEvent| {
                builder.record(event);
                if matches!(event.kind, EventKind::Finish { .. }) {
                    bar.inc(1);
                }
                Ok(())
            };
            let outcome = simulate(&trace, &scheduler, &settings, Some(&mut sink));
            (outcome.map_err(failed)?, builder.finish())
        }
    };
    let name = scheduler.to_string();
    Ok(ReplaySchedule::new(
        name,
        Some(scheduler),
        source,
        outcome,
        timeline,
    ))
}
