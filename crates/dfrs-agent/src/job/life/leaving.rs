//! Leaving: a running job gives up its place by checkpoint and requeue. It is warned, has a while
//! to write its checkpoint, and is requeued. A job that keeps no checkpoint is requeued at once.

use dfrs_core::{Action, Mobility, Span, Time};
use serde::{Deserialize, Serialize};

use super::SECOND;
use super::event::{JobContext, LifeEvent};
use super::foreign::suspended;
use super::phase::LifePhase;
use super::requeued::{Requeued, lost, start_forgotten};
use super::step::{LifeStep, StepResult, has_passed};
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

impl LeavingPhase {
    pub(super) fn next_step(&self, context: &JobContext) -> Option<LifeStep> {
        if context.job.configuring {
            None
        } else if context.mobility() == Mobility::Restart {
            Some(LifeStep::Requeue)
        } else {
            Some(LifeStep::Warn)
        }
    }

    pub(super) fn on(&self, event: &LifeEvent, context: &JobContext) -> Option<LifeTransition> {
        match event {
            LifeEvent::Planned(action) => self.planned(action, context),
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

    /// It was to be paused only to let others past, earlier in the same plan.
    fn planned(&self, action: &Action, context: &JobContext) -> Option<LifeTransition> {
        let (Action::Resume(_, mapping), Next::Pause) = (action, &self.next) else {
            return None;
        };
        let next = Next::Move(NamedPlacement::from_mapping(mapping, context.observation));
        Some(LifeTransition::to(LifePhase::Leaving(Self { next })))
    }
}

impl Warned {
    pub(super) fn next_step(&self, context: &JobContext) -> Option<LifeStep> {
        let notice = notice(context.job, context.config.checkpoint_wait);
        has_passed(self.since, notice, context.now).then_some(LifeStep::Requeue)
    }

    pub(super) fn on(&self, event: &LifeEvent, context: &JobContext) -> Option<LifeTransition> {
        match event {
            // It ended by itself and was requeued, as its warning requests.
            LifeEvent::Seen if context.job.state == ObservedState::Pending => {
                Some(leaves(&self.next))
            }
            _ => on(&self.next, event, context),
        }
    }
}

/// What happens to both alike.
fn on(next: &Next, event: &LifeEvent, context: &JobContext) -> Option<LifeTransition> {
    match event {
        LifeEvent::Seen => (context.job.state == ObservedState::Suspended)
            .then(|| LifeTransition::to(suspended(context))),
        LifeEvent::Did(LifeStep::Requeue, StepResult::Done) => Some(leaves(next)),
        LifeEvent::Did(_, StepResult::Refused) => Some(LifeTransition::runs_on()),
        LifeEvent::Forgotten { was_requeued } => {
            return_forgotten(context).or_else(|| start_forgotten(*was_requeued, context))
        }
        LifeEvent::HandedBack => Some(LifeTransition::to(LifePhase::Running)),
        LifeEvent::Planned(_) | LifeEvent::Did(..) | LifeEvent::NotParked => None,
    }
}

fn leaves(next: &Next) -> LifeTransition {
    LifeTransition::to(LifePhase::Requeued(Requeued {
        next: next.clone(),
        gone: false,
    }))
}

/// The notice that the user requested with `--signal=…@seconds`, within the site's limit.
fn notice(job: &ObservedJob, limit: Span) -> Span {
    if job.warn_seconds == 0 {
        limit
    } else {
        limit.min(Span(i64::from(job.warn_seconds) * SECOND))
    }
}
