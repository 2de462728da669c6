//! Running: it has its place and its share, and nothing is planned for it.

use dfrs_core::{Action, Mobility};

use super::event::{Event, Look};
use super::foreign::suspended;
use super::leaving::{Leaving, Next};
use super::parking::Parking;
use super::phase::Phase;
use super::requeued::{lost, start_forgotten};
use super::turn::Turn;
use super::unparking::return_forgotten;
use crate::observation::ObservedState;
use crate::placement::Placement;

/// What happens to a running job.
pub(super) fn on(event: &Event, look: &Look) -> Option<Turn> {
    match event {
        Event::Planned(action) => give_up_place(action, look).map(Turn::to),
        Event::Seen => match look.job.state {
            ObservedState::Pending => Some(lost(look).freed()),
            ObservedState::Suspended => Some(Turn::to(suspended(look)).freed()),
            ObservedState::Running | ObservedState::Ended => None,
        },
        Event::Forgotten { was_requeued } => {
            return_forgotten(look).or_else(|| start_forgotten(*was_requeued, look))
        }
        Event::Did(..) | Event::NotParked | Event::HandedBack => None,
    }
}

/// How a running job gives up its place for `action`: as its mobility says.
fn give_up_place(action: &Action, look: &Look) -> Option<Phase> {
    let leaving = |next| Phase::Leaving(Leaving { next });
    match (action, look.mobility()) {
        (Action::Pause(_), Mobility::Park) => Some(Phase::Parking(Parking::begins(look))),
        // A job without a checkpoint has nothing to bring to another place: it queues again.
        (Action::Pause(_) | Action::Migrate(..), Mobility::Restart) => Some(leaving(Next::Restart)),
        (Action::Pause(_), _) => Some(leaving(Next::Pause)),
        (Action::Migrate(_, mapping), _) => {
            let placement = Placement::from_mapping(mapping, look.observation);
            Some(leaving(Next::Move(placement)))
        }
        _ => None,
    }
}
