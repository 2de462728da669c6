//! The next step of a job that is on its way, and what its outcome means. Pure: the agent performs
//! the steps. One step a pass, each behind the condition that makes it safe, each phase with a
//! limit in time: a step that cannot be done drops the plan, not the job.

use dfrs_core::{Mobility, Span, Time};

use crate::cluster::memory_on_node;
use crate::ledger::{Next, Phase, Record};
use crate::observation::{Observation, ObservedJob, ObservedState};
use crate::placement::Placement;

/// One thing to ask of Slurm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Start the pending job here.
    Start(Placement),
    /// Suspend the running job.
    Suspend,
    /// Take the suspended job's memory out of Slurm's accounting.
    ReleaseMemory,
    /// Put it back, if it fits.
    ClaimMemory(Vec<u64>),
    /// Let the suspended job run on.
    Resume,
    /// Send the job its warning signal.
    Warn,
    /// Requeue the running job.
    Requeue,
    /// Let the requeued job start before Slurm's own delay has passed.
    ClearBeginTime,
    /// Give up what is under way; why.
    Abandon(&'static str),
}

/// What a step depends on beside the job itself.
pub struct Conditions {
    /// Now.
    pub now: Time,
    /// All nodes of the job say that it is frozen and its memory is in swap.
    pub parked_on_nodes: bool,
    /// The job's mobility.
    pub mobility: Mobility,
    /// Longest time between warning signal and requeue.
    pub checkpoint_wait: Span,
    /// Longest time that parking may take.
    pub park_timeout: Span,
}

/// A start or a resume whose memory does not become free for so long is planned anew.
const ROOM_TIMEOUT: Span = Span(120_000_000);
/// What was abandoned is not tried again for so long.
const RETRY_AFTER: Span = Span(15_000_000);
/// A start that Slurm refused (a node is still busy with an ended job, for one) is planned anew soon.
const START_AGAIN_AFTER: Span = Span(2_000_000);
const SECOND: i64 = 1_000_000;

/// The next step of `job`, or `None` while it has to wait or has nothing under way.
#[must_use]
pub fn next_step(
    record: &Record,
    job: &ObservedJob,
    observation: &Observation,
    conditions: &Conditions,
) -> Option<Step> {
    if record.not_before > conditions.now {
        return None;
    }
    match &record.phase {
        Phase::Starting {
            placement, since, ..
        } => starting(placement, *since, job, observation, conditions),
        Phase::Parking { since } => parking(*since, job, conditions),
        Phase::Unparking { memory, since, .. } => {
            unparking(memory, *since, job, observation, conditions)
        }
        Phase::Leaving { .. } if job.configuring => None,
        Phase::Leaving { .. } if conditions.mobility == Mobility::Restart => Some(Step::Requeue),
        Phase::Leaving { .. } => Some(Step::Warn),
        Phase::Warned { since, .. } => has_passed(
            *since,
            notice(job, conditions.checkpoint_wait),
            conditions.now,
        )
        .then_some(Step::Requeue),
        Phase::Requeued { gone, .. } => gone.then_some(Step::ClearBeginTime),
        Phase::Parked { memory, .. } if job.state == ObservedState::Running => {
            Some(resumed_by_others(memory, job, observation))
        }
        // slurmctld ended before it had saved that the memory was released.
        Phase::Parked { .. } if job.state == ObservedState::Suspended && job.is_counted() => {
            Some(Step::ReleaseMemory)
        }
        Phase::Waiting | Phase::Running | Phase::Parked { .. } | Phase::Paused | Phase::Foreign => {
            None
        }
    }
}

fn starting(
    placement: &Placement,
    since: Time,
    job: &ObservedJob,
    observation: &Observation,
    conditions: &Conditions,
) -> Option<Step> {
    if job.state != ObservedState::Pending {
        return None;
    }
    if can_restart(job) && has_room(placement, job, observation) {
        return Some(Step::Start(placement.clone()));
    }
    has_passed(since, ROOM_TIMEOUT, conditions.now)
        .then_some(Step::Abandon("the memory of its nodes did not become free"))
}

fn parking(since: Time, job: &ObservedJob, conditions: &Conditions) -> Option<Step> {
    match job.state {
        ObservedState::Running if job.configuring => None,
        ObservedState::Running => Some(Step::Suspend),
        ObservedState::Suspended if conditions.parked_on_nodes => Some(Step::ReleaseMemory),
        ObservedState::Suspended => has_passed(since, conditions.park_timeout, conditions.now)
            .then_some(Step::Abandon(
                "its nodes did not move its memory to swap in time",
            )),
        ObservedState::Pending | ObservedState::Ended => None,
    }
}

fn unparking(
    memory: &[u64],
    since: Time,
    job: &ObservedJob,
    observation: &Observation,
    conditions: &Conditions,
) -> Option<Step> {
    if job.is_counted() {
        return (job.state == ObservedState::Suspended).then_some(Step::Resume);
    }
    if job.state == ObservedState::Running {
        return Some(resumed_by_others(memory, job, observation));
    }
    if fits_again(memory, job, observation) {
        return Some(Step::ClaimMemory(memory.to_vec()));
    }
    has_passed(since, ROOM_TIMEOUT, conditions.now)
        .then_some(Step::Abandon("the memory of its nodes did not become free"))
}

/// Somebody resumed a parked job: it may run on if its memory fits, else it is stopped again.
fn resumed_by_others(memory: &[u64], job: &ObservedJob, observation: &Observation) -> Step {
    if fits_again(memory, job, observation) {
        Step::ClaimMemory(memory.to_vec())
    } else {
        Step::Suspend
    }
}

