//! The same jobs in each of the worlds.

use std::path::Path;
use std::thread;

use dfrs_core::Policy;
use dfrs_proto::journal::JournalEvent;
use dfrs_sim::trace::Trace;
use dfrs_sim::{
    Batch, HeldByOthers, JobRecord, Scheduler, SimSettings, simulate_beside, simulate_with_progress,
};
use indicatif::ProgressBar;

use super::groups::TrialGroup;
use super::idle::{self, IdleCpu};
use crate::input::source::ReplaySource;
use crate::replay::schedule;
use crate::runs::progress;
use crate::sim::beside::UsedWithin;

/// What became of the jobs in one world, in the order of the trace.
pub struct TrialWorld {
    /// What it is called.
    pub name: &'static str,
    /// The jobs' starts and ends.
    pub records: Vec<JobRecord>,
    /// Time in the system beyond the run time, for each job, in seconds.
    pub lost: Vec<f64>,
    /// The stretch of each job, bounded at 10 s.
    pub stretch: Vec<f64>,
}

impl TrialWorld {
    fn new(name: &'static str, trace: &Trace, records: Vec<JobRecord>) -> Self {
        Self {
            name,
            lost: schedule::lost_times(trace, &records),
            stretch: schedule::stretches(trace, &records),
            records,
        }
    }

    /// How often jobs gave up their places.
    pub fn pauses(&self) -> u64 {
        self.records.iter().map(|job| u64::from(job.pauses)).sum()
    }
}

/// What the month was, and what it would have been.
pub struct Worlds {
    /// What happened; none if the file does not say.
    pub as_it_was: Option<TrialWorld>,
    /// All jobs under EASY/shared: what the others are compared with.
    pub backfill: TrialWorld,
    /// Short jobs under DFRS on what the others leave, which are under EASY/shared alone; none if no job is short.
    pub on_top: Option<TrialWorld>,
    /// All jobs under DFRS.
    pub handed_over: TrialWorld,
    /// Which CPU is idle; none if all jobs were submitted at once.
    pub idle: Option<IdleCpu>,
}

/// What all simulations of a trial share.
struct TrialRun<'a> {
    source: &'a ReplaySource,
    policy: &'a Policy,
    settings: SimSettings,
    bar: ProgressBar,
}

/// Simulates the worlds side by side. `file` is the source's, for errors.
///
/// # Errors
///
/// One line, if a simulation does not come to its end.
pub fn simulate(
    file: &Path,
    source: &ReplaySource,
    policy: &Policy,
    settings: SimSettings,
) -> Result<Worlds, String> {
    let run = &TrialRun {
        source,
        policy,
        settings,
        bar: progress::bar("trial", "jobs", 3 * source.trace.jobs.len(), 0),
    };
    let (backfill, on_top, handed_over) = thread::scope(|scope| {
        let on_top = scope.spawn(|| run.on_top());
        let handed_over = scope.spawn(|| run.handed_over());
        let backfill = run.backfill();
        (backfill, joined(on_top), joined(handed_over))
    });
    run.bar.finish_and_clear();
    let in_file = |error| format!("{}: {error}", file.display());
    let backfill = backfill.map_err(in_file)?;
    let on_top = on_top.map_err(in_file)?;
    let world = |name, records| TrialWorld::new(name, &source.trace, records);
    let idle = idle::of(source, &backfill, on_top.as_ref());
    let as_it_was = source.as_it_was.as_ref();
    Ok(Worlds {
        as_it_was: as_it_was.map(|(_, records)| world(super::AS_IT_WAS, records.clone())),
        backfill: world(super::BACKFILL, backfill),
        on_top: on_top.map(|on_top| world(super::ON_TOP, on_top.records)),
        handed_over: world(super::HANDED_OVER, handed_over.map_err(in_file)?),
        idle,
    })
}

fn joined<T>(handle: thread::ScopedJoinHandle<'_, T>) -> T {
    handle
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// What DFRS on top of other jobs comes to.
pub struct OnTop {
    /// What became of all jobs, in the order of the trace.
    pub records: Vec<JobRecord>,
    /// Node-seconds on which the short jobs computed while jobs were submitted.
    pub used: f64,
}

impl TrialRun<'_> {
    fn backfill(&self) -> Result<Vec<JobRecord>, String> {
        let easy = Scheduler::Batch(Batch::EasyShared);
        self.all_under(&self.source.trace, &easy)
    }

    fn handed_over(&self) -> Result<Vec<JobRecord>, String> {
        let dfrs = Scheduler::Dfrs(self.policy.clone());
        self.all_under(&self.source.for_dfrs(), &dfrs)
    }

    fn all_under(&self, trace: &Trace, scheduler: &Scheduler) -> Result<Vec<JobRecord>, String> {
        let mut ended = || self.bar.inc(1);
        let outcome =
            simulate_with_progress(trace, scheduler, &self.settings, None, Some(&mut ended));
        let outcome = outcome.map_err(|error| format!("{scheduler}: {error}"))?;
        Ok(outcome.jobs)
    }

    /// Others first, alone, and then the short jobs on what these leave.
    fn on_top(&self) -> Result<Option<OnTop>, String> {
        let failed = |error| format!("DFRS on top: {error}");
        let short = TrialGroup::Short.jobs(&self.source.trace);
        if short.is_empty() {
            return Ok(None);
        }
        let is_short = |job: &usize| short.binary_search(job).is_ok();
        let all = 0..self.source.trace.jobs.len();
        let others: Vec<usize> = all.filter(|job| !is_short(job)).collect();
        let others_trace = only(&self.source.trace, &others);
        let held = HeldByOthers::run(&others_trace, &self.settings).map_err(failed)?;
        self.bar.inc(others.len() as u64);
        let trace = only(&self.source.for_dfrs(), &short);
        let mut used = UsedWithin::between(self.source.first(), self.source.last());
        let mut sink = |event: &JournalEvent| {
            used.take(event);
            Ok(())
        };
        let mut ended = || self.bar.inc(1);
        let (sink, ended) = (Some(&mut sink as _), Some(&mut ended as _));
        let settings = &self.settings;
        let outcome = simulate_beside(&trace, self.policy, settings, &held, sink, ended);
        let outcome = outcome.map_err(failed)?;
        let mut records = vec![JobRecord::default(); short.len() + others.len()];
        let both = short.iter().zip(&outcome.jobs);
        for (job, record) in both.chain(others.iter().zip(&held.outcome().jobs)) {
            records[*job] = record.clone();
        }
        Ok(Some(OnTop {
            records,
            used: used.node_seconds(),
        }))
    }
}

/// The jobs at these positions.
fn only(trace: &Trace, positions: &[usize]) -> Trace {
    let jobs = positions.iter().map(|job| trace.jobs[*job].clone());
    Trace {
        jobs: jobs.collect(),
        ..*trace
    }
}
