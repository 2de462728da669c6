//! What becomes of single jobs: quantiles over all jobs of all traces, and who wins and who loses.

use dfrs_core::Span;
use dfrs_report::csv_line;
use dfrs_sim::generate::Lublin;
use dfrs_sim::metrics::{STRETCH_BOUND, stretch};
use dfrs_sim::trace::TraceJob;
use dfrs_sim::{JobRecord, Scheduler, simulate};
use serde::{Deserialize, Serialize};

use super::studies::{OURS, WORLDS, Wanted};
use crate::reproduce::experiment::{BEST, EASY_SHARED};
use crate::runs::Runs;
use crate::study::options;

/// Stretches are counted by twelfths of decades from 1 to 10^6.
const PER_DECADE: f64 = 12.0;
const BINS: usize = 72;

/// A job is sooner or later if that is by more than so much.
const MATTERS: Span = Span::from_seconds(60);

/// Classes by run time: up to which, in seconds.
const TIMES: [(&str, i64); 3] = [("up to 1 min", 60), ("to 1 h", 3600), ("longer", i64::MAX)];
/// Classes by number of tasks.
const SIZES: [(&str, u32); 3] = [("1 task", 1), ("2 to 8", 8), ("more", u32::MAX)];
/// All of them.
pub const CLASSES: usize = TIMES.len() * SIZES.len();

/// The schedules that are compared: a name, the policy, and what is known of run times. The first is the
/// one with which the others are compared.
pub const SCHEDULES: [(&str, &str, &str); 4] = [
    (EASY_SHARED, EASY_SHARED, "none"),
    ("the papers' policy", BEST, "none"),
    ("ours", OURS, "none"),
    ("ours, with limits", OURS, "limits"),
];

/// What becomes of jobs under one schedule.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Fates {
    /// How many jobs have a stretch in each bin.
    bins: Vec<u64>,
    /// By class.
    pub classes: Vec<Class>,
}

/// Jobs of similar run time and size.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Class {
    pub jobs: u64,
    /// Sum of their stretches.
    pub stretch: f64,
    pub largest: f64,
    /// How many are done sooner than under the first schedule, and how many later.
    pub sooner: u64,
    pub later: u64,
}

/// By world and schedule.
pub struct Jobs(Vec<Vec<Fates>>);

#[derive(Serialize)]
struct Run {
    /// What the result is: a change of it is another.
    jobs_of: &'static str,
    seed: u64,
    jobs: u32,
    mobility: &'static str,
}

impl Jobs {
    /// Does what is not done yet.
    pub fn get(wanted: &Wanted, runs: &mut Runs) -> Result<Self, String> {
        let mut all = Vec::new();
        for (mobility, _) in WORLDS {
            let keys: Vec<Run> = wanted
                .seeds
                .iter()
                .map(|seed| Run {
                    jobs_of: "ours",
                    seed: *seed,
                    jobs: wanted.jobs,
                    mobility,
                })
                .collect();
            let found: Vec<Vec<Fates>> = runs.execute("single jobs", &keys, Run::execute)?;
            let mut sums = vec![Fates::default(); SCHEDULES.len()];
            for fates in &found {
                for (sum, fates) in sums.iter_mut().zip(fates) {
                    sum.add(fates);
                }
            }
            all.push(sums);
        }
        Ok(Self(all))
    }

    /// The schedules of a world.
    pub fn of(&self, world: usize) -> &[Fates] {
        &self.0[world]
    }

    /// A line for each world, schedule and class.
    pub fn csv(&self) -> String {
        let heads = [
            "mobility",
            "schedule",
            "run_time",
            "tasks",
            "jobs",
            "mean_stretch",
            "largest_stretch",
            "sooner",
            "later",
        ];
        let mut text = csv_line(&heads);
        for ((mobility, _), schedules) in WORLDS.iter().zip(&self.0) {
            for ((name, ..), fates) in SCHEDULES.iter().zip(schedules) {
                for (place, class) in fates.classes.iter().enumerate() {
                    let (time, size) = names(place);
                    text += &csv_line(&[
                        (*mobility).to_owned(),
                        (*name).to_owned(),
                        time.to_owned(),
                        size.to_owned(),
                        class.jobs.to_string(),
                        class.mean().to_string(),
                        class.largest.to_string(),
                        class.sooner.to_string(),
                        class.later.to_string(),
                    ]);
                }
            }
        }
        text
    }
}

