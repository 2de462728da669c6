//! What the core is to decide about: a job with something under way is as it will be when that has
//! finished.

use dfrs_core::JobState;

use super::Life;
use super::event::Look;
use super::leaving::{Leaving, Next, Warned};
use super::parked::Parked;
use super::phase::Phase;
use super::requeued::Requeued;
use super::starting::Starting;
use super::unparking::Unparking;
use crate::observation::ObservedState;
use crate::placement::Placement;

impl Life {
    /// The state that the core shall see, or `None` if the job is not DFRS's to decide about now.
    /// `is_ready`: it may start as far as everything but resources is concerned.
    #[must_use]
    pub fn planned(&self, look: &Look, is_ready: bool) -> Option<JobState> {
        let running = |placement: &Placement| {
            placement
                .to_mapping(look.observation)
                .map(JobState::Running)
        };
        let parked =
            |placement: &Placement| placement.to_mapping(look.observation).map(JobState::Parked);
        let here = || Placement::of_job(look.job, look.observation);
        let if_ready = |state| (is_ready && !self.is_held_off(look.now)).then_some(state);
        match &self.phase {
            Phase::Waiting => if_ready(JobState::Pending),
            Phase::Paused => if_ready(JobState::Paused),
            Phase::Running => running(&here()),
            Phase::Parking(_) => parked(&here()),
            Phase::Parked(Parked { placement, .. }) if !self.is_undecided(look.job) => {
                parked(placement)
            }
            Phase::Starting(Starting { placement, .. })
            | Phase::Unparking(Unparking { placement, .. }) => running(placement),
            Phase::Leaving(Leaving { next })
            | Phase::Warned(Warned { next, .. })
            | Phase::Requeued(Requeued { next, .. }) => match next {
                Next::Pause => Some(JobState::Paused),
                Next::Restart => Some(JobState::Pending),
                Next::Move(placement) => running(placement),
            },
            Phase::Parked(_) | Phase::Foreign => None,
        }
    }

    /// Whether the job can use CPU at this moment.
    #[must_use]
    pub fn uses_cpu(&self, look: &Look) -> bool {
        let is_frozen = matches!(self.phase, Phase::Parking(_) | Phase::Parked(_));
        look.job.state == ObservedState::Running && !is_frozen
    }
}
