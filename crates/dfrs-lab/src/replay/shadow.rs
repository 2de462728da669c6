//! What a live journal says of Slurm's own scheduling, beside what DFRS would have done with the same jobs.

use std::path::{Path, PathBuf};

use dfrs_core::{Bytes, Mobility, Span};
use dfrs_proto::conf::Config;
use dfrs_sim::trace::NODE_MEMORY;
use dfrs_sim::{Batch, Scheduler};
use serde::Serialize;

use super::schedule::{self, ReplaySchedule};
use super::{PENALTY, ReplayOptions};
use crate::input::{JournalFacts, LeftOutCount, LogFile, LogJobs};
use crate::summary::{mean, quantile, sorted};

/// Fewer jobs than these say nothing.
pub const MIN_JOBS: usize = 10;

/// A journal's jobs as Slurm scheduled them, and in simulations.
#[derive(Debug, Serialize)]
pub struct ShadowComparison {
    /// First submission of the jobs that count, in UNIX seconds.
    pub from: f64,
    /// Last submission of the jobs that count, in UNIX seconds.
    pub to: f64,
    /// Number of nodes.
    pub nodes: u32,
    /// Jobs that count: they came, ran and ended while the journal was written.
    pub jobs: usize,
    /// Jobs that ran already when the journal began, or slurmctld did: they are simulated, and do not count.
    pub began_before: usize,
    /// How many of the jobs that count DFRS has started.
    pub started_by_dfrs: usize,
    /// Why other jobs are not simulated, and how many.
    pub left_out: Vec<ShadowLeftOut>,
    /// The recorded schedule, then simulations: Slurm's backfill, and DFRS.
    pub schedules: Vec<ShadowRow>,
    /// What the comparison is based on, in sentences.
    pub notes: Vec<String>,
}

/// Jobs that are not simulated.
#[derive(Debug, Serialize)]
pub struct ShadowLeftOut {
    /// What they are, in the plural.
    pub why: String,
    /// How many there are.
    pub jobs: usize,
}

/// What became of the jobs that count. Times in seconds.
#[derive(Debug, Serialize)]
pub struct ShadowRow {
    /// What is shown of it.
    pub name: String,
    /// Whether it is no recorded schedule.
    pub simulated: bool,
    /// From submission to the first start.
    pub mean_wait: f64,
    /// Stretches are bounded.
    pub mean_stretch: f64,
    /// Half of the jobs have a smaller one.
    pub median_stretch: f64,
    /// The worst.
    pub largest_stretch: f64,
    /// How often these jobs gave up their places.
    pub pauses: u64,
    /// How often these jobs changed their places.
    pub migrations: u64,
}

/// Compares what this journal says with what DFRS would have done with this dfrs.conf. `earlier`: its parts
/// before this file, oldest first.
///
/// # Errors
///
/// One line: the file cannot be read, is no journal, or says too little.
pub fn compare(
    earlier: &[PathBuf],
    journal: &Path,
    config: &Config,
) -> Result<ShadowComparison, String> {
    let mut options = ReplayOptions::of_journal(&config.policy, mobility(config))?;
    options.run.penalty = move_cost(config);
    let mut source = options.read(&LogFile {
        earlier,
        ..options.file(journal, false)
    })?;
    options.run.swap = swap(config, &source);
    options
        .run
        .mobility
        .draw(options.run.seed, &mut source.trace);
    let counts: Vec<bool> = source
        .journal_facts
        .iter()
        .map(|facts| facts.is_whole)
        .collect();
    let jobs = counts.iter().filter(|counts| **counts).count();
    if jobs < MIN_JOBS {
        return Err(format!(
            "{}: only {jobs} jobs came, ran and ended while it was written, and at least {MIN_JOBS} say something; try again later",
            journal.display()
        ));
    }
    let control = vec![Scheduler::Batch(Batch::EasyShared)];
    let schedules = schedule::schedules_with(control, journal, &options, &source)?;
    let submitted = || {
        let jobs = source.trace.jobs.iter().zip(&counts);
        let counted = jobs.filter(|(_, counts)| **counts);
        counted.map(|(job, _)| job.submit.seconds())
    };
    let by_dfrs = |facts: &&JournalFacts| facts.is_whole && !facts.by_others;
    Ok(ShadowComparison {
        from: submitted().fold(f64::INFINITY, f64::min),
        to: submitted().fold(f64::NEG_INFINITY, f64::max),
        nodes: source.nodes,
        jobs,
        began_before: counts.len() - jobs,
        started_by_dfrs: source.journal_facts.iter().filter(by_dfrs).count(),
        left_out: left_out(&source),
        schedules: schedules.iter().map(|one| row(one, &counts)).collect(),
        notes: notes(config, source),
    })
}

