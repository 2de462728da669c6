//! Leaving: a running job gives up its place by checkpoint and requeue. It is warned, has a while
//! to write its checkpoint, and is requeued. A job that keeps no checkpoint is requeued at once.

use dfrs_core::{Action, JobState, Mobility, Span, Time};
use serde::{Deserialize, Serialize};

use super::SECOND;
use super::event::{JobContext, LifeEvent};
use super::foreign::suspended;
use super::phase::{LifePhase, Phase};
use super::planned;
use super::requeued::{Requeued, lost, start_forgotten};
use super::step::{LifeStep, ParkStatus, StepResult, has_passed};
use super::traits::{Freezing, PauseEffect, PhaseCourse, PhasePlace, PhaseTraits};
use super::transition::LifeTransition;
use super::unparking::return_forgotten;
use crate::job::placement::NamedPlacement;
use crate::slurm::records::{ObservedJob, ObservedState};

/// What a job does after it has given up its place by checkpoint and requeue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Next {
    /// It waits, and will go on from its checkpoint.
    Pause,
    /// It waits, and will restart: it was requeued by others and keeps no checkpoint.
    Restart,
    /// It starts again here: a migration.
    Move(NamedPlacement),
}

impl Next {
    /// What the core shall see of a job of which this follows.
    pub(super) fn planned(&self, context: &JobContext) -> Option<JobState> {
        match self {
            Self::Pause => Some(JobState::Paused),
            Self::Restart => Some(JobState::Pending),
            Self::Move(placement) => planned::running(placement, context),
        }
    }

    /// What follows instead by a later action of the same plan: it was to be paused only to let
    /// others past.
    pub(super) fn replanned(&self, action: &Action, context: &JobContext) -> Option<Self> {
        let (Action::Resume(_, mapping), Self::Pause) = (action, self) else {
            return None;
        };
        let placement = NamedPlacement::from_mapping(mapping, context.observation);
        Some(Self::Move(placement))
    }
}

/// To give up its place; not warned yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LeavingPhase {
    /// What follows.
    pub(super) next: Next,
}

/// Got its warning signal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Warned {
    /// What follows.
    pub(super) next: Next,
    /// Since when.
    pub(super) since: Time,
}

impl Phase for LeavingPhase {
    fn traits(&self) -> &'static PhaseTraits {
        &PhaseTraits {
            name: "to give up its place",
            course: PhaseCourse::Leaving,
            place: PhasePlace::Used,
            freezing: Freezing::Never,
            pause: PauseEffect::AsBefore,
        }
    }

    fn next_step(&self, context: &JobContext, _: ParkStatus) -> Option<LifeStep> {
        if context.job.configuring {
            None
        } else if context.mobility() == Mobility::Restart {
            Some(LifeStep::Requeue)
        } else {
            Some(LifeStep::Warn)
        }
    }

    fn on(&self, event: &LifeEvent, context: &JobContext) -> Option<LifeTransition> {
        match event {
            LifeEvent::Planned(action) => {
                let next = self.next.replanned(action, context)?;
                Some(LifeTransition::to(LifePhase::Leaving(Self { next })))
            }
            LifeEvent::Seen if context.job.state == ObservedState::Pending => Some(lost(context)),
            LifeEvent::Did(LifeStep::Warn, StepResult::Done) => {
                Some(LifeTransition::to(LifePhase::Warned(Warned {
                    next: self.next.clone(),
                    since: context.now,
                })))
            }
            _ => on(&self.next, event, context),
        }
    }

    fn after_leaving(&self) -> Option<&Next> {
        Some(&self.next)
    }
}

impl Phase for Warned {
    fn traits(&self) -> &'static PhaseTraits {
        &PhaseTraits {
            name: "writing its checkpoint",
            course: PhaseCourse::Leaving,
            place: PhasePlace::Used,
            freezing: Freezing::Never,
            pause: PauseEffect::AsBefore,
        }
    }

    fn was_warned(&self) -> bool {
        true
    }

    fn next_step(&self, context: &JobContext, _: ParkStatus) -> Option<LifeStep> {
        let notice = notice(context.job, context.config.checkpoint_wait);
        has_passed(self.since, notice, context.now).then_some(LifeStep::Requeue)
    }

    fn on(&self, event: &LifeEvent, context: &JobContext) -> Option<LifeTransition> {
        match event {
            // It ended by itself and was requeued, as its warning requests.
            LifeEvent::Seen if context.job.state == ObservedState::Pending => {
                Some(leaves(&self.next, context))
            }
            _ => on(&self.next, event, context),
        }
    }

    fn after_leaving(&self) -> Option<&Next> {
        Some(&self.next)
    }
}

/// What happens to both alike.
fn on(next: &Next, event: &LifeEvent, context: &JobContext) -> Option<LifeTransition> {
    match event {
        LifeEvent::Seen => (context.job.state == ObservedState::Suspended)
            .then(|| LifeTransition::to(suspended(context))),
        LifeEvent::Did(LifeStep::Requeue, StepResult::Done) => Some(leaves(next, context)),
        LifeEvent::Did(_, StepResult::Refused) => Some(LifeTransition::runs_on()),
        LifeEvent::Forgotten { was_requeued } => {
            return_forgotten(context).or_else(|| start_forgotten(*was_requeued, context))
        }
        LifeEvent::HandedBack => Some(LifeTransition::to(LifePhase::Running)),
        LifeEvent::Planned(_) | LifeEvent::Did(..) | LifeEvent::NotParked => None,
    }
}

fn leaves(next: &Next, context: &JobContext) -> LifeTransition {
    let requeued = Requeued::new(next.clone(), context.now);
    LifeTransition::to(LifePhase::Requeued(requeued))
}

/// The notice that the user requested with `--signal=…@seconds`, within the site's limit.
fn notice(job: &ObservedJob, limit: Span) -> Span {
    if job.warn_seconds == 0 {
        limit
    } else {
        limit.min(Span(i64::from(job.warn_seconds) * SECOND))
    }
}
