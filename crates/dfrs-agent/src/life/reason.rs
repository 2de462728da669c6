//! What squeue shows as the reason of a job that waits.

use dfrs_core::Blocked;

use super::Life;
use super::leaving::Next;
use super::phase::Phase;
use super::requeued::Requeued;
use crate::cluster::memory_request;
use crate::observation::{Observation, ObservedJob};

const SUSPENDED: &str = "DFRS: suspended by an operator, who can resume it";
const CALLED_BACK: &str =
    "DFRS: resumed by an operator; comes back as soon as its memory is free, before all others";

impl Life {
    /// The text for `job`, with what the last decision said about it; `None`: Slurm's own.
    #[must_use]
    pub fn reason(
        &self,
        job: &ObservedJob,
        blocked: Option<Blocked>,
        observation: &Observation,
    ) -> Option<String> {
        let why = || blocked_text(job, blocked, observation);
        if job.is_suspended_by_operator() {
            return Some(SUSPENDED.to_owned());
        }
        let text = match &self.phase {
            Phase::Starting(_) => "DFRS: starts as soon as its memory is free".to_owned(),
            Phase::Waiting => waiting(job, blocked, observation)?,
            Phase::Paused => format!("DFRS: paused after its checkpoint; {}", why()),
            Phase::Requeued(Requeued { next, .. }) => match next {
                Next::Restart => "DFRS: was requeued, starts again".to_owned(),
                Next::Move(_) => "DFRS: moves to other nodes".to_owned(),
                Next::Pause => "DFRS: pausing".to_owned(),
            },
            Phase::Parked(parked) if parked.called_back => CALLED_BACK.to_owned(),
            Phase::Parked(_) => format!("DFRS: parked; {}", why()),
            Phase::Parking(_) => "DFRS: being parked".to_owned(),
            Phase::Unparking(_) => "DFRS: resumes as soon as its memory is free".to_owned(),
            Phase::Running | Phase::Leaving(_) | Phase::Warned(_) | Phase::Foreign => return None,
        };
        Some(text)
    }
}

fn blocked_text(job: &ObservedJob, blocked: Option<Blocked>, observation: &Observation) -> String {
    blocked.map_or_else(
        || "waits for its turn".to_owned(),
        |why| phrase(job, why, observation),
    )
}

fn waiting(
    job: &ObservedJob,
    blocked: Option<Blocked>,
    observation: &Observation,
) -> Option<String> {
    if let Some(what) = job.special {
        return Some(format!("DFRS: does not start jobs that ask for {what}"));
    }
    blocked.map(|why| format!("DFRS: {}", phrase(job, why, observation)))
}

fn phrase(job: &ObservedJob, why: Blocked, observation: &Observation) -> String {
    match why {
        Blocked::NeverFits => format!("can never start: {}", too_large(job, observation)),
        Blocked::Memory => format!("waits for memory ({})", request(job, observation)),
        Blocked::OwnNodesFull => format!(
            "waits for memory on its own nodes ({})",
            request(job, observation)
        ),
        Blocked::NodesUnavailable => "its nodes are down or draining".to_owned(),
        _ => "waits for the next decision".to_owned(),
    }
}

fn request(job: &ObservedJob, observation: &Observation) -> String {
    let (task, node) = memory_request(job, observation);
    let (amount, of) = if task.0 > 0 {
        (task.0, "task")
    } else {
        (node.0, "node")
    };
    format!(
        "{} MB a {of}, {} {}",
        amount >> 20,
        job.tasks,
        if job.tasks == 1 { "task" } else { "tasks" }
    )
}

fn too_large(job: &ObservedJob, observation: &Observation) -> String {
    format!(
        "asks for {}, the largest node has {} MB",
        request(job, observation),
        observation.largest_memory()
    )
}