fn fits_again(memory: &[u64], job: &ObservedJob, observation: &Observation) -> bool {
    job.places
        .iter()
        .zip(memory)
        .all(|(place, needed)| free_memory(place.node, observation) >= *needed)
}

/// What the user asked for with `--signal=…@seconds`, within the site's limit.
fn notice(job: &ObservedJob, limit: Span) -> Span {
    if job.warn_seconds == 0 {
        limit
    } else {
        limit.min(Span(i64::from(job.warn_seconds) * SECOND))
    }
}

/// Nothing of an earlier run is left.
#[must_use]
pub fn can_restart(job: &ObservedJob) -> bool {
    job.state == ObservedState::Pending && !job.completing && !job.steps_alive
}

/// Whether every node of `placement` has the memory that `job` needs there, processes that are
/// still ending included.
fn has_room(placement: &Placement, job: &ObservedJob, observation: &Observation) -> bool {
    placement.0.iter().all(|spot| {
        let position = observation.position_of(&spot.node);
        position.is_some_and(|position| {
            observation.nodes()[position].up
                && observation.free_memory(position) >= memory_on_node(job, spot.tasks, observation)
        })
    })
}

/// MiB that are free on the node with this Slurm index.
fn free_memory(index: u32, observation: &Observation) -> u64 {
    let position = observation.node_position(index);
    position.map_or(0, |position| observation.free_memory(position))
}

fn has_passed(since: Time, limit: Span, now: Time) -> bool {
    now.0 - since.0 >= limit.0
}

/// How a step ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Slurm did it.
    Done,
    /// Slurm released this memory, MiB per node in its order.
    Released(Vec<u64>),
    /// Nothing is wrong, but it is too early.
    NotYet,
    /// Something else than resources keeps the job from starting now (a throttle, a limit).
    Gated,
    /// Slurm refused.
    Refused,
}

/// What the outcome of a step means for the record. `placement` is where Slurm has the job.
pub fn settle(record: &mut Record, step: &Step, outcome: Outcome, placement: Placement, now: Time) {
    let phase = record.phase.clone();
    match (step, outcome, phase) {
        (_, Outcome::NotYet, _) => {}
        (Step::Abandon(_), ..) => abandon(record, placement, now),
        (_, Outcome::Gated, phase) => not_started(record, &phase),
        (_, Outcome::Refused, phase) => refused(record, step, &phase, now),
        (Step::Start(_) | Step::Resume, ..) | (Step::ClaimMemory(_), _, Phase::Parked { .. }) => {
            record.phase = Phase::Running;
        }
        (Step::ReleaseMemory, Outcome::Released(memory), phase) => {
            if matches!(phase, Phase::Parking { .. }) {
                record.count_move(now);
            }
            record.phase = Phase::Parked { placement, memory };
        }
        (Step::Warn, _, Phase::Leaving { next }) => {
            record.phase = Phase::Warned { next, since: now }
        }
        (Step::Requeue, _, Phase::Leaving { next } | Phase::Warned { next, .. }) => {
            record.phase = Phase::Requeued { next, gone: false };
        }
        (Step::ClearBeginTime, _, Phase::Requeued { next, .. }) => arrive(record, next, now),
        _ => {}
    }
}

/// The requeued job has left: it waits, or it goes where it was to move.
fn arrive(record: &mut Record, next: Next, now: Time) {
    if !matches!(next, Next::Restart) {
        record.count_move(now);
    }
    match next {
        Next::Pause => {
            record.phase = Phase::Paused;
        }
        Next::Restart => {
            record.virtual_time = Span(0);
            record.phase = Phase::Waiting;
        }
        Next::Move(placement) => {
            record.phase = Phase::Starting {
                placement,
                since: now,
                resumes: true,
            };
        }
    }
}

/// A job that cannot be paused runs on; one that cannot start waits; the rest is tried again.
fn refused(record: &mut Record, step: &Step, phase: &Phase, now: Time) {
    record.not_before = Time(now.0 + RETRY_AFTER.0);
    match (step, phase) {
        (Step::Start(_), _) => {
            record.not_before = Time(now.0 + START_AGAIN_AFTER.0);
            not_started(record, phase);
        }
        (Step::Suspend, Phase::Parking { .. }) | (Step::Warn | Step::Requeue, _) => {
            record.failed_pauses += 1;
            record.phase = Phase::Running;
        }
        _ => record.not_before = Time(now.0 + SECOND),
    }
}

/// The job waits again, as it did before.
fn not_started(record: &mut Record, phase: &Phase) {
    let resumes = matches!(phase, Phase::Starting { resumes: true, .. });
    record.phase = if resumes {
        Phase::Paused
    } else {
        Phase::Waiting
    };
}

fn abandon(record: &mut Record, placement: Placement, now: Time) {
    record.not_before = Time(now.0 + RETRY_AFTER.0);
    match record.phase.clone() {
        Phase::Starting { .. } => not_started(record, &record.phase.clone()),
        Phase::Unparking {
            placement, memory, ..
        } => record.phase = Phase::Parked { placement, memory },
        Phase::Parking { .. } => {
            // Its memory was never released, so it comes back at once. It cost the job time all the same.
            record.count_move(now);
            record.failed_pauses += 1;
            record.not_before = now;
            record.phase = Phase::Unparking {
                placement,
                memory: Vec::new(),
                since: now,
            };
        }
        _ => {}
    }
}
