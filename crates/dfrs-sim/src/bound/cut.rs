//! Why not all jobs can be in time: jobs that must do more in some intervals than fits there.

use super::instance::{Instance, StretchLevel};

/// An end of an interval: a fixed time, or a deadline, which is later for a larger stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edge {
    At(i64),
    /// The deadline of the job at this place in the instance.
    Due(u32),
}

/// Jobs and intervals.
#[derive(Debug)]
pub(super) struct Cut {
    jobs: Vec<u32>,
    ranges: Vec<(Edge, Edge)>,
}

impl Cut {
    pub fn new(jobs: Vec<u32>, ranges: Vec<(Edge, Edge)>) -> Self {
        Self { jobs, ranges }
    }

    /// The places of the jobs in the instance.
    pub fn jobs(&self) -> &[u32] {
        &self.jobs
    }

    /// The highest level that was found at which the jobs must do more in the intervals than fits, if
    /// it is so at `level`.
    pub fn highest(&self, instance: &Instance, level: StretchLevel) -> StretchLevel {
        let (mut low, mut step) = (level.0, (level.0 >> 16).max(1));
        let mut high = loop {
            let high = low.saturating_add(step).min(instance.max_level.0);
            if high == low || !self.is_violated(instance, StretchLevel(high)) {
                break high;
            }
            low = high;
            step = step.saturating_mul(2);
        };
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.is_violated(instance, StretchLevel(middle)) {
                low = middle;
            } else {
                high = middle;
            }
        }
        StretchLevel(low)
    }

    /// Whether the jobs must do more in the intervals than fits.
    fn is_violated(&self, instance: &Instance, level: StretchLevel) -> bool {
        let time = |edge: Edge| match edge {
            Edge::At(time) => time,
            Edge::Due(job) => instance.jobs[job as usize].deadline(level),
        };
        let mut ranges: Vec<(i64, i64)> = self
            .ranges
            .iter()
            .map(|(from, to)| (time(*from), time(*to)))
            .filter(|(from, to)| from < to)
            .collect();
        ranges.sort_unstable();
        let union = Union::new(&ranges);
        let mut spare = i128::from(union.length(i64::MAX)) * i128::from(instance.capacity);
        for job in &self.jobs {
            let job = &instance.jobs[*job as usize];
            let due = job.deadline(level);
            let inside = union.length(due) - union.length(job.release);
            let outside = i128::from(due - job.release - inside) * i128::from(job.rate);
            spare -= (job.work - outside).max(0);
            if spare < 0 {
                return true;
            }
        }
        false
    }
}

/// A set of times.
struct Union {
    /// Disjoint ranges, ascending, with the length of all before.
    ranges: Vec<(i64, i64, i64)>,
}

impl Union {
    /// `sorted` is ascending and may overlap.
    fn new(sorted: &[(i64, i64)]) -> Self {
        let mut ranges: Vec<(i64, i64, i64)> = Vec::with_capacity(sorted.len());
        for &(from, to) in sorted {
            match ranges.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                Some(last) => {
                    let before = last.2 + (last.1 - last.0);
                    ranges.push((from, to, before));
                }
                None => ranges.push((from, to, 0)),
            }
        }
        Self { ranges }
    }

    /// How much of it is before this time.
    fn length(&self, time: i64) -> i64 {
        let after = self.ranges.partition_point(|range| range.0 < time);
        match after.checked_sub(1).map(|place| self.ranges[place]) {
            Some((from, to, before)) => before + to.min(time) - from,
            None => 0,
        }
    }
}
