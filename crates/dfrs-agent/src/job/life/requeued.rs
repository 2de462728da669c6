//! Requeued: back in Slurm's queue while its last processes end, by DFRS's doing or because it lost
//! its place. When they are gone it waits, restarts, or starts where it was to move.

use dfrs_core::{Mobility, Time};
use serde::{Deserialize, Serialize};

use super::dumping::{leaves, requeue_forgotten};
use super::event::{JobContext, LifeEvent};
use super::image::LifeImage;
use super::journal::{JournalPlace, JournalState};
use super::leaving::Next;
use super::phase::{LifePhase, Phase};
use super::reason::WaitFacts;
use super::starting::Starting;
use super::step::{LifeStep, ParkStatus, ROOM_TIMEOUT, StepResult, has_passed};
use super::traits::{Freezing, PauseEffect, PhaseCourse, PhasePlace, PhaseTraits};
use super::transition::LifeTransition;
use super::waiting::taken_by_others;
use crate::is_default;
use crate::job::placement::NamedPlacement;
use crate::slurm::records::{ObservedJob, ObservedState};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Requeued {
    /// What follows.
    pub(super) next: Next,
    /// The last process is gone and its memory is free.
    pub(super) gone: bool,
    /// Its node has its image: until its last process is gone, it stays stopped there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) has_image: bool,
    /// Since when.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) since: Time,
}

/// Why the removal of its image is not waited for any longer.
const NOT_REMOVED: &str =
    "timeout: dfrsd there did not confirm it; if the image is complete, the job goes on from it";

impl Phase for Requeued {
    fn traits(&self) -> &'static PhaseTraits {
        &PhaseTraits {
            name: "being requeued",
            course: PhaseCourse::Leaving,
            place: PhasePlace::Queue,
            freezing: Freezing::Never,
            pause: PauseEffect::Paused,
        }
    }

    fn next_step(&self, context: &JobContext, on_node: ParkStatus) -> Option<LifeStep> {
        if !self.gone {
            None
        } else if !context.image.is_void() || on_node == ParkStatus::Parked {
            Some(LifeStep::ClearBeginTime)
        } else {
            has_passed(self.since, ROOM_TIMEOUT, context.now)
                .then_some(LifeStep::Abandon(NOT_REMOVED))
        }
    }

    fn on(&self, event: &LifeEvent, context: &JobContext) -> Option<LifeTransition> {
        match event {
            LifeEvent::Seen => self.seen(context),
            LifeEvent::Did(LifeStep::ClearBeginTime, StepResult::Done) => {
                Some(self.arrives(context))
            }
            LifeEvent::Did(LifeStep::Abandon(_), _) => {
                Some(LifeTransition::default().with_image(LifeImage::None))
            }
            LifeEvent::Did(_, StepResult::Refused) => Some(LifeTransition::same_step_later()),
            LifeEvent::Forgotten { .. } => requeue_forgotten(self.next.clone(), context),
            // Until its processes are gone its node has to keep them stopped.
            LifeEvent::HandedBack => {
                (!self.has_image).then(|| LifeTransition::to(LifePhase::Waiting))
            }
            LifeEvent::Planned(_) | LifeEvent::Did(..) | LifeEvent::NotParked => None,
        }
    }

    fn journal_place(&self, _: &ObservedJob, _: &JournalState) -> JournalPlace<'_> {
        match &self.next {
            Next::Move(placement) => JournalPlace::Moves(placement),
            Next::Pause => JournalPlace::Paused,
            Next::Restart => JournalPlace::Waiting,
        }
    }

    fn reason(&self, _: &WaitFacts) -> Option<String> {
        let text = match self.next {
            Next::Restart => "DFRS: was requeued, starts again",
            Next::Move(_) => "DFRS: moves to other nodes",
            Next::Pause => "DFRS: pausing",
        };
        Some(text.to_owned())
    }

    fn under_way_text(&self, last_place: &NamedPlacement) -> String {
        format!("removal of its image on {last_place}")
    }

    fn after_leaving(&self) -> Option<&Next> {
        Some(&self.next)
    }

    fn leaves_image(&self) -> bool {
        self.has_image
    }
}

impl Requeued {
    /// Just now, without an image.
    pub(super) const fn new(next: Next, now: Time) -> Self {
        Self {
            next,
            gone: false,
            has_image: false,
            since: now,
        }
    }

    fn seen(&self, context: &JobContext) -> Option<LifeTransition> {
        match context.job.state {
            ObservedState::Pending if !self.gone && !context.job.completing => {
                Some(LifeTransition::to(LifePhase::Requeued(Self {
                    next: self.next.clone(),
                    gone: true,
                    has_image: false,
                    // Only now its node can remove an image that is void.
                    since: context.now,
                })))
            }
            _ => taken_by_others(context),
        }
    }

    /// It waits, or it goes where it was to move. An image that was void is removed.
    fn arrives(&self, context: &JobContext) -> LifeTransition {
        let turn = match &self.next {
            Next::Pause => LifeTransition::to(LifePhase::Paused).moved(),
            Next::Restart => LifeTransition::to(LifePhase::Waiting).begins_again(),
            Next::Move(placement) => LifeTransition::to(LifePhase::Starting(Starting {
                placement: placement.clone(),
                since: context.now,
                resumes: true,
            }))
            .moved(),
        };
        if context.image.is_void() {
            turn.with_image(LifeImage::None)
        } else {
            turn
        }
    }
}

/// The job is back in the queue without DFRS's doing: requeued by others, or its node failed.
pub(super) fn lost(context: &JobContext) -> LifeTransition {
    let mut turn = if context.image.is_complete() {
        leaves(Next::Pause, context)
    } else {
        let next = if context.mobility() == Mobility::Checkpoint {
            Next::Pause
        } else {
            Next::Restart
        };
        LifeTransition::to(LifePhase::Requeued(Requeued::new(next, context.now)))
            .with_image(context.image)
    };
    turn.effects.image = match context.image {
        LifeImage::None => None,
        LifeImage::Begun => {
            Some("was requeued by others, or lost its node, and restarts: its image is removed")
        }
        LifeImage::Complete | LifeImage::Used(_) | LifeImage::NotRestored => {
            Some("was requeued by others, or lost its node: it goes on from its image")
        }
    };
    turn.orphaned(!context.job.completing)
}

/// slurmctld has forgotten that the job it shows as pending had started: its nodes run it, and are
/// ordered to end it.
pub(super) fn start_forgotten(was_requeued: bool, context: &JobContext) -> Option<LifeTransition> {
    let is_forgotten = context.job.state == ObservedState::Pending && !was_requeued;
    is_forgotten.then(|| {
        let mut turn = lost(context).orphaned(true);
        turn.effects.forgotten = Some("had started");
        turn
    })
}
