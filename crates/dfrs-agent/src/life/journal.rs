//! What the journal shall say of a job: where it has a place, and what it gave up.

use serde::{Deserialize, Serialize};

use super::Life;
use super::leaving::Next;
use super::phase::Phase;
use super::requeued::Requeued;
use super::starting::Starting;
use crate::live_journal::MemoryShown;
use crate::observation::{Observation, ObservedJob, ObservedState};
use crate::placement::Placement;

/// What the journal says of a job so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Shown {
    /// Nothing.
    #[default]
    Unknown,
    /// Submitted.
    Waiting,
    /// Has a place.
    Placed(Placement),
    /// Gave up its place.
    Paused,
}

impl Life {
    /// What the journal shall say of `job` after it has said `before`. A requeued job has given its
    /// place up as soon as Slurm counts its memory as free; its nodes become free one by one after
    /// that, and others start there at once. One that moves is shown at its new place from then on,
    /// if that is free too (nothing else is planned there), else as paused.
    #[must_use]
    pub fn shown(
        &self,
        job: &ObservedJob,
        before: &Shown,
        observation: &Observation,
        memory: &mut MemoryShown,
    ) -> Shown {
        let here = || Shown::Placed(Placement::of_job(job, observation));
        let waits = || match before {
            Shown::Paused => Shown::Paused,
            _ => Shown::Waiting,
        };
        let mut moves = |to: &Placement| match before {
            // Others may have come there since it was shown there.
            Shown::Placed(old) if memory.moves(job, old, to) => Shown::Placed(to.clone()),
            _ => Shown::Paused,
        };
        match &self.phase {
            // It was resumed by others, and is parked again: its memory is not its own.
            Phase::Parking(_)
                if *before == Shown::Paused && job.state == ObservedState::Suspended =>
            {
                Shown::Paused
            }
            Phase::Running | Phase::Leaving(_) | Phase::Warned(_) | Phase::Parking(_) => here(),
            Phase::Foreign => before.clone(),
            Phase::Unparking(_) if job.is_counted() => here(),
            Phase::Unparking(_) | Phase::Parked(_) | Phase::Paused => Shown::Paused,
            Phase::Requeued(Requeued { next, .. }) => match next {
                Next::Move(placement) => moves(placement),
                Next::Pause => Shown::Paused,
                Next::Restart => waits(),
            },
            Phase::Starting(Starting {
                placement, resumes, ..
            }) if *resumes => moves(placement),
            Phase::Starting(_) | Phase::Waiting => waits(),
        }
    }

    /// Whether the job has the place that Slurm says, and uses it.
    #[must_use]
    pub fn is_where_slurm_says(&self) -> bool {
        matches!(
            self.phase,
            Phase::Running | Phase::Leaving(_) | Phase::Warned(_) | Phase::Parking(_)
        )
    }
}
