//! After slurmctld was killed. It keeps its jobs' states every five seconds at most (`SAVE_MAX_WAIT` in
//! state_save.c, 22.05 and 24.11), DFRS its ledger before and after the steps of each pass: what DFRS did
//! last, the nodes have done, and the slurmctld that starts again does not know. Slurm is brought up to
//! the ledger here; at any other time the ledger follows Slurm (`sync`).

use dfrs_core::Time;

use dfrs_proto::conf::Config;

use crate::ledger::{Ledger, Phase, Record};
use crate::observation::{Observation, ObservedJob, ObservedState};
use crate::sync::{after_loss, what_it_holds};

/// What Slurm has forgotten of a job.
#[derive(Debug, PartialEq, Eq)]
pub struct Forgotten {
    /// Slurm's job id.
    pub job: u32,
    /// For the log: "the job …".
    pub what: &'static str,
    /// Nodes may still run it, or remember that they did, while Slurm shows it as waiting.
    pub left_behind: bool,
}

/// Changes the phases of jobs of which Slurm has forgotten a start, a suspension or a resumption, so that
/// the usual steps repeat it. Returns them.
pub fn recover(
    ledger: &mut Ledger,
    observation: &Observation,
    config: &Config,
    now: Time,
) -> Vec<Forgotten> {
    let mut all = Vec::new();
    for job in observation.jobs() {
        let known = ledger
            .get_mut(job.id)
            .filter(|record| record.is_about(job.submit_time, job.restarts));
        let Some(record) = known else { continue };
        let Some((phase, what)) = phase_before(record, job, observation, config, now) else {
            continue;
        };
        if let Phase::Starting { placement, .. } = &record.phase {
            record.last_place = placement.clone();
        }
        let left_behind = matches!(phase, Phase::Requeued { .. });
        if left_behind {
            // It is decided about as it was at its submission.
            record.admitted = false;
        }
        record.phase = phase;
        all.push(Forgotten {
            job: job.id,
            what,
            left_behind,
        });
    }
    all
}

/// The phase from which the usual steps repeat what Slurm has forgotten, and what that is.
fn phase_before(
    record: &Record,
    job: &ObservedJob,
    observation: &Observation,
    config: &Config,
    now: Time,
) -> Option<(Phase, &'static str)> {
    let (placement, memory) = what_it_holds(job, observation);
    match (&record.phase, job.state) {
        (
            Phase::Parking { .. } | Phase::Parked { .. } | Phase::Unparking { .. },
            ObservedState::Running,
        ) => Some((Phase::Parking { since: now }, "was suspended")),
        (Phase::Parking { .. }, ObservedState::Suspended) if !job.is_counted() => {
            Some((Phase::Parked { placement, memory }, "was parked"))
        }
        (
            Phase::Running | Phase::Leaving { .. } | Phase::Warned { .. },
            ObservedState::Suspended,
        ) => {
            let since = now;
            let phase = Phase::Unparking {
                placement,
                memory,
                since,
            };
            Some((phase, "had come back"))
        }
        (
            Phase::Starting { .. }
            | Phase::Running
            | Phase::Parking { .. }
            | Phase::Parked { .. }
            | Phase::Unparking { .. }
            | Phase::Leaving { .. }
            | Phase::Warned { .. },
            ObservedState::Pending,
        ) if job.restarts == record.restarts => {
            let next = after_loss(job, config);
            Some((Phase::Requeued { next, gone: false }, "had started"))
        }
        _ => None,
    }
}
