//! Foreign: suspended by an operator, so not DFRS's to touch until it runs again.

use super::event::{JobContext, LifeEvent};
use super::journal::{JournalPlace, JournalState};
use super::parking::stop_forgotten;
use super::phase::{LifePhase, Phase};
use super::requeued::lost;
use super::traits::{Freezing, PauseEffect, PhaseCourse, PhasePlace, PhaseTraits};
use super::transition::LifeTransition;
use super::unparking::Unparking;
use crate::slurm::records::{ObservedJob, ObservedPlace, ObservedState};

/// Suspended by an operator. Where slurmctld has forgotten that, its processes are stopped all the
/// same: they go on only after a suspension that Slurm remembers.
pub(super) struct ForeignPhase;

impl Phase for ForeignPhase {
    fn traits(&self) -> &'static PhaseTraits {
        &PhaseTraits {
            name: "suspended by an operator",
            course: PhaseCourse::Settled,
            place: PhasePlace::Operators,
            freezing: Freezing::Never,
            pause: PauseEffect::None,
        }
    }

    fn on(&self, event: &LifeEvent, context: &JobContext) -> Option<LifeTransition> {
        match (event, context.job.state) {
            (LifeEvent::Forgotten { was_requeued }, _) => stop_forgotten(*was_requeued, context),
            (LifeEvent::Seen, ObservedState::Running) => {
                Some(LifeTransition::to(LifePhase::Running).left_alone())
            }
            (LifeEvent::Seen, ObservedState::Pending) => Some(lost(context)),
            // An operator's hold on top of DFRS's own suspension was released.
            (LifeEvent::Seen, ObservedState::Suspended)
                if !context.job.may_be_suspended_by_operator() =>
            {
                Some(LifeTransition::to(suspended(context)))
            }
            _ => None,
        }
    }

    fn journal_place(&self, _: &ObservedJob, _: &JournalState) -> JournalPlace<'_> {
        JournalPlace::AsBefore
    }

    fn undecided_memory(&self, _: usize, place: &ObservedPlace) -> u64 {
        place.memory_mib
    }

    fn is_undecided(&self, _: &ObservedJob) -> bool {
        true
    }
}

/// The phase of a job that is suspended although nothing was planned for it: an operator's
/// suspension, or one of DFRS's own, whose record was lost.
pub(super) fn suspended(context: &JobContext) -> LifePhase {
    if context.job.may_be_suspended_by_operator() {
        LifePhase::Foreign
    } else {
        LifePhase::Unparking(Unparking::here(context))
    }
}
