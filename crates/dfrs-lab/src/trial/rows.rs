//! What each kind of jobs has of each world, in numbers.

use serde::Serialize;

use super::groups::TrialGroup;
use super::worlds::{TrialWorld, Worlds};
use crate::input::LogJobs;
use crate::replay::compare::Shift;
use crate::summary::{mean, quantile, share, sorted};

/// One kind of jobs, in all worlds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrialGroupRows {
    /// Which jobs.
    pub group: TrialGroup,
    /// How many there are, at least 1.
    pub jobs: usize,
    /// Their share of all jobs.
    pub share_of_jobs: f64,
    /// Their share of the CPU time that all jobs held.
    pub share_of_cpu: f64,
    /// A row for each world: as it was (where that is known), backfill, on top (where jobs are short), handed over.
    pub rows: Vec<TrialRow>,
}

impl TrialGroupRows {
    /// The row of the world of this name.
    pub fn row(&self, world: &str) -> Option<&TrialRow> {
        self.rows.iter().find(|row| row.world == world)
    }
}

/// One kind of jobs in one world.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrialRow {
    /// The world's name.
    pub world: &'static str,
    /// Time in the system beyond the run time, in seconds: half of the jobs lose no more.
    pub median_lost: f64,
    /// Its mean.
    pub mean_lost: f64,
    /// 95 in 100 jobs lose no more.
    pub lost_95: f64,
    /// The stretch, bounded at 10 s.
    pub median_stretch: f64,
    /// Its mean.
    pub mean_stretch: f64,
    /// Against backfill; none in backfill itself, and as it was, which is no simulation.
    pub shift: Option<TrialShift>,
}

/// How many jobs are done more than a minute sooner and later than under backfill.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrialShift {
    /// So many are sooner.
    pub sooner: usize,
    /// So many are later.
    pub later: usize,
    /// By how much the worst of them is later, in seconds; 0 if none is.
    pub largest_loss: f64,
}

/// Rows of each kind that has jobs.
pub fn all(source: &LogJobs, worlds: &Worlds) -> Vec<TrialGroupRows> {
    let every = TrialGroup::EVERY.into_iter();
    let with_jobs = every.filter_map(|group| {
        let jobs = group.jobs(&source.trace);
        (!jobs.is_empty()).then(|| of_group(source, worlds, group, &jobs))
    });
    with_jobs.collect()
}

fn of_group(
    source: &LogJobs,
    worlds: &Worlds,
    group: TrialGroup,
    jobs: &[usize],
) -> TrialGroupRows {
    let held = |job: usize| source.trace.jobs[job].runtime.seconds() * source.cpus[job];
    let all_jobs = source.trace.jobs.len();
    let all_held: f64 = (0..all_jobs).map(held).sum();
    let held_by: f64 = jobs.iter().map(|job| held(*job)).sum();
    let before = &worlds.backfill;
    let simulated = |world| row(world, jobs, Some(before));
    let mut rows: Vec<TrialRow> = Vec::new();
    rows.extend(worlds.as_it_was.iter().map(|world| row(world, jobs, None)));
    rows.push(row(before, jobs, None));
    rows.extend(worlds.on_top.iter().map(simulated));
    rows.push(simulated(&worlds.handed_over));
    TrialGroupRows {
        group,
        jobs: jobs.len(),
        share_of_jobs: share(jobs.len(), all_jobs),
        share_of_cpu: if all_held > 0.0 {
            held_by / all_held
        } else {
            0.0
        },
        rows,
    }
}

fn row(world: &TrialWorld, jobs: &[usize], before: Option<&TrialWorld>) -> TrialRow {
    let of = |values: &[f64]| -> Vec<f64> { jobs.iter().map(|job| values[*job]).collect() };
    let (lost, stretch) = (sorted(&of(&world.lost)), sorted(&of(&world.stretch)));
    let shift = before.map(|before| {
        let shift = Shift::of(&before.lost, &world.lost, jobs.iter().copied());
        TrialShift {
            sooner: shift.sooner.count,
            later: shift.later.count,
            largest_loss: shift.later.max,
        }
    });
    TrialRow {
        world: world.name,
        median_lost: quantile(&lost, 0.5),
        mean_lost: mean(lost.iter().copied()),
        lost_95: quantile(&lost, 0.95),
        median_stretch: quantile(&stretch, 0.5),
        mean_stretch: mean(stretch.iter().copied()),
        shift,
    }
}
