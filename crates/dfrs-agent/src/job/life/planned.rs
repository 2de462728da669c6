//! What the core is to decide about: a job with something under way is as it will be when that has
//! finished.

use dfrs_core::JobState;

use super::Life;
use super::event::JobContext;
use super::traits::Freezing;
use crate::job::placement::NamedPlacement;
use crate::slurm::records::ObservedState;

impl Life {
    /// The state that the core shall see, or `None` if the job is not DFRS's to decide about now.
    /// `is_ready`: it may start as far as everything but resources is concerned.
    pub fn planned(&self, context: &JobContext, is_ready: bool) -> Option<JobState> {
        if self.is_waiting() && (!is_ready || self.is_held_off(context.now)) {
            return None;
        }
        self.phase.rules().planned(context)
    }

    /// Whether the job can use CPU at this moment.
    pub fn uses_cpu(&self, context: &JobContext) -> bool {
        let is_frozen = matches!(self.traits().freezing, Freezing::Always | Freezing::Image);
        context.job.state == ObservedState::Running && !is_frozen
    }
}

/// A job that runs there, or will.
pub(super) fn running(placement: &NamedPlacement, context: &JobContext) -> Option<JobState> {
    let mapping = placement.to_mapping(context.observation);
    mapping.map(JobState::Running)
}

/// A job that is parked there, or will be.
pub(super) fn parked(placement: &NamedPlacement, context: &JobContext) -> Option<JobState> {
    let mapping = placement.to_mapping(context.observation);
    mapping.map(JobState::Parked)
}
