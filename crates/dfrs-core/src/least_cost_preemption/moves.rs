//! Single moves to nodes of less load, instead of a remap of all.

use super::decision_state::DecisionState;
use super::reservation::slowness;
use crate::greedy;
use crate::model::{JobId, Mapping};
use crate::plan::Reason;
use crate::policy::Optimisation;
use crate::target::{Change, Target, can_pause};
use crate::units::Yield;
use crate::yields::yields_of_placed;

/// Jobs with a greater part of their need are left where they are.
const SUFFICIENT_YIELD: f64 = 0.95;

/// By how much the yield must grow, whatever the move costs.
const MIN_GAIN: f64 = 1.25;

/// After so many looks at the yields that all would have the others wait for the next period, and
/// after so many of these that found too little, too: each costs as much as all jobs that run.
const MAX_EVALUATIONS: u32 = 256;
const MAX_REJECTIONS: u32 = 64;

/// How many times its cost a move must save, if the job runs as long as it has.
const MIN_RETURN: f64 = 2.0;

/// Moves jobs that can go on anywhere to where Greedy would put them, one after the other, the
/// lowest yield first, if that is worth its cost: if the yield grows by a quarter, and as much
/// virtual time as the job has had would take it at least twice the penalty less. Yields are those
/// of equal shares: one over the load of the fullest of its nodes. Where CPU is shared by virtual
/// time its own yield must grow by a quarter, too. Returns whether any moved. O(runs), O(nodes +
/// tasks log tasks) for each job that might move, and O((nodes + runs) log nodes) for each that
/// would by equal shares.
pub(super) fn move_single_jobs(state: &mut DecisionState<'_>) -> bool {
    let (policy, cluster) = (state.question.policy, state.question.cluster);
    let cost = MIN_RETURN * policy.settings.penalty.seconds();
    let running = state.question.roster.running_at();
    let mut overloaded: Vec<(u64, usize)> = running
        .filter(|(index, job)| {
            job.moves_freely()
                && state.target.stays(*index)
                && !policy.protects(job, state.question.now)
                && can_pause(state.question, &state.swap, job)
        })
        .filter_map(|(index, job)| {
            let share = equal_share(state, job.running_on()?);
            (share < SUFFICIENT_YIELD).then_some((share.to_bits(), index))
        })
        .collect();
    overloaded.sort_unstable();
    let moves_before = state.moves_left;
    let mut own = OwnYields::default();
    for (_, index) in overloaded {
        let is_over = state.moves_left == 0 || own.is_exhausted();
        if is_over || state.question.stop.is_due_after_step() {
            break;
        }
        let job = &cluster.jobs[index];
        let Some(old) = job.running_on() else {
            continue;
        };
        let before = equal_share(state, old);
        let virtual_time = job.virtual_time.seconds();
        let saves = |after: f64| virtual_time * (1.0 / before - 1.0 / after);
        // Not even nodes of its own would make up for the move.
        if before >= SUFFICIENT_YIELD || saves(1.0) <= cost {
            continue;
        }
        state.usage.remove(job, old);
        let found = greedy::place(cluster, &state.usage, job).filter(|new| new != old);
        let better = found.filter(|new| {
            state.usage.add(job, new);
            let after = equal_share(state, new);
            state.usage.remove(job, new);
            after > before * MIN_GAIN && saves(after) > cost
        });
        let better = better.filter(|new| own.grows(state, index, new));
        match better {
            Some(new) => {
                state.usage.add(job, &new);
                state.moves_left -= 1;
                state.target.set(index, Change::Goes(new, Reason::LessLoad));
            }
            None => state.usage.add(job, old),
        }
    }
    state.moves_left < moves_before
}

/// The yield that each running job has by the decision so far; computed when first needed.
#[derive(Default)]
struct OwnYields {
    known: Option<Vec<(JobId, Yield)>>,
    /// How many were looked at.
    evaluations: u32,
    /// How many of them would not have grown by enough.
    rejections: u32,
}

impl OwnYields {
    fn is_exhausted(&self) -> bool {
        self.evaluations >= MAX_EVALUATIONS || self.rejections >= MAX_REJECTIONS
    }

    /// Whether the yield of the job would grow by enough there; if so it is there from now on. By
    /// its age the job may have all it needs where there is much load, or little more where there
    /// is less: equal shares do not show that.
    fn grows(&mut self, state: &DecisionState<'_>, index: usize, new: &Mapping) -> bool {
        if state.question.policy.optimisation != Optimisation::VirtualTime {
            return true;
        }
        let job = state.question.cluster.jobs[index].id;
        let known = self
            .known
            .get_or_insert_with(|| yields(state, &state.target));
        let enough = MIN_GAIN * share_of(known, job);
        if enough >= 1.0 {
            return false;
        }
        self.evaluations += 1;
        let mut there = state.target.clone();
        there.set(index, Change::Goes(new.clone(), Reason::LessLoad));
        let after = yields(state, &there);
        let grows = share_of(&after, job) > enough;
        if grows {
            self.known = Some(after);
        } else {
            self.rejections += 1;
        }
        grows
    }
}

/// The yields of all that would run, ascending by job.
fn yields(state: &DecisionState<'_>, target: &Target) -> Vec<(JobId, Yield)> {
    let question = state.question;
    let placed = question.roster.placed(target);
    yields_of_placed(question.policy, question.cluster, question.now, &placed)
}

fn share_of(yields: &[(JobId, Yield)], job: JobId) -> f64 {
    let place = yields.binary_search_by_key(&job, |(other, _)| *other);
    place.map_or(0.0, |place| yields[place].1.0)
}

/// One over the load of the fullest of these nodes, at most 1.
fn equal_share(state: &DecisionState<'_>, mapping: &Mapping) -> f64 {
    1.0 / slowness(&state.usage, mapping)
}
