//! What the core is to decide about: a job with something under way is as it will be when that has
//! finished.

use dfrs_core::JobState;

use super::Life;
use super::event::JobContext;
use super::leaving::{LeavingPhase, Next, Warned};
use super::parked::Parked;
use super::phase::LifePhase;
use super::requeued::Requeued;
use super::starting::Starting;
use super::unparking::Unparking;
use crate::job::placement::NamedPlacement;
use crate::slurm::records::ObservedState;

impl Life {
    /// The state that the core shall see, or `None` if the job is not DFRS's to decide about now.
    /// `is_ready`: it may start as far as everything but resources is concerned.
    #[must_use]
    pub fn planned(&self, context: &JobContext, is_ready: bool) -> Option<JobState> {
        let mapping = |placement: &NamedPlacement| placement.to_mapping(context.observation);
        let running = |placement| mapping(placement).map(JobState::Running);
        let parked = |placement| mapping(placement).map(JobState::Parked);
        let here = || NamedPlacement::of_job(context.job, context.observation);
        let if_ready = |state| (is_ready && !self.is_held_off(context.now)).then_some(state);
        match &self.phase {
            LifePhase::Waiting => if_ready(JobState::Pending),
            LifePhase::Paused => if_ready(JobState::Paused),
            LifePhase::Running => running(&here()),
            LifePhase::Parking(_) => parked(&here()),
            LifePhase::Parked(Parked { placement, .. }) if !self.is_undecided(context.job) => {
                parked(placement)
            }
            LifePhase::Starting(Starting { placement, .. })
            | LifePhase::Unparking(Unparking { placement, .. }) => running(placement),
            LifePhase::Leaving(LeavingPhase { next })
            | LifePhase::Warned(Warned { next, .. })
            | LifePhase::Requeued(Requeued { next, .. }) => match next {
                Next::Pause => Some(JobState::Paused),
                Next::Restart => Some(JobState::Pending),
                Next::Move(placement) => running(placement),
            },
            LifePhase::Parked(_) | LifePhase::Foreign => None,
        }
    }

    /// Whether the job can use CPU at this moment.
    #[must_use]
    pub fn uses_cpu(&self, context: &JobContext) -> bool {
        let is_frozen = matches!(self.phase, LifePhase::Parking(_) | LifePhase::Parked(_));
        context.job.state == ObservedState::Running && !is_frozen
    }
}
