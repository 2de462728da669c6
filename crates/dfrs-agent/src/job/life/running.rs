//! Running: it has its place and its share, and nothing is planned for it.

use dfrs_core::{Action, Mobility};

use super::event::{JobContext, LifeEvent};
use super::foreign::suspended;
use super::leaving::{LeavingPhase, Next};
use super::parking::ParkingPhase;
use super::phase::LifePhase;
use super::requeued::{lost, start_forgotten};
use super::transition::LifeTransition;
use super::unparking::return_forgotten;
use crate::job::placement::NamedPlacement;
use crate::slurm::records::ObservedState;

/// What happens to a running job.
pub(super) fn on(event: &LifeEvent, context: &JobContext) -> Option<LifeTransition> {
    match event {
        LifeEvent::Planned(action) => give_up_place(action, context).map(LifeTransition::to),
        LifeEvent::Seen => match context.job.state {
            ObservedState::Pending => Some(lost(context).freed()),
            ObservedState::Suspended => Some(LifeTransition::to(suspended(context)).freed()),
            ObservedState::Running | ObservedState::Ended => None,
        },
        LifeEvent::Forgotten { was_requeued } => {
            return_forgotten(context).or_else(|| start_forgotten(*was_requeued, context))
        }
        LifeEvent::Did(..) | LifeEvent::NotParked | LifeEvent::HandedBack => None,
    }
}

/// How a running job gives up its place for `action`: as its mobility says.
fn give_up_place(action: &Action, context: &JobContext) -> Option<LifePhase> {
    let leaving = |next| LifePhase::Leaving(LeavingPhase { next });
    match (action, context.mobility()) {
        (Action::Pause(_), Mobility::Park) => {
            Some(LifePhase::Parking(ParkingPhase::begins(context)))
        }
        // A job without a checkpoint has nothing to bring to another place: it queues again.
        (Action::Pause(_) | Action::Migrate(..), Mobility::Restart) => Some(leaving(Next::Restart)),
        (Action::Pause(_), _) => Some(leaving(Next::Pause)),
        (Action::Migrate(_, mapping), _) => {
            let placement = NamedPlacement::from_mapping(mapping, context.observation);
            Some(leaving(Next::Move(placement)))
        }
        _ => None,
    }
}
