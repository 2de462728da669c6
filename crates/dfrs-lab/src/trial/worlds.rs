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
use crate::input::LogJobs;
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
    source: &'a LogJobs,
    policy: &'a Policy,
    settings: SimSettings,
    draw_on_top: &'a DrawMobility<'a>,
    bar: ProgressBar,
}

/// Says how the jobs of a trace can move.
pub type DrawMobility<'a> = dyn Fn(&mut Trace) + Sync + 'a;

/// Simulates the worlds side by side. `file` is the source's, for errors; `draw_on_top` says how the short jobs can
/// move where DFRS is on top.
///
/// # Errors
///
/// One line, if a simulation does not come to its end.
pub fn simulate(
    file: &Path,
    source: &LogJobs,
    (policy, settings): (&Policy, SimSettings),
    draw_on_top: &DrawMobility,
) -> Result<Worlds, String> {
    let run = &TrialRun {
        source,
        policy,
        settings,
        draw_on_top,
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
        let mut trace = only(&self.source.for_dfrs(), &short);
        (self.draw_on_top)(&mut trace);
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

#[cfg(test)]
mod tests {
    use super::*;
    use dfrs_core::Time;
    use dfrs_proto::conf::DEFAULT_POLICY;
    use dfrs_sim::simulate as simulate_alone;
    use dfrs_sim::trace::{Model, read};

    /// Two nodes: a job of two hours has one and half of the other, a short one waits for that.
    const JOBS: &str = "id,submit,tasks,cpu,mem,runtime,limit\n\
        long,0,2,0.75,0.1,7200,7200\n\
        short,10,1,0.5,0.1,600,600\n\
        wide,20,2,1.0,0.1,5000,7200\n\
        small,30,1,0.25,0.1,7000,7200\n\
        brief,7300,1,0.5,0.1,60,600\n";

    fn source(text: &str) -> LogJobs {
        let trace = read(text.as_bytes(), Model::Processors, true).expect("a trace");
        LogJobs {
            nodes: 2,
            node_cpus: 1.0,
            cpus: vec![1.0; trace.trace.jobs.len()],
            trace: trace.trace,
            ..LogJobs::default()
        }
    }

    fn worlds(source: &LogJobs) -> Worlds {
        let policy: Policy = DEFAULT_POLICY.parse().expect("a policy");
        simulate(
            Path::new("jobs"),
            source,
            (&policy, SimSettings::new(2)),
            &|_| (),
        )
        .expect("worlds")
    }

    #[test]
    fn other_jobs_start_as_in_backfill_of_them_alone_when_dfrs_is_on_top() {
        let source = source(JOBS);
        let worlds = worlds(&source);
        let others = [0, 2, 3];
        let easy = Scheduler::Batch(Batch::EasyShared);
        let trace = only(&source.trace, &others);
        let alone = simulate_alone(&trace, &easy, &SimSettings::new(2), None).expect("a run");
        let times = |records: &[JobRecord], jobs: &[usize]| -> Vec<(Time, Time)> {
            let record = |job: &usize| (records[*job].start, records[*job].finish);
            jobs.iter().map(record).collect()
        };
        let on_top = worlds.on_top.expect("short jobs");
        let expected = times(&alone.jobs, &[0, 1, 2]);
        assert_eq!(times(&on_top.records, &others), expected);
        // A test that would pass whatever happens to the short jobs says nothing.
        assert_ne!(times(&worlds.backfill.records, &others), expected);
        // They have what the others leave, at once.
        assert_eq!(on_top.records[1].start, Time::from_seconds(10));
        assert!(on_top.lost[1] < worlds.backfill.lost[1]);
    }

    #[test]
    fn idle_cpu_is_what_nodes_do_not_hold_while_jobs_come() {
        // From 0 to 100 s: half of a node of two is held for 50 s, and short jobs compute on a quarter for 40 s.
        let jobs = "id,submit,tasks,cpu,mem,runtime,limit\n\
            a,0,1,0.5,0.1,50,7200\nb,10,1,0.25,0.1,40,600\nc,100,1,1,0.1,40,600\n";
        let idle = worlds(&source(jobs)).idle.expect("a time");
        let close = |one: f64, other: f64| (one - other).abs() < 1e-6;
        assert!(close(idle.all_hours, 200.0 / 3600.0), "{idle:?}");
        assert!(close(idle.backfill_leaves, 1.0 - 35.0 / 200.0), "{idle:?}");
        assert!(
            close(idle.others_leave.unwrap_or(0.0), 1.0 - 25.0 / 200.0),
            "{idle:?}"
        );
        assert!(
            close(idle.used_on_top.unwrap_or(0.0), 10.0 / 200.0),
            "{idle:?}"
        );
    }

    #[test]
    fn there_is_nothing_on_top_when_no_job_is_short() {
        let long = "id,submit,tasks,cpu,mem,runtime\na,0,1,0.5,0.1,7200\n";
        let worlds = worlds(&source(long));
        assert!(worlds.on_top.is_none() && worlds.idle.is_none());
    }

    #[test]
    fn trial_loses_nothing_when_all_jobs_are_short() {
        let short = "id,submit,tasks,cpu,mem,runtime\na,0,1,0.5,0.1,70\nb,5,1,0.5,0.1,70\n";
        let worlds = worlds(&source(short));
        assert_eq!(worlds.on_top.expect("short jobs").lost, [0.0, 0.0]);
        let idle = worlds.idle.expect("a time");
        assert_eq!(idle.others_leave, Some(1.0));
    }
}
