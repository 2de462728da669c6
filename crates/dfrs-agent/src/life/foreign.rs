//! Foreign: suspended by an operator, so not DFRS's to touch until it runs again.

use super::event::{Event, Look};
use super::phase::Phase;
use super::requeued::lost;
use super::turn::Turn;
use super::unparking::Unparking;
use crate::observation::ObservedState;

/// What happens to a job that an operator suspended.
pub(super) fn on(event: &Event, look: &Look) -> Option<Turn> {
    match (event, look.job.state) {
        (Event::Seen, ObservedState::Running) => Some(Turn::to(Phase::Running).left_alone()),
        (Event::Seen, ObservedState::Pending) => Some(lost(look)),
        _ => None,
    }
}

/// The phase of a job that is suspended although nothing was planned for it: it is the operator's who
/// did it, or DFRS's own, whose memory of it was lost.
pub(super) fn suspended(look: &Look) -> Phase {
    if look.job.is_suspended_by_operator() {
        Phase::Foreign
    } else {
        Phase::Unparking(Unparking::here(look))
    }
}
