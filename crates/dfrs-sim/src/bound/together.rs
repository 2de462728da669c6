//! What the jobs need if each of them could use all nodes at once.
//!
//! That requires less than what each can really use, so that it is a lower bound too. On one
//! machine at a time earliest deadline first is right whenever something is, and takes hardly any
//! time. Where jobs pile up for long it is nearly the whole bound, and where every job can use all
//! nodes it is.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::PRECISION;
use super::instance::{Instance, StretchLevel};

/// Stretches up to so many times the least are found as fast without this.
const PILED_UP: u64 = 8;

impl Instance {
    /// A bound, at least [`Self::least`], and whether that is all that is to be found.
    /// O(jobs log jobs) for each of some tens of tries.
    pub fn least_together(&self) -> (StretchLevel, bool) {
        let least = self.least();
        let is_all = self.jobs.iter().all(|job| job.rate == self.capacity);
        let first = if is_all { 1 } else { PILED_UP };
        let mut high = StretchLevel(least.0.saturating_mul(first)).min(self.max_level);
        if self.is_possible_together(high) {
            return (least, is_all);
        }
        let mut low = least;
        while high < self.max_level && !self.is_possible_together(high) {
            low = high;
            high = StretchLevel(high.0.saturating_mul(2)).min(self.max_level);
        }
        while high.0.saturating_sub(low.0) > (low.0 / PRECISION).max(1) {
            let middle = StretchLevel(low.0.midpoint(high.0));
            if self.is_possible_together(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        (low, is_all)
    }

    /// Whether all can be in time by earliest deadline first. Time is measured by what could be
    /// done until then.
    fn is_possible_together(&self, level: StretchLevel) -> bool {
        let capacity = i128::from(self.capacity);
        let mut waiting: BinaryHeap<Reverse<(i64, usize)>> = BinaryHeap::new();
        let mut left: Vec<i128> = self.jobs.iter().map(|job| job.work).collect();
        let mut now = 0;
        let ends = self.jobs.iter().skip(1).map(|job| job.release);
        let ends = ends.map(|end| i128::from(end) * capacity);
        let jobs = self.jobs.iter().zip(ends.chain([i128::MAX]));
        for (place, (job, end)) in jobs.enumerate() {
            waiting.push(Reverse((job.deadline(level), place)));
            now = now.max(i128::from(job.release) * capacity);
            while let Some(Reverse((due, first))) = waiting.peek().copied()
                && now < end
            {
                let part = left[first].min(end - now);
                now += part;
                left[first] -= part;
                if now > i128::from(due) * capacity {
                    return false;
                }
                if left[first] == 0 {
                    waiting.pop();
                }
            }
        }
        true
    }
}
