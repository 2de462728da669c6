//! Running: it has its place and its share, and nothing is planned for it.

use dfrs_core::{Action, JobState, Mobility};

use super::dumping::Dumping;
use super::event::{JobContext, LifeEvent};
use super::foreign::suspended;
use super::image::LifeImage;
use super::journal::{JournalPlace, JournalState};
use super::leaving::{LeavingPhase, Next};
use super::parking::ParkingPhase;
use super::phase::{LifePhase, Phase};
use super::planned;
use super::requeued::{lost, start_forgotten};
use super::traits::{Freezing, PauseEffect, PhaseCourse, PhasePlace, PhaseTraits};
use super::transition::LifeTransition;
use super::unparking::return_forgotten;
use crate::job::placement::NamedPlacement;
use crate::slurm::records::{ObservedJob, ObservedState};

/// Has its place and its share.
pub(super) struct RunningPhase;

impl Phase for RunningPhase {
    fn traits(&self) -> &'static PhaseTraits {
        &PhaseTraits {
            name: "running",
            course: PhaseCourse::Settled,
            place: PhasePlace::Used,
            freezing: Freezing::Never,
            pause: PauseEffect::Over,
        }
    }

    fn on(&self, event: &LifeEvent, context: &JobContext) -> Option<LifeTransition> {
        match event {
            LifeEvent::Planned(action) => give_up_place(action, context),
            LifeEvent::Seen => match context.job.state {
                ObservedState::Pending => Some(run_lost(context).freed()),
                ObservedState::Suspended => Some(LifeTransition::to(suspended(context)).freed()),
                ObservedState::Running | ObservedState::Ended => None,
            },
            LifeEvent::Forgotten { was_requeued } => {
                return_forgotten(context).or_else(|| start_forgotten(*was_requeued, context))
            }
            LifeEvent::Did(..) | LifeEvent::NotParked | LifeEvent::HandedBack => None,
        }
    }

    fn planned(&self, context: &JobContext) -> Option<JobState> {
        planned::running(&context.place(), context)
    }

    fn journal_place(&self, job: &ObservedJob, _: &JournalState) -> JournalPlace<'_> {
        // It has just started, and Slurm was not looked at since: it is where it was planned.
        if job.state == ObservedState::Pending {
            JournalPlace::Last
        } else {
            JournalPlace::Here
        }
    }
}

/// Its run is over without DFRS's doing: one that was to go on from its image, perhaps before it
/// did.
fn run_lost(context: &JobContext) -> LifeTransition {
    let turn = lost(context);
    if !context.image.is_complete() {
        return turn;
    }
    let mut turn = turn.with_image(LifeImage::NotRestored);
    turn.effects.image =
        Some("its run ended before it went on from its image, which is kept for the next one");
    turn
}

fn dumping(next: Next, context: &JobContext) -> LifeTransition {
    let since = context.now;
    LifeTransition::to(LifePhase::Dumping(Dumping { next, since })).with_image(LifeImage::Begun)
}

/// How a running job gives up its place for `action`: as its mobility says.
fn give_up_place(action: &Action, context: &JobContext) -> Option<LifeTransition> {
    let leaving = |next| LifeTransition::to(LifePhase::Leaving(LeavingPhase { next }));
    match (action, context.mobility()) {
        (Action::Pause(_), Mobility::Park) => Some(LifeTransition::to(LifePhase::Parking(
            ParkingPhase::begins(context),
        ))),
        (Action::Pause(_), Mobility::Carry) => Some(dumping(Next::Pause, context)),
        (Action::Migrate(_, mapping), Mobility::Carry) => {
            let placement = NamedPlacement::from_mapping(mapping, context.observation);
            Some(dumping(Next::Move(placement), context))
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
