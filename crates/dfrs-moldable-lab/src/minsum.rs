//! A lower bound on the weighted completion: the relaxed linear program of Section 3.3, solved
//! exactly.

mod dense;
mod program;
mod simplex;

use dfrs_moldable::{Estimate, Problem};
use program::LinearProgram;

/// No schedule has a smaller sum of weight times completion time. O(n K) for each pivot of the
/// simplex, of which there are some n.
pub fn weighted_completion_bound(problem: &Problem, estimate: &Estimate) -> f64 {
    let program = LinearProgram::of(problem, estimate.guess);
    simplex::optimum(&program)
}
