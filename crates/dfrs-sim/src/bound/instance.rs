//! The jobs of Theorem 1 in whole numbers: microseconds, and millionths of a node times microseconds.

use dfrs_core::Span;

use crate::settings::LAST;
use crate::trace::{NODE_CPU, Trace, TraceJob};

/// A stretch, as a whole number of 2^-20.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StretchLevel(pub u64);

impl StretchLevel {
    const DIGITS: u32 = 20;

    /// The least stretch there is.
    pub const ONE: Self = Self(1 << Self::DIGITS);

    // Precise enough: a result to be looked at.
    pub fn value(self) -> f64 {
        self.0 as f64 / Self::ONE.0 as f64
    }

    /// The least level that is at least `part` / `whole`, both above 0.
    fn at_least(part: i128, whole: i128) -> Self {
        let scaled = (part.unsigned_abs() << Self::DIGITS).div_ceil(whole.unsigned_abs());
        Self(u64::try_from(scaled).unwrap_or(u64::MAX))
    }
}

/// A job that has some work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Demand {
    /// When it is submitted.
    pub release: i64,
    /// The most millionths of a node that it can use at once, at most all nodes.
    pub rate: i64,
    /// What it has to do.
    pub work: i128,
    /// The job's run time, bounded from below: what its time in the system is divided by.
    span: i64,
}

impl Demand {
    fn new(job: &TraceJob, capacity: i64, bound: Span) -> Option<Self> {
        let runtime = job.runtime.0;
        let need = i128::from(job.cpu.0) * i128::from(job.tasks);
        let work = need * i128::from(runtime);
        (work > 0).then_some(Self {
            release: job.submit.0,
            rate: i64::try_from(need).map_or(capacity, |need| need.min(capacity)),
            work,
            span: runtime.max(bound.0),
        })
    }

    /// When the job must be finished for this stretch, at most [`Instance::max_level`]. Rounded up
    /// to a microsecond, which requires less and so keeps a bound a bound.
    pub fn deadline(&self, level: StretchLevel) -> i64 {
        let span = i128::from(self.span) * i128::from(level.0);
        let one = i128::from(StretchLevel::ONE.0);
        let flow = (span + one - 1) >> StretchLevel::DIGITS;
        self.release + i64::try_from(flow).unwrap_or(LAST.0)
    }

    /// The highest level at which it is due in a time that there is.
    fn max_level(&self) -> StretchLevel {
        let left = i128::from(LAST.0 - self.release);
        let level = (left << StretchLevel::DIGITS) / i128::from(self.span);
        StretchLevel(u64::try_from(level).unwrap_or(u64::MAX))
    }

    /// The least stretch that it can have, were it alone.
    fn alone(&self) -> StretchLevel {
        StretchLevel::at_least(self.work, i128::from(self.rate) * i128::from(self.span))
    }
}

/// Jobs ascending by submission, and what there is for them.
pub(super) struct Instance {
    pub jobs: Vec<Demand>,
    /// Millionths of a node.
    pub capacity: i64,
    /// The highest level at which all jobs are due in a time that there is.
    pub max_level: StretchLevel,
}

impl Instance {
    pub fn new(trace: &Trace, nodes: u32, bound: Span) -> Self {
        let capacity = i64::try_from(NODE_CPU.0).unwrap_or(i64::MAX) * i64::from(nodes);
        let jobs = trace.jobs.iter();
        let jobs: Vec<Demand> = jobs
            .filter_map(|job| Demand::new(job, capacity, bound))
            .collect();
        let max_level = jobs.iter().map(Demand::max_level).min();
        Self {
            max_level: max_level.unwrap_or(StretchLevel::ONE),
            jobs,
            capacity,
        }
    }

    /// Only the jobs at these places.
    pub fn only(&self, places: &[u32]) -> Self {
        let mut places = places.to_vec();
        places.sort_unstable();
        let jobs = places.iter().map(|place| self.jobs[*place as usize]);
        Self {
            jobs: jobs.collect(),
            ..*self
        }
    }

    /// No job can have a smaller stretch, were it alone; at least 1.
    pub fn least(&self) -> StretchLevel {
        let alone = self.jobs.iter().map(Demand::alone);
        alone
            .max()
            .unwrap_or(StretchLevel::ONE)
            .max(StretchLevel::ONE)
    }
}
