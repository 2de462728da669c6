//! Single moves to nodes of less load, instead of a remap of all.

use super::board::Board;
use super::crowd::share;
use crate::greedy;
use crate::model::{Mapping, Mobility};
use crate::plan::Reason;
use crate::target::{Fate, can_pause};

/// Jobs with a greater part of their need are left where they are.
const ENOUGH: f64 = 0.95;

/// By how much the yield must grow, whatever the move costs.
const GAIN: f64 = 1.25;

/// How many times its cost a move must save, if the job runs as long as it has.
const RETURN: f64 = 2.0;

/// Moves jobs that can go on anywhere to where Greedy would put them, one after the other, the lowest yield
/// first, if that pays: if the yield grows by a quarter, and as much virtual time as the job has had would
/// take it at least twice the penalty less. Yields are those of equal shares: one over the load of the
/// fullest of its nodes. Says whether any moved. O(runs), and O(nodes + tasks log tasks) for each job that might move.
pub(super) fn single(board: &mut Board<'_>) -> bool {
    let (policy, cluster) = (board.policy, board.cluster);
    let cost = RETURN * policy.settings.penalty.seconds();
    let running = board
        .roster
        .running_indices()
        .iter()
        .zip(board.roster.running());
    let mut crowded: Vec<(u64, usize)> = running
        .filter(|(index, job)| {
            job.mobility == Mobility::Checkpoint
                && board.target.stays(**index)
                && !policy.protects(job, board.now)
                && can_pause(policy, cluster, &board.swap, job)
        })
        .filter_map(|(index, job)| {
            let share = equal_share(board, job.running_on()?);
            (share < ENOUGH).then_some((share.to_bits(), *index))
        })
        .collect();
    crowded.sort_unstable();
    let most = board.moves_left;
    for (_, index) in crowded {
        if board.moves_left == 0 || board.stop.is_due_after_step() {
            break;
        }
        let job = &cluster.jobs[index];
        let Some(old) = job.running_on() else {
            continue;
        };
        let before = equal_share(board, old);
        let virtual_time = job.virtual_time.seconds();
        let saves = |after: f64| virtual_time * (1.0 / before - 1.0 / after);
        // Not even nodes of its own would make up for the move.
        if before >= ENOUGH || saves(1.0) <= cost {
            continue;
        }
        board.usage.remove(job, old);
        let found = greedy::place(cluster, &board.usage, job).filter(|new| new != old);
        let better = found.filter(|new| {
            board.usage.add(job, new);
            let after = equal_share(board, new);
            board.usage.remove(job, new);
            after > before * GAIN && saves(after) > cost
        });
        match better {
            Some(new) => {
                board.usage.add(job, &new);
                board.moves_left -= 1;
                board.target.set(index, Fate::Goes(new, Reason::LessLoad));
            }
            None => board.usage.add(job, old),
        }
    }
    board.moves_left < most
}

/// One over the load of the fullest of these nodes, at most 1.
fn equal_share(board: &Board<'_>, mapping: &Mapping) -> f64 {
    let load = |node| share(board.usage.load(node).0, board.usage.cpu(node).0);
    1.0 / mapping.nodes().map(load).fold(1.0, f64::max)
}
