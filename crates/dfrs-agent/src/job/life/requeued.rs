//! Requeued: back in Slurm's queue while its last processes end, by DFRS's doing or because it lost
//! its place. When they are gone it waits, restarts, or starts where it was to move.

use dfrs_core::{JobState, Mobility};
use serde::{Deserialize, Serialize};

use super::event::{JobContext, LifeEvent};
use super::journal::{JournalPlace, JournalState};
use super::leaving::Next;
use super::phase::{LifePhase, Phase};
use super::reason::WaitFacts;
use super::starting::Starting;
use super::step::{LifeStep, ParkStatus, StepResult};
use super::traits::{Freezing, PauseEffect, PhaseCourse, PhasePlace, PhaseTraits};
use super::transition::LifeTransition;
use super::waiting::taken_by_others;
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
}

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

    fn next_step(&self, _: &JobContext, _: ParkStatus) -> Option<LifeStep> {
        self.gone.then_some(LifeStep::ClearBeginTime)
    }

    fn on(&self, event: &LifeEvent, context: &JobContext) -> Option<LifeTransition> {
        match event {
            LifeEvent::Seen => self.seen(context),
            LifeEvent::Did(LifeStep::ClearBeginTime, StepResult::Done) => {
                Some(self.arrives(context))
            }
            LifeEvent::Did(_, StepResult::Refused) => Some(LifeTransition::same_step_later()),
            LifeEvent::HandedBack => Some(LifeTransition::to(LifePhase::Waiting)),
            LifeEvent::Planned(_)
            | LifeEvent::Did(..)
            | LifeEvent::NotParked
            | LifeEvent::Forgotten { .. } => None,
        }
    }

    fn planned(&self, context: &JobContext) -> Option<JobState> {
        self.next.planned(context)
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

    fn after_leaving(&self) -> Option<&Next> {
        Some(&self.next)
    }

    fn leaves_image(&self) -> bool {
        self.has_image
    }
}

impl Requeued {
    /// Just now, without an image.
    pub(super) const fn new(next: Next) -> Self {
        Self {
            next,
            gone: false,
            has_image: false,
        }
    }

    fn seen(&self, context: &JobContext) -> Option<LifeTransition> {
        match context.job.state {
            ObservedState::Pending if !self.gone && !context.job.completing => {
                Some(LifeTransition::to(LifePhase::Requeued(Self {
                    next: self.next.clone(),
                    gone: true,
                    has_image: false,
                })))
            }
            _ => taken_by_others(context),
        }
    }

    /// It waits, or it goes where it was to move.
    fn arrives(&self, context: &JobContext) -> LifeTransition {
        match &self.next {
            Next::Pause => LifeTransition::to(LifePhase::Paused).moved(),
            Next::Restart => LifeTransition::to(LifePhase::Waiting).begins_again(),
            Next::Move(placement) => LifeTransition::to(LifePhase::Starting(Starting {
                placement: placement.clone(),
                since: context.now,
                resumes: true,
            }))
            .moved(),
        }
    }
}

/// The job is back in the queue without DFRS's doing: requeued by others, or its node failed.
pub(super) fn lost(context: &JobContext) -> LifeTransition {
    // An image of a job that is carried is complete only when DFRS requeues it.
    let next = if context.mobility() == Mobility::Checkpoint {
        Next::Pause
    } else {
        Next::Restart
    };
    LifeTransition::to(LifePhase::Requeued(Requeued::new(next))).orphaned(!context.job.completing)
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
