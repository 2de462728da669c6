//! Brings the ledger in line with what Slurm shows: Slurm is right about what is, the ledger about
//! what was meant.

use std::collections::BTreeSet;

use dfrs_core::{Mobility, Time, Yield};

use crate::cluster::memory_on_node;
use crate::ledger::{Ledger, Next, Phase, Record};
use crate::mobility::mobility;
use crate::observation::{Observation, ObservedJob, ObservedState, Place};
use crate::placement::Placement;
use dfrs_proto::conf::Config;

/// What changed since the last pass, as far as it may change decisions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// Jobs that were there and are over now.
    pub ended: Vec<(u32, Record)>,
    /// Somewhere a place became free by other ways than DFRS's own.
    pub freed: bool,
    /// Jobs that Slurm took from their nodes without ending them there: it takes a node for down whose
    /// slurmd may still be at work.
    pub left_behind: Vec<u32>,
}

/// Updates the records of these jobs, which Slurm shows as different from what they were; virtual times
/// are counted up to `now` already. O(log jobs) for each.
pub fn sync(
    ledger: &mut Ledger,
    observation: &Observation,
    jobs: &BTreeSet<u32>,
    config: &Config,
    now: Time,
) -> Changes {
    let mut changes = Changes::default();
    for id in jobs {
        let alive = observation
            .job(*id)
            .filter(|job| job.state != ObservedState::Ended);
        match alive {
            Some(job) => sync_job(ledger, job, observation, config, now, &mut changes),
            None => forget(ledger, *id, &mut changes),
        }
    }
    changes
}

/// Drops the record of a job that is over.
fn forget(ledger: &mut Ledger, id: u32, changes: &mut Changes) {
    if let Some(record) = ledger.remove(id) {
        changes.ended.push((id, record));
        changes.freed = true;
    }
}

fn sync_job(
    ledger: &mut Ledger,
    job: &ObservedJob,
    observation: &Observation,
    config: &Config,
    now: Time,
    changes: &mut Changes,
) {
    if job.array_master {
        return;
    }
    let known = ledger
        .get_mut(job.id)
        .filter(|record| record.is_about(job.submit_time, job.restarts));
    let Some(record) = known else {
        let record = Record::new(job.submit_time, now, first_phase(job, observation));
        ledger.insert(
            job.id,
            Record {
                restarts: job.restarts,
                ..record
            },
        );
        return;
    };
    record.shown_submit_time = job.submit_time;
    record.restarts = job.restarts;
    let had_place = matches!(record.phase, Phase::Running);
    let phase = next_phase(record, job, config);
    if let Some(phase) = phase {
        let was_ended =
            job.completing || matches!(record.phase, Phase::Warned { .. } | Phase::Requeued { .. });
        if matches!(phase, Phase::Requeued { .. }) && !was_ended {
            changes.left_behind.push(job.id);
        }
        changes.freed |= had_place;
        record.phase = phase;
    }
    if matches!(job.state, ObservedState::Running | ObservedState::Suspended) {
        record.last_place = Placement::of_job(job, observation);
    }
    if job.state != ObservedState::Running {
        record.share = Yield(0.0);
    }
}

/// The phase of a job that the ledger does not know: it is new, or the ledger was lost.
fn first_phase(job: &ObservedJob, observation: &Observation) -> Phase {
    match job.state {
        ObservedState::Pending | ObservedState::Ended => Phase::Waiting,
        ObservedState::Running => Phase::Running,
        // Only DFRS takes a suspended job's memory out of Slurm's accounting.
        ObservedState::Suspended if job.is_counted() => Phase::Foreign,
        ObservedState::Suspended => {
            let (placement, memory) = what_it_holds(job, observation);
            Phase::Parked { placement, memory }
        }
    }
}

/// Where a job is, and the MiB that it needs on each node there, in Slurm's order.
pub fn what_it_holds(job: &ObservedJob, observation: &Observation) -> (Placement, Vec<u64>) {
    let needs = |place: &Place| memory_on_node(job, place.tasks, observation);
    let memory = job.places.iter().map(needs).collect();
    (Placement::of_job(job, observation), memory)
}

/// What a job does after it has lost its place without DFRS's doing.
pub fn after_loss(job: &ObservedJob, config: &Config) -> Next {
    if mobility(job, config) == Mobility::Checkpoint {
        Next::Pause
    } else {
        Next::Restart
    }
}

/// The phase that follows from what Slurm shows, if it is another one.
fn next_phase(record: &Record, job: &ObservedJob, config: &Config) -> Option<Phase> {
    match (&record.phase, job.state) {
        (
            Phase::Waiting
            | Phase::Paused
            | Phase::Starting { .. }
            | Phase::Requeued { .. }
            | Phase::Foreign,
            ObservedState::Running,
        ) => Some(Phase::Running),
        // Somebody else resumed it.
        (Phase::Unparking { .. }, ObservedState::Running) if job.is_counted() => {
            Some(Phase::Running)
        }
        (
            Phase::Waiting
            | Phase::Paused
            | Phase::Running
            | Phase::Leaving { .. }
            | Phase::Warned { .. },
            ObservedState::Suspended,
        ) => Some(Phase::Foreign),
        (Phase::Warned { next, .. }, ObservedState::Pending) => Some(Phase::Requeued {
            next: next.clone(),
            gone: false,
        }),
        (Phase::Requeued { next, gone: false }, ObservedState::Pending) if !job.completing => {
            Some(Phase::Requeued {
                next: next.clone(),
                gone: true,
            })
        }
        (
            Phase::Running
            | Phase::Parking { .. }
            | Phase::Parked { .. }
            | Phase::Unparking { .. }
            | Phase::Leaving { .. }
            | Phase::Foreign,
            ObservedState::Pending,
        ) => Some(Phase::Requeued {
            next: after_loss(job, config),
            gone: false,
        }),
        _ => None,
    }
}
