//! Starting: planned to start here, for the first time or to come back from a checkpoint, and
//! waiting until the memory is free by Slurm's accounting.

use dfrs_core::{JobState, Span, Time};
use serde::{Deserialize, Serialize};

use super::dumping::requeue_forgotten;
use super::event::{JobContext, LifeEvent};
use super::image::LifeImage;
use super::journal::{JournalPlace, JournalState};
use super::leaving::Next;
use super::phase::{LifePhase, Phase};
use super::planned;
use super::reason::WaitFacts;
use super::requeued::start_forgotten;
use super::room::has_room;
use super::step::{LifeStep, NO_ROOM, ParkStatus, ROOM_TIMEOUT, StepResult, has_passed};
use super::traits::{Freezing, PauseEffect, PhaseCourse, PhasePlace, PhaseTraits};
use super::transition::{LifeTransition, RETRY_AFTER};
use super::waiting::taken_by_others;
use crate::job::placement::{NamedPlacement, NodeTasks};
use crate::slurm::records::{ObservedJob, ObservedState};

/// A start that Slurm refused (for example while a node is still busy with an ended job) is planned
/// again soon.
const START_AGAIN_AFTER: Span = Span(2_000_000);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Starting {
    /// Where.
    pub(super) placement: NamedPlacement,
    /// Since when.
    pub(super) since: Time,
    /// It was paused before, so this brings it back.
    pub(super) resumes: bool,
}

impl Phase for Starting {
    fn traits(&self) -> &'static PhaseTraits {
        &PhaseTraits {
            name: "starting",
            course: PhaseCourse::Arriving,
            place: PhasePlace::Queue,
            freezing: Freezing::Never,
            pause: PauseEffect::AsBefore,
        }
    }

    fn next_step(&self, context: &JobContext, _: ParkStatus) -> Option<LifeStep> {
        if context.job.state != ObservedState::Pending {
            return None;
        }
        if is_gone(context.job) && has_room(&self.placement, context) {
            return Some(LifeStep::Start(self.placement.clone()));
        }
        has_passed(self.since, ROOM_TIMEOUT, context.now).then_some(NO_ROOM)
    }

    fn on(&self, event: &LifeEvent, context: &JobContext) -> Option<LifeTransition> {
        match event {
            LifeEvent::Seen => taken_by_others(context),
            LifeEvent::Did(step, answer) => self.did(step, answer, context),
            LifeEvent::Forgotten { .. } if context.job.state == ObservedState::Running => {
                requeue_forgotten(Next::Move(self.placement.clone()), context)
            }
            LifeEvent::Forgotten { was_requeued } => {
                let turn = start_forgotten(*was_requeued, context)?;
                Some(LifeTransition {
                    last_place: Some(self.placement.clone()),
                    ..turn
                })
            }
            LifeEvent::HandedBack => Some(LifeTransition::to(LifePhase::Waiting)),
            LifeEvent::Planned(_) | LifeEvent::NotParked => None,
        }
    }

    fn planned(&self, context: &JobContext) -> Option<JobState> {
        planned::running(&self.placement, context)
    }

    fn journal_place(&self, _: &ObservedJob, _: &JournalState) -> JournalPlace<'_> {
        if self.resumes {
            JournalPlace::Moves(&self.placement)
        } else {
            JournalPlace::Waiting
        }
    }

    fn reason(&self, _: &WaitFacts) -> Option<String> {
        Some("DFRS: starts as soon as its memory is free".to_owned())
    }

    fn under_way_text(&self, _: &NamedPlacement) -> String {
        format!("start on {}", self.placement)
    }

    fn lacks_room_on(&self, nodes: &NamedPlacement, context: &JobContext) -> bool {
        let is_among = |spot: &&NodeTasks| nodes.0.iter().any(|other| other.node == spot.node);
        let shared = self.placement.0.iter().filter(is_among).cloned();
        !has_room(&NamedPlacement(shared.collect()), context)
    }
}

impl Starting {
    fn did(
        &self,
        step: &LifeStep,
        answer: &StepResult,
        context: &JobContext,
    ) -> Option<LifeTransition> {
        match (step, answer) {
            (LifeStep::Start(_), StepResult::Done) => {
                let is_complete = context.image.is_complete();
                let image = is_complete.then_some(LifeImage::Used(context.now));
                Some(LifeTransition {
                    image,
                    ..LifeTransition::to(LifePhase::Running)
                })
            }
            (LifeStep::Start(_), StepResult::NotEligible) => Some(self.waits_again()),
            (LifeStep::Start(_), StepResult::Refused) => {
                Some(self.waits_again().after(START_AGAIN_AFTER))
            }
            (LifeStep::Abandon(_), _) => Some(self.waits_again().after(RETRY_AFTER)),
            _ => None,
        }
    }

    /// As it did before; others were decided about as if it were here.
    fn waits_again(&self) -> LifeTransition {
        let phase = if self.resumes {
            LifePhase::Paused
        } else {
            LifePhase::Waiting
        };
        LifeTransition::to(phase).freed()
    }
}

/// Nothing of an earlier run is left.
fn is_gone(job: &ObservedJob) -> bool {
    !job.completing && !job.steps_alive
}