/// What all jobs can do: the journal does not say of which partition one is.
fn mobility(config: &Config) -> Mobility {
    let without_swap = config.swap_per_node == Bytes::ZERO;
    let partitions = config.partitions.iter().map(|partition| partition.mobility);
    let possible = partitions.map(|mobility| match mobility {
        Mobility::Park if without_swap => Mobility::Never,
        mobility => mobility,
    });
    let rank = |mobility: &Mobility| Mobility::ALL.iter().position(|one| one == mobility);
    possible.min_by_key(rank).unwrap_or(Mobility::Never)
}

/// Swap of a node in the simulator's unit of memory.
fn swap(config: &Config, source: &LogJobs) -> Bytes {
    let Some(memory) = source.node_memory.filter(|memory| *memory > 0.0) else {
        return Bytes::ZERO;
    };
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a share of a node
    let swap = (config.swap_per_node.0 as f64 / memory * NODE_MEMORY.0 as f64) as u64;
    Bytes(swap)
}

fn left_out(source: &LogJobs) -> Vec<ShadowLeftOut> {
    let all = source.left_out.iter().cloned();
    let jobs = |one: LeftOutCount| ShadowLeftOut {
        why: one.why,
        jobs: one.count,
    };
    all.map(jobs).collect()
}

fn row(schedule: &ReplaySchedule, counts: &[bool]) -> ShadowRow {
    let counted = |values: &[f64]| -> Vec<f64> {
        let pairs = values.iter().zip(counts).filter(|(_, counts)| **counts);
        pairs.map(|(value, _)| *value).collect()
    };
    let stretch = sorted(&counted(&schedule.stretch));
    let records = || {
        let pairs = schedule.records.iter().zip(counts);
        pairs
            .filter(|(_, counts)| **counts)
            .map(|(record, _)| record)
    };
    ShadowRow {
        name: match schedule.scheduler {
            Some(_) => schedule.name.clone(),
            None => "Slurm, as it was".to_owned(),
        },
        simulated: schedule.scheduler.is_some(),
        mean_wait: mean(counted(&schedule.wait).into_iter()),
        mean_stretch: mean(stretch.iter().copied()),
        median_stretch: quantile(&stretch, 0.5),
        largest_stretch: stretch.last().copied().unwrap_or(0.0),
        pauses: records().map(|record| u64::from(record.pauses)).sum(),
        migrations: records().map(|record| u64::from(record.migrations)).sum(),
    }
}

/// What a pause or a move costs a job: what dfrs.conf says, or as in the papers if it says nothing.
fn move_cost(config: &Config) -> Span {
    match config.policy.settings.penalty {
        Span::ZERO => PENALTY,
        cost => cost,
    }
}

fn notes(config: &Config, source: LogJobs) -> Vec<String> {
    let mobility = mobility(config);
    let can = match mobility {
        Mobility::Never => "no job is paused or moved".to_owned(),
        mobility => format!(
            "all jobs can give up their places by '{mobility}', and a pause or a move costs {} s",
            move_cost(config).0 / 1_000_000
        ),
    };
    let mut notes = vec![
        format!("Simulated: {can}; jobs ran as long as they ran under Slurm, with the CPUs that they asked for."),
        "Not known: what memory jobs used (what they asked for counts), drains, failures, reservations and constraints of nodes, \
         and on how many nodes jobs had to be; MovesPerHour, SettleTime and Needs are not simulated, and LongestPause is a day; \
         limits held jobs back in the simulation for as long as they did under Slurm."
            .to_owned(),
    ];
    if config.policy.settings.run_time_hint != dfrs_core::RunTimeHint::Nothing {
        notes.push(
            "RunTimeHint is not simulated: the journal does not know time limits.".to_owned(),
        );
    }
    if config.policy.reserves() {
        notes.push(
            "Reservations, what jobs on several nodes lend, and that long jobs wait are not simulated: the journal does not know time limits."
                .to_owned(),
        );
    }
    if config.job_weight != dfrs_proto::conf::Weighting::Equal {
        notes.push("JobWeight is not simulated: all jobs weigh the same.".to_owned());
    }
    notes.extend(
        source
            .assumed
            .into_iter()
            .filter(|text| text.contains("nodes of the journal differ")),
    );
    notes
}
