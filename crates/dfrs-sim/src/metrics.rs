//! What came of a trace, in numbers.

mod classes;
mod stranded_gpus;
mod utilization;

use dfrs_core::{Mobility, Span, Time};
use serde::{Deserialize, Serialize};

use crate::outcome::{JobRecord, SimOutcome};
use crate::trace::{NODE_CPU, NODE_MEMORY, Trace, TraceJob};

pub use classes::{CLASSES, JobClass, StretchesByClass};
pub use stranded_gpus::StrandedGpus;
pub use utilization::{Utilization, UtilizationStep};

/// Memory of a node in GB, by which the papers compute how much is moved.
pub const NODE_GB: f64 = 8.0;

/// The run time below which stretch is bounded in the TPDS 2012 paper.
pub const STRETCH_BOUND: Span = Span::from_seconds(10);

/// The run time below which stretch is bounded in the IPDPS 2010 paper.
pub const STRETCH_BOUND_IPDPS: Span = Span::from_seconds(30);

/// Time in the system over dedicated run time, the latter taken as at least `bound`; at least 1.
pub fn stretch(job: &TraceJob, record: &JobRecord, bound: Span) -> f64 {
    bounded_stretch(record.finish.since(job.submit), job.runtime, bound)
}

/// The [`stretch`] of a job that was in the system for `flow`.
pub fn bounded_stretch(flow: Span, runtime: Span, bound: Span) -> f64 {
    let whole = runtime.max(bound).max(Span(1)).seconds();
    (flow.seconds() / whole).max(1.0)
}

/// One trace under one scheduler. Serialised, it is the object that `dfrs sim --format json` prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SimSummary {
    /// Name of the scheduler.
    pub policy: String,
    /// Number of jobs, all of which completed.
    pub jobs: usize,
    /// The largest bounded stretch.
    pub max_stretch: f64,
    /// The mean bounded stretch.
    pub mean_stretch: f64,
    /// Lower bound on the largest stretch that any schedule can have, if it was requested.
    pub bound: Option<f64>,
    /// The largest stretch over that bound.
    pub degradation: Option<f64>,
    /// What was needed and not done in time, over the work (see [`normalized_underutilization`]).
    pub normalized_underutilization: f64,
    /// The part of it that moves cost: CPU held by jobs that came back or moved and made no progress
    /// yet, over the work.
    pub normalized_stalled: f64,
    /// Time from the first submission to the last completion, in seconds.
    pub makespan: f64,
    /// How often jobs gave up their places.
    pub pauses: u64,
    /// How often running jobs changed their places.
    pub migrations: u64,
    /// Memory of all pauses in GB, saved and restored counted once, at 8 GB a node; jobs that lose
    /// their work save none.
    pub pause_gb: f64,
    /// Memory of the tasks that changed nodes in migrations, in GB, at 8 GB a node.
    pub migration_gb: f64,
    /// Mean time that the decisions of an instant and the yields that follow took, in seconds.
    pub decide_seconds_mean: f64,
    /// The longest.
    pub decide_seconds_max: f64,
    /// The largest stretch over the smallest that a policy of the same comparison has (IPDPS,
    /// Section V); 1 until it is compared.
    pub degradation_from_best: f64,
    /// The largest and the mean stretch with a bound of 10 s, whatever bound was requested.
    pub max_stretch_10s: f64,
    #[allow(missing_docs)]
    pub mean_stretch_10s: f64,
    /// With a bound of 30 s.
    pub max_stretch_30s: f64,
    #[allow(missing_docs)]
    pub mean_stretch_30s: f64,
    /// Mean time from submission to first start, in seconds.
    pub mean_wait: f64,
    /// Mean time from submission to completion, in seconds.
    pub mean_turnaround: f64,
    /// The work over all CPU of the makespan. 0 if there is none.
    pub utilization: f64,
    /// Pauses in an hour of the makespan (IPDPS, Table II).
    pub pauses_per_hour: f64,
    /// Migrations in an hour of the makespan.
    pub migrations_per_hour: f64,
    /// Pauses of a job.
    pub pauses_per_job: f64,
    /// Migrations of a job.
    pub migrations_per_job: f64,
    /// [`Self::pause_gb`] over the makespan, in GB/s.
    pub pause_gb_per_second: f64,
    /// [`Self::migration_gb`] over the makespan, in GB/s.
    pub migration_gb_per_second: f64,
    /// The median bounded stretch: half of the jobs have no larger one.
    pub median_stretch: f64,
    /// The bounded stretch that 90 in 100 jobs do not exceed.
    pub stretch_90: f64,
    /// The bounded stretch that 99 in 100 jobs do not exceed.
    pub stretch_99: f64,
    /// The part of all CPU that jobs of other partitions hold, from the first submission to the last
    /// completion of these, 0 to 1; none: the nodes are in no other partition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utilization_before: Option<f64>,
    /// The part that they hold and these jobs use in that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utilization_after: Option<f64>,
    /// See [`StrandedGpus::share`]; none: no job has GPUs, or it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stranded_gpus: Option<f64>,
}

