//! Stretches by class: jobs of similar run time and number of tasks.

use std::collections::BTreeMap;

use dfrs_core::Span;
use serde::{Deserialize, Serialize};

use super::stretch;
use crate::outcome::JobRecord;
use crate::trace::{Trace, TraceJob};

/// The longest run time of short, medium and long jobs.
const RUN_TIMES: [Span; 3] = [
    Span::from_seconds(60),
    Span::from_seconds(3600),
    Span(i64::MAX),
];

/// The most tasks of serial, small and wide jobs.
const TASKS: [u32; 3] = [1, 8, u32::MAX];

/// A class of jobs by run time (*short*: up to a minute; *medium*: up to an hour; *long*) and number
/// of tasks (*serial*: 1; *small*: 2 to 8; *wide*).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobClass {
    /// The class by run time.
    pub run_time: &'static str,
    /// The class by number of tasks.
    pub tasks: &'static str,
    /// The names of what is measured: the mean stretch and the largest.
    pub measures: [&'static str; 2],
}

/// A class, whose measures have its names in theirs.
macro_rules! class {
    ($run_time:literal, $tasks:literal) => {
        JobClass {
            run_time: $run_time,
            tasks: $tasks,
            measures: [
                concat!("mean_stretch_", $run_time, "_", $tasks),
                concat!("max_stretch_", $run_time, "_", $tasks),
            ],
        }
    };
}

/// All classes, by run time and then by number of tasks.
pub const CLASSES: [JobClass; 9] = [
    class!("short", "serial"),
    class!("short", "small"),
    class!("short", "wide"),
    class!("medium", "serial"),
    class!("medium", "small"),
    class!("medium", "wide"),
    class!("long", "serial"),
    class!("long", "small"),
    class!("long", "wide"),
];

/// The mean and the largest stretch of each class that has jobs, by the names in [`CLASSES`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StretchesByClass(pub BTreeMap<String, f64>);

impl StretchesByClass {
    /// Measures these jobs and what became of each, with stretches bounded as in [`stretch`]. O(n).
    pub fn new(trace: &Trace, records: &[JobRecord], bound: Span) -> Self {
        let mut sums = [(0_u32, 0.0_f64, 0.0_f64); CLASSES.len()];
        for (job, record) in trace.jobs.iter().zip(records) {
            let stretch = stretch(job, record, bound);
            let (jobs, sum, largest) = &mut sums[class_of(job)];
            *jobs += 1;
            *sum += stretch;
            *largest = largest.max(stretch);
        }
        let known = CLASSES.iter().zip(sums);
        let known = known.filter(|(_, (jobs, ..))| *jobs > 0);
        let measured = known.flat_map(|(class, (jobs, sum, largest))| {
            let [mean, max] = class.measures.map(String::from);
            [(mean, sum / f64::from(jobs)), (max, largest)]
        });
        Self(measured.collect())
    }
}

/// The place of a job's class in [`CLASSES`].
fn class_of(job: &TraceJob) -> usize {
    let run_time = RUN_TIMES.iter().position(|longest| job.runtime <= *longest);
    let tasks = TASKS.iter().position(|max| job.tasks <= *max);
    run_time.unwrap_or(0) * TASKS.len() + tasks.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dfrs_core::{Bytes, Cores, Time};

    fn job(seconds: i64, tasks: u32) -> TraceJob {
        let runtime = Span::from_seconds(seconds);
        TraceJob::new("1", Time::ZERO, tasks, Cores(1), Bytes(0), runtime)
    }

    fn name(job: &TraceJob) -> &'static str {
        CLASSES[class_of(job)].measures[0]
    }

    #[test]
    fn class_is_by_run_time_and_tasks() {
        assert_eq!(name(&job(60, 1)), "mean_stretch_short_serial");
        assert_eq!(name(&job(61, 8)), "mean_stretch_medium_small");
        assert_eq!(name(&job(3601, 9)), "mean_stretch_long_wide");
    }

    #[test]
    fn measures_are_named_by_class() {
        for (place, class) in CLASSES.iter().enumerate() {
            assert_eq!(
                class.run_time,
                ["short", "medium", "long"][place / TASKS.len()]
            );
            let tail = format!("_stretch_{}_{}", class.run_time, class.tasks);
            assert_eq!(
                class.measures,
                ["mean", "max"].map(|head| head.to_owned() + &tail)
            );
        }
    }

    #[test]
    fn class_without_jobs_has_no_stretch() {
        let trace = Trace {
            jobs: vec![job(100, 1), job(100, 1), job(5, 2)],
            ..Trace::default()
        };
        let done = |seconds: i64| JobRecord {
            finish: Time(seconds * 1_000_000),
            ..JobRecord::default()
        };
        let records = [done(100), done(300), done(20)];
        let found = StretchesByClass::new(&trace, &records, Span::from_seconds(10));
        let pairs: Vec<(&str, f64)> = found
            .0
            .iter()
            .map(|(name, value)| (name.as_str(), *value))
            .collect();
        assert_eq!(
            pairs,
            [
                ("max_stretch_medium_serial", 3.0),
                ("max_stretch_short_small", 2.0),
                ("mean_stretch_medium_serial", 2.0),
                ("mean_stretch_short_small", 2.0),
            ]
        );
    }
}
