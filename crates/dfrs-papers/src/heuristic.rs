//! The average-yield heuristic of the IPDPS 2010 paper.

use dfrs_core::{Constraints, Job, Placed};

/// Gives what CPU is left to one job after the other, the lowest total need (summed over tasks)
/// first, as much as its nodes have (IPDPS 2010, Section III-A). Ties go to the earlier job. One
/// pass suffices: what one job takes never lets another have more. O(runs + jobs log jobs).
// Precise enough: shares are real numbers.
pub(crate) fn improve(
    constraints: &Constraints,
    placed: &[Placed<'_>],
    mut yields: Vec<f64>,
) -> Vec<f64> {
    let mut left: Vec<f64> = (0..constraints.rows())
        .map(|row| {
            let used = constraints
                .members(row)
                .iter()
                .map(|(job, need)| yields[*job as usize] * *need as f64);
            constraints.capacity(row) as f64 - used.sum::<f64>()
        })
        .collect();
    let mut order: Vec<usize> = (0..placed.len()).collect();
    let total = |job: &Job| u128::from(job.cpu.0) * u128::from(job.tasks);
    order.sort_by_cached_key(|job| total(placed[*job].job));
    for job in order {
        let rooms = constraints
            .places(job)
            .iter()
            .map(|(row, need)| left[*row as usize] / *need as f64);
        let gain = rooms.fold(1.0 - yields[job], f64::min).max(0.0);
        yields[job] += gain;
        for (row, need) in constraints.places(job) {
            left[*row as usize] -= gain * *need as f64;
        }
    }
    yields
}