impl SimSummary {
    /// Sums up an outcome of this trace on so many nodes. O(n log n).
    pub fn new(
        policy: String,
        trace: &Trace,
        nodes: u32,
        outcome: &SimOutcome,
        bound: Span,
    ) -> Self {
        let pairs = || trace.jobs.iter().zip(&outcome.jobs);
        let jobs = real(trace.jobs.len().max(1) as u128);
        let mean = |value: &dyn Fn(&TraceJob, &JobRecord) -> f64| {
            pairs().map(|(job, record)| value(job, record)).sum::<f64>() / jobs
        };
        let stretches = |bound: Span| {
            let all = pairs().map(|(job, record)| stretch(job, record, bound));
            (
                all.fold(1.0, f64::max),
                mean(&|job, record| stretch(job, record, bound)),
            )
        };
        let gigabytes = |tasks: &dyn Fn(&TraceJob, &JobRecord) -> u64| {
            let parts = pairs()
                .map(|(job, record)| u128::from(tasks(job, record)) * u128::from(job.memory.0));
            real(parts.sum()) / real(NODE_MEMORY.0.into()) * NODE_GB
        };
        let count = |of: &dyn Fn(&JobRecord) -> u32| -> u64 {
            outcome
                .jobs
                .iter()
                .map(|record| u64::from(of(record)))
                .sum()
        };
        let mut sorted: Vec<f64> = pairs()
            .map(|(job, record)| stretch(job, record, bound))
            .collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let (max_stretch, mean_stretch) = stretches(bound);
        let (max_stretch_10s, mean_stretch_10s) = stretches(STRETCH_BOUND);
        let (max_stretch_30s, mean_stretch_30s) = stretches(STRETCH_BOUND_IPDPS);
        let makespan = makespan(trace, &outcome.jobs);
        let per_second = |amount: f64| over(amount, makespan.seconds());
        let pauses = count(&|record| record.pauses);
        let migrations = count(&|record| record.migrations);
        let pause_gb = gigabytes(&|job, record| match job.mobility {
            Mobility::Restart => 0, // nothing is saved
            _ => u64::from(job.tasks) * u64::from(record.pauses),
        });
        let migration_gb = gigabytes(&|_, record| record.migrated_tasks);
        let capacity = real(u128::from(NODE_CPU.0) * u128::from(nodes));
        let decisions = &outcome.decisions;
        let work = real(trace.jobs.iter().map(work).sum());
        Self {
            policy,
            jobs: trace.jobs.len(),
            max_stretch,
            mean_stretch,
            bound: None,
            degradation: None,
            normalized_underutilization: normalized_underutilization(trace, nodes, &outcome.jobs),
            normalized_stalled: over(real(pairs().map(stalled).sum()), work),
            makespan: makespan.seconds(),
            pauses,
            migrations,
            pause_gb,
            migration_gb,
            decide_seconds_mean: decisions.sum.as_secs_f64()
                / real(u128::from(decisions.count.max(1))),
            decide_seconds_max: decisions.longest.as_secs_f64(),
            degradation_from_best: 1.0,
            max_stretch_10s,
            mean_stretch_10s,
            max_stretch_30s,
            mean_stretch_30s,
            mean_wait: mean(&|job, record| record.start.since(job.submit).seconds()),
            mean_turnaround: mean(&|job, record| record.finish.since(job.submit).seconds()),
            utilization: over(work, capacity * real(makespan.0.unsigned_abs().into())),
            pauses_per_hour: per_second(real(pauses.into())) * 3600.0,
            migrations_per_hour: per_second(real(migrations.into())) * 3600.0,
            pauses_per_job: real(pauses.into()) / jobs,
            migrations_per_job: real(migrations.into()) / jobs,
            pause_gb_per_second: per_second(pause_gb),
            migration_gb_per_second: per_second(migration_gb),
            median_stretch: quantile(&sorted, 50),
            stretch_90: quantile(&sorted, 90),
            stretch_99: quantile(&sorted, 99),
            utilization_before: None,
            utilization_after: None,
            stranded_gpus: None,
        }
    }

