//! DEMT as a whole: the order of its batches shuffled, and its allotments and order revised.

use dfrs_moldable::demt::{batches, best_of, revised};
use dfrs_moldable::{Estimate, ListEntry, Problem, Schedule};
use dfrs_random::Random;

use crate::list;

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
pub fn demt(problem: &Problem, estimate: &Estimate, shuffles: Shuffles) -> Schedule {
    let batches = batches(problem, estimate);
    let best = shuffled(problem, &batches, shuffles);
    list::schedule(&best, problem.processors)
}

/// The best of DEMT's list and of those that are [`revised`]: that of the least product of makespan
/// and weighted completion of those that are worse than DEMT in neither. O(m n K + n log n) for
/// each list. Not in the paper.
pub fn improved(problem: &Problem, estimate: &Estimate, shuffles: Shuffles) -> Schedule {
    let batches = batches(problem, estimate);
    let first = shuffled(problem, &batches, shuffles);
    let others = revised(problem, &batches, estimate.guess);
    let lists = std::iter::once(first).chain(others);
    let best = best_of(lists, |list| list::criteria(problem, list));
    list::schedule(&best, problem.processors)
}

/// The list of the batches in the best order.
fn shuffled(problem: &Problem, batches: &[Vec<ListEntry>], shuffles: Shuffles) -> Vec<ListEntry> {
    let mut random = Random::new(shuffles.seed, 0);
    let mut order: Vec<&[ListEntry]> = batches.iter().map(Vec::as_slice).collect();
    let others = (0..shuffles.count).map(|_| {
        random.shuffle(&mut order);
        order.concat()
    });
    let lists = std::iter::once(batches.concat()).chain(others);
    best_of(lists, |list| list::criteria(problem, list))
}
