//! What the journal shall say of a job: where it has a place, and what it gave up.

use serde::{Deserialize, Serialize};

use super::Life;
use super::leaving::Next;
use super::phase::LifePhase;
use super::requeued::Requeued;
use super::starting::Starting;
use crate::job::placement::NamedPlacement;
use crate::slurm::observation::Observation;
use crate::slurm::records::{ObservedJob, ObservedState};

/// What the journal says of a job so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum JournalState {
    /// Nothing.
    #[default]
    Unknown,
    /// Submitted.
    Waiting,
    /// Has a place.
    Placed(NamedPlacement),
    /// Gave up its place.
    Paused,
}

impl Life {
    /// What the journal shall say of `job` after it has said `before`. A requeued job has given its
    /// place up as soon as Slurm counts its memory as free; its nodes become free one by one after
    /// that, and others start there at once. One that moves is shown at its new place from then on,
    /// if that is free too (nothing else is planned there), else as paused.
    #[must_use]
    pub fn journal_state(
        &self,
        job: &ObservedJob,
        before: &JournalState,
        observation: &Observation,
        mut can_move: impl FnMut(&NamedPlacement, &NamedPlacement) -> bool,
    ) -> JournalState {
        let here = || JournalState::Placed(NamedPlacement::of_job(job, observation));
        let waits = || match before {
            JournalState::Paused => JournalState::Paused,
            _ => JournalState::Waiting,
        };
        let mut moves = |to: &NamedPlacement| match before {
            // Others may have come there since it was shown there.
            JournalState::Placed(old) if can_move(old, to) => JournalState::Placed(to.clone()),
            _ => JournalState::Paused,
        };
        match &self.phase {
            // It was resumed by others, and is parked again: its memory is not its own.
            LifePhase::Parking(_)
                if *before == JournalState::Paused && job.state == ObservedState::Suspended =>
            {
                JournalState::Paused
            }
            // It has just started, and Slurm was not looked at since: it is where it was planned.
            LifePhase::Running if job.state == ObservedState::Pending => {
                JournalState::Placed(self.last_place.clone())
            }
            LifePhase::Running
            | LifePhase::Leaving(_)
            | LifePhase::Warned(_)
            | LifePhase::Parking(_) => here(),
            LifePhase::Foreign => before.clone(),
            LifePhase::Unparking(_) if job.is_counted() => here(),
            LifePhase::Unparking(_) | LifePhase::Parked(_) | LifePhase::Paused => {
                JournalState::Paused
            }
            LifePhase::Requeued(Requeued { next, .. }) => match next {
                Next::Move(placement) => moves(placement),
                Next::Pause => JournalState::Paused,
                Next::Restart => waits(),
            },
            LifePhase::Starting(Starting {
                placement, resumes, ..
            }) if *resumes => moves(placement),
            LifePhase::Starting(_) | LifePhase::Waiting => waits(),
        }
    }

    /// Whether the job has the place that Slurm says, and uses it.
    #[must_use]
    pub fn uses_its_allocation(&self) -> bool {
        matches!(
            self.phase,
            LifePhase::Running
                | LifePhase::Leaving(_)
                | LifePhase::Warned(_)
                | LifePhase::Parking(_)
        )
    }
}
