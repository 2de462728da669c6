//! After slurmctld was killed. It keeps its jobs' states every five seconds at most (`SAVE_MAX_WAIT` in
//! state_save.c, 22.05 and 24.11), DFRS its ledger before and after the steps of each pass: what DFRS did
//! last, the nodes have done, and the slurmctld that starts again does not know. Slurm is brought up to
//! the ledger here; at any other time the ledger follows Slurm (`sync`).

use dfrs_core::{Span, Time};

use dfrs_proto::conf::Config;

use crate::ledger::{Ledger, Phase, Record};
use crate::observation::{Observation, ObservedJob, ObservedState};
use crate::sync::{after_loss, what_it_holds};

/// What a node still runs of a job that Slurm shows as waiting, slurmctld ends when the node registers,
/// some seconds after its own start. A job that is started on its old node before that is a second
/// one to slurmd, and Slurm drains the node ("Duplicate jobid").
const LEFT_BEHIND: Span = Span(30_000_000);

/// Changes the phases of jobs of which Slurm has forgotten a start, a suspension or a resumption, so that
/// the usual steps repeat it. Returns a line for the log about each.
pub fn recover(
    ledger: &mut Ledger,
    observation: &Observation,
    config: &Config,
    now: Time,
) -> Vec<String> {
    let mut lines = Vec::new();
    for job in &observation.jobs {
        let known = ledger
            .jobs
            .get_mut(&job.id)
            .filter(|record| record.is_about(job.submit_time, job.restarts));
        let Some(record) = known else { continue };
        let Some((phase, forgotten)) = phase_before(record, job, observation, config, now) else {
            continue;
        };
        if let Phase::Requeued { .. } = phase {
            record.not_before = Time(now.0 + LEFT_BEHIND.0);
            // It is decided about as it was at its submission.
            record.admitted = false;
        }
        record.phase = phase;
        lines.push(format!(
            "job {}: slurmctld was killed before it had kept that the job {forgotten}",
            job.id
        ));
    }
    lines
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
            Phase::Running
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
