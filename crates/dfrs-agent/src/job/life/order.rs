//! What the nodes shall do with a job: freeze it, cap it, or leave it alone.

use super::Life;
use super::traits::Freezing;
use crate::slurm::records::{ObservedJob, ObservedPlace, ObservedState};

impl Life {
    /// Whether the node of `place` keeps `job` frozen there; `None`: it has no orders for it.
    pub fn is_frozen(&self, job: &ObservedJob, place: &ObservedPlace) -> Option<bool> {
        match (self.traits().freezing, job.state) {
            (Freezing::Always | Freezing::Image, _) => Some(true),
            // Still frozen until its memory is counted again, even if an operator resumed it; then
            // it thaws.
            (Freezing::UntilCounted, ObservedState::Suspended | ObservedState::Running) => {
                Some(place.memory_mib == 0)
            }
            (_, ObservedState::Running) => Some(false),
            _ => None,
        }
    }
}
