//! The decision: which algorithm acts when (TPDS, Section 4.4).

use crate::decision::Decision;
use crate::drain;
use crate::events::{Events, Stage};
use crate::least_cost_preemption;
use crate::policy::{Policy, Submission};
use crate::preempt::{self, GreedyState};
use crate::question::Question;
use crate::remap::{remap, remap_periodically};
use crate::roster::Roster;
use crate::staged_changes::{NetChanges, StagedChanges};
use crate::stop::{Stop, Stopped};
use crate::target::{Target, waits};
use crate::units::Time;

/// Decides what to do now about everything that happened. Pure: same arguments, same decision. The
/// roster is as before afterwards, until the decision is adopted.
///
/// What happened is decided about stage by stage, each on what those before have left: first room
/// that jobs or nodes gave back, then the submissions in their order, then the period. A remap of
/// all jobs is not repeated within a decision: of several submissions under MCB8 the last one
/// speaks for all, and the period for everything. What the stages come to together is the decision:
/// a job that one of them paused and another brought back to its place does not change at all, and
/// elsewhere it migrates.
///
/// A submission of a job that is not waiting, or not known, changes nothing but yields, unless the
/// policy remaps at submissions (MCB8). The budget of moves is that of the whole decision.
///
/// The cluster's jobs must be ascending by identity and its mappings within its nodes
/// ([`crate::check::check_cluster`] says whether they are); otherwise the decision is of no use,
/// though nothing panics.
///
/// Cost: Greedy takes O(nodes + tasks log tasks) for each job that may fit; GreedyP and GreedyPM
/// look again at the nodes of each job that is preempted. MCB8 is near-linear in nodes plus jobs
/// for each of at most 9 yields, and that again for each job that it drops. Waiting jobs with the
/// same demand are looked at one by one only where there is room.
pub fn decide<'a>(
    policy: &'a Policy,
    roster: &'a mut Roster,
    now: Time,
    events: &Events,
) -> Decision<'a> {
    let outcome = outcome(policy, roster, now, events, &Stop::never());
    Decision::new(policy, roster, now, outcome)
}

/// As [`decide`], but ended as soon as `may_go_on` returns no. It is called now and then: before
/// each stage, before each packing of all jobs, and once for some dozens of jobs that are placed
/// one by one; not while the decision is read. The same results of `may_go_on` give the same
/// decision.
///
/// # Errors
///
/// `may_go_on` said no. The roster is as before.
pub fn decide_while<'a>(
    policy: &'a Policy,
    roster: &'a mut Roster,
    now: Time,
    events: &Events,
    may_go_on: &dyn Fn() -> bool,
) -> Result<Decision<'a>, Stopped> {
    let stop = Stop::unless(may_go_on);
    let outcome = outcome(policy, roster, now, events, &stop);
    if stop.was_due() {
        return Err(Stopped);
    }
    Ok(Decision::new(policy, roster, now, outcome))
}

/// What all stages come to together; those before it was to stop, if it was. The roster is as
/// before.
fn outcome(
    policy: &Policy,
    roster: &mut Roster,
    now: Time,
    events: &Events,
    stop: &Stop<'_>,
) -> NetChanges {
    let mut course = StagedChanges::default();
    let mut greedy_state = None;
    for stage in Stage::of(policy, events) {
        course.proceed(roster);
        let left = with_budget_left(policy, course.moves());
        let question = Question {
            policy: left.as_ref().unwrap_or(policy),
            roster,
            cluster: roster.cluster(),
            now,
            stop,
        };
        let target = target(question, stage, &mut greedy_state);
        if stop.is_due() {
            break;
        }
        course.append(target);
    }
    course.finish(roster)
}

/// The policy with its budget reduced to what so many moves leave of it; `None` if the budget is
/// unchanged.
fn with_budget_left(policy: &Policy, moves: usize) -> Option<Policy> {
    let max_moves = policy.settings.budget.moves_per_decision?;
    let mut left = policy.clone();
    let moves = u32::try_from(moves).unwrap_or(u32::MAX);
    left.settings.budget.moves_per_decision = Some(max_moves.saturating_sub(moves));
    Some(left)
}

/// Where every job shall be after this stage. `greedy_state` is what the stages before have found
/// out.
fn target(question: Question<'_>, stage: Stage, greedy_state: &mut Option<GreedyState>) -> Target {
    let (policy, roster, cluster) = (question.policy, question.roster, question.cluster);
    let new_state = || GreedyState::of(policy, roster);
    let remapped = || preempt::fill(question, remap(question));
    match stage {
        Stage::Submission(id) => match (policy.submission, cluster.position(id)) {
            (Submission::Mcb8, _) => remapped(),
            (Submission::Greedy | Submission::GreedyP | Submission::GreedyPM, Some(index))
                if waits(&cluster.jobs[index]) =>
            {
                let greedy_state = greedy_state.get_or_insert_with(new_state);
                preempt::submit(question, index, greedy_state)
            }
            _ => Target::default(),
        },
        Stage::Room => match policy.submission {
            Submission::LeastCostPreemption | Submission::Reserving => {
                least_cost_preemption::decide(question, stage)
            }
            Submission::Mcb8 if policy.opportunistic => remapped(),
            _ if policy.opportunistic && roster.has_waiting() => {
                let greedy_state = greedy_state.get_or_insert_with(new_state);
                preempt::start_waiting(question, greedy_state)
            }
            _ => Target::default(),
        },
        // What it changes is not known to what was found out before; but it comes last.
        Stage::Period if policy.weighs_moves() => {
            let target = least_cost_preemption::decide(question, stage);
            drain::leave(question, target)
        }
        Stage::Period => {
            let target = preempt::fill(question, remap_periodically(question));
            drain::leave(question, target)
        }
    }
}
