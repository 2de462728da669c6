//! The bi-criteria algorithm (Section 3.2): batches of doubling length, each with the tasks of
//! greatest weight that fit.

mod batches;
mod improved;
mod merge;

use dfrs_random::Random;

use crate::dual::Estimate;
use crate::list::{self, ListEntry};
use crate::problem::Problem;
use crate::schedule::Schedule;
pub use batches::batches;
pub(crate) use batches::lengths;
pub use improved::improved;
pub(crate) use improved::{best_of, lists};

/// How often the order of the batches is shuffled, and from which seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shuffles {
    /// How many orders are tried beside that of the algorithm.
    pub count: u32,
    /// What the random numbers begin with.
    pub seed: u64,
}

/// The schedule: batches, compacted by a list algorithm in their order, or in the best of as many
/// shuffled orders. The best is that of the least product of makespan and weighted completion of
/// those that are worse in neither. O(m n K), and O(n log n) for each shuffle.
#[must_use]
pub fn demt(problem: &Problem, estimate: &Estimate, shuffles: Shuffles) -> Schedule {
    let batches = batches(problem, estimate);
    let best = shuffled(problem, &batches, shuffles);
    list::schedule(&best, 0.0, problem.processors)
}

/// The list of the batches in the best order.
pub(crate) fn shuffled(
    problem: &Problem,
    batches: &[Vec<ListEntry>],
    shuffles: Shuffles,
) -> Vec<ListEntry> {
    let mut random = Random::new(shuffles.seed, 0);
    let mut order: Vec<&[ListEntry]> = batches.iter().map(Vec::as_slice).collect();
    let others = (0..shuffles.count).map(|_| {
        random.shuffle(&mut order);
        order.concat()
    });
    let lists = std::iter::once(batches.concat()).chain(others);
    best_of(lists, |list| list::criteria(problem, list))
}
