//! The offline lower bound on the maximum stretch (TPDS, Section 3, Theorem 1).
//!
//! For a given stretch every job has a deadline. Whether all can be met, with infinite memory and free
//! moves, is a transportation problem: a job sends its work to the intervals between releases and
//! deadlines that are in its window, at most its rate times their length to each, and an interval
//! takes at most all nodes times its length. [`sweep`] answers that exactly, with a maximum flow from
//! a start that is nearly one. If the answer is no, there is a cut: jobs that must do more in some
//! intervals than fits there. [`cut`] finds how much higher the stretch has to be for that alone.
//!
//! The jobs come in segments that do not depend on each other, see [`split::Split`]. One after the
//! other raises the bound if it has to; what is possible at some stretch remains so at any higher one.
//! What only some of the jobs need is a bound for all.

mod augment;
mod bits;
mod cut;
mod fill;
mod flow;
mod instance;
mod split;
mod sweep;
#[cfg(test)]
mod tests;
mod together;

use dfrs_core::Span;

use crate::trace::Trace;
use instance::{Instance, StretchLevel};
use split::Split;
use sweep::Sweep;

/// Bounds are at most this part of theirs below the least stretch for which Theorem 1's system has a
/// solution.
const PRECISION: u64 = 1 << 13;

/// How many intervals of a sweep may be too short before it is repaired. Few searches for much cost less
/// than many for little; more of them only delay the answer that it cannot be.
const MAX_SHORT_INTERVALS: u32 = 64;

/// A cut has few jobs if it has so many times less than the sweep that found it. What these need for
/// themselves is then found first: that takes little time, and mostly all need hardly more.
const FEW: usize = 4;

/// A lower bound on the maximum stretch of any schedule of these jobs on so many nodes: memory is
/// infinite, run times are known beforehand and moves cost nothing. Stretch is bounded: run times
/// below `stretch_bound` count as that. At least 1; at most 1 / 8192 of it below the least stretch
/// that is possible then, and never above. (It may be further below if jobs that have that stretch are
/// due more than 70,000 years after time 0.)
///
/// All sums are in whole numbers. O(jobs log jobs) as long as there are nodes for all, or if all can use
/// all nodes; else a maximum flow for each try, of which there are some tens for the segment that decides.
pub fn offline_bound(trace: &Trace, nodes: u32, stretch_bound: Span) -> f64 {
    offline_bound_with_progress(trace, nodes, stretch_bound, &mut |_, _| ())
}

/// As [`offline_bound`], with progress: `progress` is called now and then with how many jobs of the
/// trace are settled, and a bound so far, which is at most the result.
#[must_use]
pub fn offline_bound_with_progress(
    trace: &Trace,
    nodes: u32,
    stretch_bound: Span,
    progress: &mut dyn FnMut(usize, f64),
) -> f64 {
    let instance = Instance::new(trace, nodes, stretch_bound);
    match instance.least_together() {
        (bound, true) => bound.value(),
        (least, false) => BoundSearch::bound(instance, least, progress).value(),
    }
}

struct BoundSearch<'a> {
    instance: Instance,
    /// No schedule has a smaller maximum stretch than this.
    lower: StretchLevel,
    /// The segments so far can have this, which is hardly more.
    level: StretchLevel,
    sweep: Sweep,
    progress: &'a mut dyn FnMut(usize, f64),
}

impl<'a> BoundSearch<'a> {
    /// The bound of all jobs of the instance, or `lower` if that is higher.
    fn bound(
        instance: Instance,
        lower: StretchLevel,
        progress: &'a mut dyn FnMut(usize, f64),
    ) -> StretchLevel {
        let mut search = Self {
            instance,
            lower,
            level: lower,
            sweep: Sweep::new(MAX_SHORT_INTERVALS),
            progress,
        };
        let mut split = Split::default();
        while let Some(start) = split.until_contention(&search.instance) {
            match search.settle(&start) {
                Some(end) => split = end,
                None => break,
            }
        }
        search.lower
    }

    /// Raises the bound and the level until the jobs of this segment can have the level; returns
    /// where the segment ends, or none if deadlines at that level are beyond all times.
    fn settle(&mut self, start: &Split) -> Option<Split> {
        let mut tried = self.level;
        let mut step = 1u64;
        let mut possible: Option<(StretchLevel, Split)> = None;
        while tried <= self.instance.max_level {
            (self.progress)(start.next, self.lower.value());
            match self.sweep.run(&self.instance, tried, start) {
                Ok(end) => possible = Some((tried, end)),
                Err(cut) => {
                    self.lower = self.lower.max(cut.highest(&self.instance, tried));
                    step = if FEW * cut.jobs().len() <= self.sweep.jobs() {
                        let few = self.instance.only(cut.jobs());
                        self.lower = BoundSearch::bound(few, self.lower, &mut |_, _| ());
                        1
                    } else {
                        step.saturating_mul(2)
                    };
                }
            }
            let least = (self.lower.0 / PRECISION).max(1);
            tried = match possible.take() {
                Some((level, end)) if level.0 <= self.lower.0 + least => {
                    self.level = level;
                    return Some(end);
                }
                Some((level, end)) => {
                    let gap = level.0 - self.lower.0;
                    possible = Some((level, end));
                    let half = (gap / 2).max(least);
                    StretchLevel(self.lower.0 + half.min(least.saturating_mul(step)))
                }
                None => StretchLevel(self.lower.0.saturating_add(least.saturating_mul(step))),
            };
        }
        None
    }
}