impl Run {
    fn execute(&self) -> Result<Vec<Fates>, String> {
        let model = Lublin {
            jobs: self.jobs as usize,
            ..Lublin::default()
        };
        let mut before: Option<Vec<JobRecord>> = None;
        let mut fates = Vec::new();
        for (_, policy, hint) in SCHEDULES {
            let given = [
                ("mobility", self.mobility),
                ("run-time-hint", hint),
                ("round-limits", "true"),
                ("keep-equal-jobs", "true"),
            ];
            let world = options::parse(given.into_iter())?.world;
            let mut trace = model.trace(self.seed);
            world.draw(&mut trace);
            let scheduler: Scheduler = policy
                .parse()
                .map_err(|error: dfrs_sim::SchedulerError| error.to_string())?;
            let outcome = simulate(&trace, &scheduler, &world.settings(model.nodes), None)
                .map_err(|error| format!("seed {} under {policy}: {error}", self.seed))?;
            let first = before.get_or_insert_with(|| outcome.jobs.clone());
            let mut found = Fates::default();
            for ((job, record), first) in trace.jobs.iter().zip(&outcome.jobs).zip(first.iter()) {
                found.count(job, record, first);
            }
            fates.push(found);
        }
        Ok(fates)
    }
}

impl Fates {
    fn count(&mut self, job: &TraceJob, record: &JobRecord, first: &JobRecord) {
        self.bins.resize(BINS, 0);
        self.classes.resize(CLASSES, Class::default());
        let stretch = stretch(job, record, STRETCH_BOUND);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at least 1
        let bin = (stretch.log10() * PER_DECADE).ceil() as usize;
        self.bins[bin.min(BINS - 1)] += 1;
        let class = &mut self.classes[class_of(job)];
        class.jobs += 1;
        class.stretch += stretch;
        class.largest = class.largest.max(stretch);
        class.sooner += u64::from(record.finish + MATTERS < first.finish);
        class.later += u64::from(first.finish + MATTERS < record.finish);
    }

    fn add(&mut self, other: &Self) {
        self.bins.resize(BINS, 0);
        self.classes.resize(CLASSES, Class::default());
        for (own, more) in self.bins.iter_mut().zip(&other.bins) {
            *own += more;
        }
        for (own, more) in self.classes.iter_mut().zip(&other.classes) {
            own.jobs += more.jobs;
            own.stretch += more.stretch;
            own.largest = own.largest.max(more.largest);
            own.sooner += more.sooner;
            own.later += more.later;
        }
    }

    /// For each stretch the share of jobs that have a larger one; those that nobody exceeds are left out.
    #[allow(clippy::cast_precision_loss)] // numbers of jobs
    pub fn exceeding(&self) -> Vec<(f64, f64)> {
        let all = self.bins.iter().sum::<u64>().max(1) as f64;
        let mut left = all;
        let mut points = Vec::new();
        for (bin, jobs) in self.bins.iter().enumerate() {
            left -= *jobs as f64;
            if left <= 0.0 {
                break;
            }
            points.push((10f64.powf(bin as f64 / PER_DECADE), left / all));
        }
        points
    }
}

impl Class {
    #[allow(clippy::cast_precision_loss)] // a number of jobs
    pub fn mean(&self) -> f64 {
        self.stretch / self.jobs.max(1) as f64
    }
}

fn class_of(job: &TraceJob) -> usize {
    let seconds = (job.runtime.0 + 999_999) / 1_000_000;
    let time = TIMES.iter().position(|(_, most)| seconds <= *most);
    let size = SIZES.iter().position(|(_, most)| job.tasks <= *most);
    time.unwrap_or(0) * SIZES.len() + size.unwrap_or(0)
}

/// Run time and size of a class, in words.
pub fn names(class: usize) -> (&'static str, &'static str) {
    (TIMES[class / SIZES.len()].0, SIZES[class % SIZES.len()].0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dfrs_core::{Bytes, Cores, Time};

    fn job(seconds: i64, tasks: u32) -> TraceJob {
        let runtime = Span::from_seconds(seconds);
        TraceJob::new("1", Time::ZERO, tasks, Cores(1), Bytes(0), runtime)
    }

    fn done(seconds: i64) -> JobRecord {
        JobRecord {
            finish: Time(seconds * 1_000_000),
            ..JobRecord::default()
        }
    }

    #[test]
    fn classes_are_by_time_and_size() {
        assert_eq!(names(class_of(&job(60, 1))), ("up to 1 min", "1 task"));
        assert_eq!(names(class_of(&job(61, 8))), ("to 1 h", "2 to 8"));
        assert_eq!(names(class_of(&job(3601, 9))), ("longer", "more"));
    }

    #[test]
    fn jobs_are_counted_once() {
        let mut fates = Fates::default();
        let job = job(100, 1);
        fates.count(&job, &done(100), &done(161)); // stretch 1, sooner
        fates.count(&job, &done(1000), &done(940)); // stretch 10, by a minute only
        fates.count(&job, &done(1000), &done(939)); // later
        let class = fates.classes[class_of(&job)];
        assert_eq!((class.jobs, class.sooner, class.later), (3, 1, 1));
        assert_eq!((class.mean(), class.largest), (7.0, 10.0));
        let points = fates.exceeding();
        assert_eq!(points.len(), 12);
        assert_eq!(points[0], (1.0, 2.0 / 3.0));
    }
}
