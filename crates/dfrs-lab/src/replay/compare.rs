//! Which jobs are better off and which are worse.

use dfrs_sim::trace::TraceJob;

use super::timeline::memory;
use crate::input::LogJobs;
use crate::summary::{mean, quantile, sorted};

/// A job is better or worse off if it is done more than so many seconds sooner or later than
/// before; users do not notice less.
pub const MIN_SHIFT_SECONDS: f64 = 60.0;

/// Jobs that are done sooner, or later.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShiftedJobs {
    pub count: usize,
    /// The mean shift in seconds.
    pub mean: f64,
    pub median: f64,
    pub max: f64,
}

impl ShiftedJobs {
    fn of(seconds: Vec<f64>) -> Self {
        let seconds = sorted(&seconds);
        Self {
            count: seconds.len(),
            mean: mean(seconds.iter().copied()),
            median: quantile(&seconds, 0.5),
            max: seconds.last().copied().unwrap_or(0.0),
        }
    }
}

/// How many jobs are done sooner and later than before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shift {
    pub sooner: ShiftedJobs,
    pub same: usize,
    pub later: ShiftedJobs,
}

impl Shift {
    /// Compares the lost times of the jobs at these positions, before and after.
    pub fn of(before: &[f64], after: &[f64], jobs: impl Iterator<Item = usize>) -> Self {
        let (mut sooner, mut later, mut same) = (Vec::new(), Vec::new(), 0);
        for job in jobs {
            let by = after[job] - before[job];
            if by > MIN_SHIFT_SECONDS {
                later.push(by);
            } else if by < -MIN_SHIFT_SECONDS {
                sooner.push(-by);
            } else {
                same += 1;
            }
        }
        Self {
            sooner: ShiftedJobs::of(sooner),
            same,
            later: ShiftedJobs::of(later),
        }
    }

    pub fn of_all(before: &[f64], after: &[f64]) -> Self {
        Self::of(before, after, 0..before.len())
    }
}

/// The jobs that are done latest against before, the worst first.
pub fn worst(before: &[f64], after: &[f64], limit: usize) -> Vec<usize> {
    let mut later: Vec<usize> = (0..before.len())
        .filter(|job| after[*job] - before[*job] > MIN_SHIFT_SECONDS)
        .collect();
    later.sort_by(|one, other| {
        let by = |job: usize| after[job] - before[job];
        by(*other).total_cmp(&by(*one)).then(one.cmp(other))
    });
    later.truncate(limit);
    later
}

/// Jobs of one kind, by their positions.
pub struct BreakdownClass {
    pub name: String,
    pub jobs: Vec<usize>,
}

/// One way of parting all jobs.
pub struct Breakdown {
    pub title: &'static str,
    pub classes: Vec<BreakdownClass>,
}

/// Breakdowns by CPUs, run time, memory and CPU use. Classes without jobs are left out.
pub fn breakdowns(source: &LogJobs) -> Vec<Breakdown> {
    let counts_cpus = source.node_cpus > 1.0;
    let cpus = |position: usize, _: &TraceJob| source.cpus[position];
    let runtime = |_: usize, job: &TraceJob| job.runtime.seconds();
    let share = |_: usize, job: &TraceJob| memory(job, 1);
    // Precise enough: below 2^53.
    let used = |position: usize, job: &TraceJob| {
        let had = source.cpus[position] / source.node_cpus.max(1.0);
        super::timeline::cpu(job) / had.max(1e-9)
    };
    let mut all = vec![
        breakdown(
            source,
            if counts_cpus {
                "CPUs of the job"
            } else {
                "nodes (processors) of the job"
            },
            &[
                (1.0, "1"),
                (4.0, "2–4"),
                (16.0, "5–16"),
                (64.0, "17–64"),
                (256.0, "65–256"),
                (f64::INFINITY, "> 256"),
            ],
            cpus,
        ),
        breakdown(
            source,
            "run time",
            &[
                (60.0, "≤ 1 min"),
                (600.0, "1–10 min"),
                (3600.0, "10–60 min"),
                (6.0 * 3600.0, "1–6 h"),
                (86_400.0, "6–24 h"),
                (f64::INFINITY, "> 1 d"),
            ],
            runtime,
        ),
        breakdown(
            source,
            "the share of a node's memory that it requires there",
            &[
                (0.1, "≤ 10%"),
                (0.25, "10–25%"),
                (0.5, "25–50%"),
                (f64::INFINITY, "> 50%"),
            ],
            share,
        ),
        breakdown(
            source,
            "the share of its CPUs that it can use",
            &[
                (0.25, "≤ 25%"),
                (0.5, "25–50%"),
                (0.75, "50–75%"),
                (f64::INFINITY, "> 75%"),
            ],
            used,
        ),
    ];
    all.retain(|breakdown| breakdown.classes.len() > 1);
    all
}

/// Parts jobs by a value: each class has those up to its limit, less those of the class before.
fn breakdown(
    source: &LogJobs,
    title: &'static str,
    limits: &[(f64, &str)],
    value: impl Fn(usize, &TraceJob) -> f64,
) -> Breakdown {
    let mut classes: Vec<BreakdownClass> = limits
        .iter()
        .map(|(_, name)| BreakdownClass {
            name: (*name).to_owned(),
            jobs: Vec::new(),
        })
        .collect();
    for (position, job) in source.trace.jobs.iter().enumerate() {
        let value = value(position, job);
        let class = limits
            .iter()
            .position(|(limit, _)| value <= *limit * (1.0 + 1e-9));
        classes[class.unwrap_or(limits.len() - 1)]
            .jobs
            .push(position);
    }
    classes.retain(|class| !class.jobs.is_empty());
    Breakdown { title, classes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifts_below_a_minute_are_not_counted() {
        let before = [0.0, 100.0, 1000.0, 500.0, 0.0];
        let after = [60.0, 39.0, 0.0, 561.0, 200.0];
        let shift = Shift::of_all(&before, &after);
        assert_eq!(
            (shift.sooner.count, shift.same, shift.later.count),
            (2, 1, 2)
        );
        assert_eq!((shift.sooner.median, shift.sooner.max), (61.0, 1000.0));
        assert_eq!((shift.later.mean, shift.later.max), (130.5, 200.0));
        assert_eq!(worst(&before, &after, 10), [4, 3]);
        assert_eq!(worst(&before, &after, 1), [4]);
        assert_eq!(
            Shift::of(&before, &after, [4].into_iter()).sooner,
            ShiftedJobs::default()
        );
    }
}
