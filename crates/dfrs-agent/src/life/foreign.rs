//! Foreign: suspended by somebody else, so not DFRS's to touch until it runs again.

use super::event::{Event, Look};
use super::phase::Phase;
use super::requeued::lost;
use super::turn::Turn;
use crate::observation::ObservedState;

/// What happens to a job that somebody else suspended.
pub(super) fn on(event: &Event, look: &Look) -> Option<Turn> {
    match (event, look.job.state) {
        (Event::Seen, ObservedState::Running) => Some(Turn::to(Phase::Running)),
        (Event::Seen, ObservedState::Pending) => Some(lost(look)),
        _ => None,
    }
}
