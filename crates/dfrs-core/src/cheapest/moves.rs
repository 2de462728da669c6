//! Single moves to nodes of less load, instead of a remap of all.

use super::board::Board;
use super::reservation::slowness;
use crate::greedy;
use crate::model::{JobId, Mapping, Mobility};
use crate::plan::Reason;
use crate::policy::Optimisation;
use crate::target::{Fate, Target, can_pause};
use crate::units::Yield;
use crate::yields::yields_of_placed;

/// Jobs with a greater part of their need are left where they are.
const ENOUGH: f64 = 0.95;

/// By how much the yield must grow, whatever the move costs.
const GAIN: f64 = 1.25;

/// After so many looks at the yields that all would have the others wait for the next period, and after so many of
/// these that found too little, too: each costs as much as all jobs that run.
const MOST_LOOKS: u32 = 256;
const MOST_REFUSED: u32 = 64;

/// How many times its cost a move must save, if the job runs as long as it has.
const RETURN: f64 = 2.0;

/// Moves jobs that can go on anywhere to where Greedy would put them, one after the other, the lowest yield
/// first, if that pays: if the yield grows by a quarter, and as much virtual time as the job has had would
/// take it at least twice the penalty less. Yields are those of equal shares: one over the load of the
/// fullest of its nodes. Where CPU is shared by virtual time its own yield must grow by a quarter, too. Says whether
/// any moved. O(runs), O(nodes + tasks log tasks) for each job that might move, and O((nodes + runs) log nodes) for
/// each that would by equal shares.
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
    let mut own = OwnYields::default();
    for (_, index) in crowded {
        let is_over = board.moves_left == 0 || own.are_enough();
        if is_over || board.stop.is_due_after_step() {
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
        let better = better.filter(|new| own.grows(board, index, new));
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

/// The yield that each running job has by the decision so far; looked at when it is first asked for.
#[derive(Default)]
struct OwnYields {
    known: Option<Vec<(JobId, Yield)>>,
    /// How many were looked at.
    looks: u32,
    /// How many of them would not have grown by enough.
    refused: u32,
}

impl OwnYields {
    fn are_enough(&self) -> bool {
        self.looks >= MOST_LOOKS || self.refused >= MOST_REFUSED
    }

    /// Whether that of the job would grow by enough there; if so it is there from now on. By its age it may have all
    /// it needs where there is much load, or little more where there is less: equal shares do not tell.
    fn grows(&mut self, board: &Board<'_>, index: usize, new: &Mapping) -> bool {
        if board.policy.optimisation != Optimisation::VirtualTime {
            return true;
        }
        let job = board.cluster.jobs[index].id;
        let known = self
            .known
            .get_or_insert_with(|| yields(board, &board.target));
        let enough = GAIN * share_of(known, job);
        if enough >= 1.0 {
            return false;
        }
        self.looks += 1;
        let mut there = board.target.clone();
        there.set(index, Fate::Goes(new.clone(), Reason::LessLoad));
        let after = yields(board, &there);
        let grows = share_of(&after, job) > enough;
        if grows {
            self.known = Some(after);
        } else {
            self.refused += 1;
        }
        grows
    }
}

/// The yields of all that would run, ascending by job.
fn yields(board: &Board<'_>, target: &Target) -> Vec<(JobId, Yield)> {
    let placed = board.roster.placed(target);
    yields_of_placed(board.policy, board.cluster, board.now, &placed)
}

fn share_of(yields: &[(JobId, Yield)], job: JobId) -> f64 {
    let place = yields.binary_search_by_key(&job, |(other, _)| *other);
    place.map_or(0.0, |place| yields[place].1.0)
}

/// One over the load of the fullest of these nodes, at most 1.
fn equal_share(board: &Board<'_>, mapping: &Mapping) -> f64 {
    1.0 / slowness(&board.usage, mapping)
}
