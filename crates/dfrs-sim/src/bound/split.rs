//! The times at which nothing is left to catch up on, between which jobs depend on each other.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::instance::Instance;

/// A moment at which no job lags.
#[derive(Clone, Debug, Default)]
pub(super) struct Split {
    pub at: i64,
    /// The first job that is not yet released, by its place in the instance.
    pub next: usize,
    /// The jobs that have work left.
    pub running: Vec<u32>,
}

impl Split {
    /// The moment from which on not all jobs can have their full rate. None: they always can.
    pub fn until_contention(mut self, instance: &Instance) -> Option<Self> {
        let jobs = &instance.jobs;
        let end = |job: u32| {
            let job = &jobs[job as usize];
            let length = job
                .work
                .unsigned_abs()
                .div_ceil(job.rate.unsigned_abs().into());
            Reverse(i128::from(job.release) + length.cast_signed())
        };
        let rate = |job: u32| i128::from(jobs[job as usize].rate);
        let capacity = i128::from(instance.capacity);
        let mut used: i128 = self.running.iter().map(|job| rate(*job)).sum();
        let mut ends: BinaryHeap<(Reverse<i128>, u32)> =
            self.running.drain(..).map(|job| (end(job), job)).collect();
        while used <= capacity {
            let first = jobs.get(self.next)?;
            self.at = first.release;
            while let Some((_, job)) = ends
                .peek()
                .filter(|(Reverse(end), _)| *end <= i128::from(self.at))
            {
                used -= rate(*job);
                ends.pop();
            }
            while jobs
                .get(self.next)
                .is_some_and(|job| job.release == self.at)
            {
                let job = u32::try_from(self.next).unwrap_or(u32::MAX);
                used += rate(job);
                ends.push((end(job), job));
                self.next += 1;
            }
        }
        self.running = ends.into_iter().map(|(_, job)| job).collect();
        self.running.sort_unstable();
        Some(self)
    }
}
