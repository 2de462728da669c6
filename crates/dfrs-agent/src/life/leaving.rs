//! Leaving: a running job gives up its place by checkpoint and requeue. It is warned, has a while to
//! write its checkpoint, and is requeued. One that keeps no checkpoint is requeued at once.

use dfrs_core::{Action, Mobility, Span, Time};
use serde::{Deserialize, Serialize};

use super::SECOND;
use super::event::{Event, Look};
use super::foreign::suspended;
use super::phase::Phase;
use super::requeued::{Requeued, lost, start_forgotten};
use super::step::{Answer, Step, has_passed};
use super::turn::Turn;
use super::unparking::return_forgotten;
use crate::observation::{ObservedJob, ObservedState};
use crate::placement::Placement;

/// What a job does after it has given up its place by checkpoint and requeue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Next {
    /// It waits, and will go on from its checkpoint.
    Pause,
    /// It waits, and will begin again: it was requeued by others and keeps no checkpoint.
    Restart,
    /// It starts again here: a migration.
    Move(Placement),
}

/// To give up its place; not warned yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Leaving {
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

impl Leaving {
    pub(super) fn next_step(&self, look: &Look) -> Option<Step> {
        if look.job.configuring {
            None
        } else if look.mobility() == Mobility::Restart {
            Some(Step::Requeue)
        } else {
            Some(Step::Warn)
        }
    }

    pub(super) fn on(&self, event: &Event, look: &Look) -> Option<Turn> {
        match event {
            Event::Planned(action) => self.planned(action, look),
            Event::Seen if look.job.state == ObservedState::Pending => Some(lost(look)),
            Event::Did(Step::Warn, Answer::Done) => Some(Turn::to(Phase::Warned(Warned {
                next: self.next.clone(),
                since: look.now,
            }))),
            _ => on(&self.next, event, look),
        }
    }

    /// It was to be paused only to let others past, earlier in the same plan.
    fn planned(&self, action: &Action, look: &Look) -> Option<Turn> {
        let (Action::Resume(_, mapping), Next::Pause) = (action, &self.next) else {
            return None;
        };
        let next = Next::Move(Placement::from_mapping(mapping, look.observation));
        Some(Turn::to(Phase::Leaving(Self { next })))
    }
}

impl Warned {
    pub(super) fn next_step(&self, look: &Look) -> Option<Step> {
        let notice = notice(look.job, look.config.checkpoint_wait);
        has_passed(self.since, notice, look.now).then_some(Step::Requeue)
    }

    pub(super) fn on(&self, event: &Event, look: &Look) -> Option<Turn> {
        match event {
            // It ended by itself and was requeued, as its warning asks it to.
            Event::Seen if look.job.state == ObservedState::Pending => Some(leaves(&self.next)),
            _ => on(&self.next, event, look),
        }
    }
}

/// What happens to both alike.
fn on(next: &Next, event: &Event, look: &Look) -> Option<Turn> {
    match event {
        Event::Seen => {
            (look.job.state == ObservedState::Suspended).then(|| Turn::to(suspended(look)))
        }
        Event::Did(Step::Requeue, Answer::Done) => Some(leaves(next)),
        Event::Did(_, Answer::Refused) => Some(Turn::runs_on()),
        Event::Forgotten { was_requeued } => {
            return_forgotten(look).or_else(|| start_forgotten(*was_requeued, look))
        }
        Event::HandedBack => Some(Turn::to(Phase::Running)),
        Event::Planned(_) | Event::Did(..) | Event::NotParked => None,
    }
}

fn leaves(next: &Next) -> Turn {
    Turn::to(Phase::Requeued(Requeued {
        next: next.clone(),
        gone: false,
    }))
}

/// What the user asked for with `--signal=…@seconds`, within the site's limit.
fn notice(job: &ObservedJob, limit: Span) -> Span {
    if job.warn_seconds == 0 {
        limit
    } else {
        limit.min(Span(i64::from(job.warn_seconds) * SECOND))
    }
}
