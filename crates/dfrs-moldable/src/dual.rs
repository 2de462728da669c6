//! The makespan by dual approximation: guess it, prove the guess too small or build a schedule of
//! at most 3/2 of it (G. Mounié, C. Rapine, D. Trystram: A 3/2-Approximation Algorithm for
//! Scheduling Independent Monotonic Malleable Tasks, SIAM J. Computing 37(2), 2007; what the paper
//! takes from its reference \[7\]).

mod shelves;
mod split;

use crate::list::ListEntry;
use crate::problem::{Problem, real};
use crate::schedule::Schedule;
use shelves::Shelves;
use split::ShelfSplit;

/// The guess that was accepted is at most so much above one that was refused, as a part of it.
const PRECISION: f64 = 1e-6;

/// What is known of the smallest makespan.
#[derive(Clone, Debug)]
pub struct Estimate {
    /// No schedule is shorter.
    pub bound: f64,
    /// The smallest guess that was not refused, which the paper calls C*max; at most a millionth
    /// above the bound.
    pub guess: f64,
    shelves: Shelves,
}

impl Estimate {
    /// Estimates by bisection. 0 for no tasks. O((n log m + n log n) log(1/precision)), and O(n m)
    /// for each guess that a greedy choice and its bound leave open.
    #[must_use]
    pub fn of(problem: &Problem) -> Self {
        let mut bound = least(problem);
        let mut guess = bound;
        let mut split = ShelfSplit::of(problem, guess);
        while split.is_none() && guess.is_finite() {
            bound = guess;
            guess *= 2.0;
            split = ShelfSplit::of(problem, guess);
        }
        while guess - bound > PRECISION * bound {
            let middle = bound + (guess - bound) / 2.0;
            match ShelfSplit::of(problem, middle) {
                None => bound = middle,
                accepted => (guess, split) = (middle, accepted),
            }
        }
        let split = split.unwrap_or_default().exact(problem, guess);
        Self {
            bound,
            guess,
            shelves: Shelves::of(problem, guess, &split),
        }
    }

    /// Every task with its allotment: those of the large shelf, those of the small shelf, then the
    /// small tasks (the order of Section 4.1's first list algorithm).
    #[must_use]
    pub fn allotments(&self) -> Vec<ListEntry> {
        self.shelves.entries()
    }

    /// The schedule of two shelves. If all tasks are monotonic (more processors are never slower
    /// and never do less work) there is one, and its makespan is at most 3/2 of the guess.
    #[must_use]
    pub fn schedule(&self, problem: &Problem) -> Option<Schedule> {
        self.shelves.schedule(problem.processors)
    }
}

/// No schedule is shorter than the longest of the shortest times, or than all areas together on all
/// processors.
fn least(problem: &Problem) -> f64 {
    let tasks = problem.tasks.iter();
    let longest = tasks.clone().map(|task| task.fastest().time);
    let areas = tasks.filter_map(|task| task.cheapest(f64::INFINITY));
    let area: f64 = areas.map(|allotment| allotment.area()).sum();
    // Rounding must not lift it above what an exact sum would give.
    let rounding = 1.0 - 1e-15 * real(problem.tasks.len());
    longest.fold(area / f64::from(problem.processors) * rounding, f64::max)
}
