//! The makespan by dual approximation: guess it, prove the guess too small or accept it, as there
//! is a schedule of at most 3/2 of it (G. Mounié, C. Rapine, D. Trystram: A 3/2-Approximation
//! Algorithm for Scheduling Independent Monotonic Malleable Tasks, SIAM J. Computing 37(2), 2007;
//! what the paper takes from its reference \[7\]). dfrs-moldable-lab makes that schedule.

mod split;

use crate::problem::{Problem, real};

/// The guess that was accepted is at most so much above one that was refused, as a part of it.
const PRECISION: f64 = 1e-6;

/// What is known of the smallest makespan.
#[derive(Clone, Copy, Debug)]
pub struct Estimate {
    /// No schedule is shorter.
    pub bound: f64,
    /// The smallest guess that was not refused, which the paper calls C*max; at most a millionth
    /// above the bound.
    pub guess: f64,
}

impl Estimate {
    /// Estimates by bisection. 0 for no tasks. O((n log m + n log n) log(1/precision)), and O(n m)
    /// for each guess that a greedy choice and its bound leave open.
    pub fn of(problem: &Problem) -> Self {
        let mut bound = least(problem);
        let mut guess = bound;
        while !split::is_accepted(problem, guess) && guess.is_finite() {
            bound = guess;
            guess *= 2.0;
        }
        while guess - bound > PRECISION * bound {
            let middle = bound + (guess - bound) / 2.0;
            match split::is_accepted(problem, middle) {
                true => guess = middle,
                false => bound = middle,
            }
        }
        Self { bound, guess }
    }

    /// For each task whether it is in the first shelf of a schedule for the guess, where it may
    /// take as long as that; the others take at most half of it. It is the split of least work.
    /// O(n m).
    pub fn first_shelf(&self, problem: &Problem) -> Vec<bool> {
        split::first_shelf(problem, self.guess).unwrap_or_default()
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
