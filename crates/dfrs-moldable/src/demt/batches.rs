//! Which task runs in which batch.

use super::merge::{MergedTask, candidates};
use crate::dual::Estimate;
use crate::knapsack::{Item, choose};
use crate::list::{ListEntry, sort_by};
use crate::problem::Problem;

/// The batches in their order, each with its tasks by decreasing weight per area, as they are to
/// run in it. Batch j lasts t_j = C*max / 2^(K-j), with K such that the shortest task fits into the
/// first one; each takes the tasks of greatest weight that fit on the machine side by side. What is
/// left after batch K gets further ones, each again twice as long. O(m n) for each batch.
pub fn batches(problem: &Problem, estimate: &Estimate) -> Vec<Vec<ListEntry>> {
    let mut left: Vec<usize> = (0..problem.tasks.len()).collect();
    let mut length = first_length(problem, estimate.guess);
    let mut batches = Vec::new();
    while !left.is_empty() {
        let candidates = candidates(problem, &left, length);
        let items = candidates.iter().map(|candidate| Item {
            size: candidate.processors,
            value: candidate.weight,
        });
        let chosen = choose(items, problem.processors);
        let chosen = candidates.into_iter().zip(chosen);
        let chosen = chosen.filter_map(|(candidate, chosen)| chosen.then_some(candidate));
        let mut batch: Vec<ListEntry> = chosen
            .flat_map(|candidate: MergedTask| candidate.entries)
            .collect();
        if !batch.is_empty() {
            let mut is_taken = vec![false; problem.tasks.len()];
            for entry in &batch {
                is_taken[entry.task] = true;
            }
            left.retain(|task| !is_taken[*task]);
            sort_by(&mut batch, |entry| -entry.weight_per_area(problem));
            batches.push(batch);
        }
        length *= 2.0;
    }
    batches
}

/// t_0: the guess halved as long as the shortest of all tasks fits.
pub fn first_length(problem: &Problem, guess: f64) -> f64 {
    let times = problem.tasks.iter().map(|task| task.fastest().time);
    let shortest = times.fold(f64::INFINITY, f64::min);
    let mut length = guess;
    while length / 2.0 >= shortest {
        length /= 2.0;
    }
    length
}
