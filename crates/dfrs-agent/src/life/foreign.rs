//! Foreign: suspended by an operator, so not DFRS's to touch until it runs again.

use super::event::{Event, Look};
use super::parking::stop_forgotten;
use super::phase::Phase;
use super::requeued::lost;
use super::turn::Turn;
use super::unparking::Unparking;
use crate::observation::ObservedState;

/// What happens to a job that an operator suspended. Where slurmctld has forgotten that, its processes are
/// stopped all the same: they go on only after a suspension that Slurm remembers.
pub(super) fn on(event: &Event, look: &Look) -> Option<Turn> {
    match (event, look.job.state) {
        (Event::Forgotten { was_requeued }, _) => stop_forgotten(*was_requeued, look),
        (Event::Seen, ObservedState::Running) => Some(Turn::to(Phase::Running).left_alone()),
        (Event::Seen, ObservedState::Pending) => Some(lost(look)),
        // An operator's hold on top of DFRS's own suspension was released.
        (Event::Seen, ObservedState::Suspended) if !look.job.may_be_suspended_by_operator() => {
            Some(Turn::to(suspended(look)))
        }
        _ => None,
    }
}

/// The phase of a job that is suspended although nothing was planned for it: it is the operator's who
/// did it, or DFRS's own, whose memory of it was lost.
pub(super) fn suspended(look: &Look) -> Phase {
    if look.job.may_be_suspended_by_operator() {
        Phase::Foreign
    } else {
        Phase::Unparking(Unparking::here(look))
    }
}