    /// Compares with a lower bound on the maximum stretch of these jobs (TPDS, Section 5.1: degradation
    /// from bound).
    pub fn compare_with_bound(&mut self, bound: f64) {
        self.bound = Some(bound);
        self.degradation = Some(self.max_stretch / bound);
    }
}

/// Compares policies that were run on the same jobs with the best of them.
pub fn compare_with_best(summaries: &mut [SimSummary]) {
    let stretches = summaries.iter().map(|summary| summary.max_stretch);
    let best = stretches.fold(f64::INFINITY, f64::min);
    for summary in summaries {
        summary.degradation_from_best = summary.max_stretch / best;
    }
}

/// The least value of a sorted list that so many in a hundred do not exceed; of an empty list 1.
fn quantile(sorted: &[f64], percent: usize) -> f64 {
    let place = (sorted.len() * percent).div_ceil(100).max(1) - 1;
    sorted.get(place).copied().unwrap_or(1.0)
}

/// From the first submission to the last completion.
fn makespan(trace: &Trace, records: &[JobRecord]) -> Span {
    let first = trace.jobs.first().map_or(Time::default(), |job| job.submit);
    let last = records.iter().map(|record| record.finish).max();
    last.unwrap_or(first).since(first)
}

/// What the job has to do, in millionths of a core times microseconds.
fn work(job: &TraceJob) -> u128 {
    work_of(job, job.runtime)
}

/// What it could have done and stalled instead, in the same unit.
fn stalled((job, record): (&TraceJob, &JobRecord)) -> u128 {
    work_of(job, record.stalled)
}

fn work_of(job: &TraceJob, runtime: Span) -> u128 {
    u128::from(job.cpu.0) * u128::from(job.tasks) * u128::from(runtime.0.unsigned_abs())
}

/// 0 if there is nothing to divide by.
fn over(amount: f64, whole: f64) -> f64 {
    if whole > 0.0 { amount / whole } else { 0.0 }
}

/// (the integral over time of the demand, less the work) over the work. The demand is the sum of the
/// CPU needs of all jobs in the system, at most all nodes; the work is what they do in it (TPDS,
/// Section 6.3). 0 is perfect. 0 also if there is no work. Exact but for the last division.
pub fn normalized_underutilization(trace: &Trace, nodes: u32, records: &[JobRecord]) -> f64 {
    let mut changes: Vec<(Time, bool, u128)> = Vec::with_capacity(2 * records.len());
    let work: u128 = trace.jobs.iter().map(work).sum();
    for (job, record) in trace.jobs.iter().zip(records) {
        let need = u128::from(job.cpu.0) * u128::from(job.tasks);
        changes.push((job.submit, true, need));
        changes.push((record.finish, false, need));
    }
    // At one time, what comes before what goes: the need never falls below 0.
    changes.sort_unstable_by_key(|(time, comes, _)| (*time, !comes));
    let capacity = u128::from(NODE_CPU.0) * u128::from(nodes);
    let (mut need, mut since, mut demand) = (0u128, Time::default(), 0u128);
    for (time, comes, change) in changes {
        demand += need.min(capacity) * u128::from(time.since(since).0.unsigned_abs());
        since = time;
        need = if comes { need + change } else { need - change };
    }
    if work == 0 {
        return 0.0;
    }
    if demand >= work {
        real(demand - work) / real(work)
    } else {
        -real(work - demand) / real(work)
    }
}

// Precise enough: a result to be looked at.
fn real(number: u128) -> f64 {
    number as f64
}
