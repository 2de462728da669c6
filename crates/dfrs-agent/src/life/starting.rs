//! Starting: planned to start here, for the first time or to come back from a checkpoint, and waiting
//! until the memory is free by Slurm's accounting.

use dfrs_core::{Span, Time};
use serde::{Deserialize, Serialize};

use super::event::{Event, Look};
use super::phase::Phase;
use super::requeued::start_forgotten;
use super::room::has_room;
use super::step::{Answer, NO_ROOM, ROOM_TIMEOUT, Step, has_passed};
use super::turn::{RETRY_AFTER, Turn};
use super::waiting::taken_by_others;
use crate::observation::{ObservedJob, ObservedState};
use crate::placement::{Placement, Spot};

/// A start that Slurm refused (a node is still busy with an ended job, for one) is planned anew soon.
const START_AGAIN_AFTER: Span = Span(2_000_000);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Starting {
    /// Where.
    pub(super) placement: Placement,
    /// Since when.
    pub(super) since: Time,
    /// It was paused before, so this brings it back.
    pub(super) resumes: bool,
}

impl Starting {
    pub(super) fn next_step(&self, look: &Look) -> Option<Step> {
        if look.job.state != ObservedState::Pending {
            return None;
        }
        if is_gone(look.job) && has_room(&self.placement, look) {
            return Some(Step::Start(self.placement.clone()));
        }
        has_passed(self.since, ROOM_TIMEOUT, look.now).then_some(NO_ROOM)
    }

    pub(super) fn on(&self, event: &Event, look: &Look) -> Option<Turn> {
        match event {
            Event::Seen => taken_by_others(look),
            Event::Did(step, answer) => self.did(step, answer),
            Event::Forgotten { was_requeued } => {
                let turn = start_forgotten(*was_requeued, look)?;
                Some(Turn {
                    last_place: Some(self.placement.clone()),
                    ..turn
                })
            }
            Event::HandedBack => Some(Turn::to(Phase::Waiting)),
            Event::Planned(_) | Event::NotParked => None,
        }
    }

    /// Whether it waits for memory on one of these nodes.
    pub(super) fn lacks_room_on(&self, nodes: &Placement, look: &Look) -> bool {
        let is_among = |spot: &&Spot| nodes.0.iter().any(|other| other.node == spot.node);
        let shared = self.placement.0.iter().filter(is_among).cloned();
        !has_room(&Placement(shared.collect()), look)
    }

    fn did(&self, step: &Step, answer: &Answer) -> Option<Turn> {
        match (step, answer) {
            (Step::Start(_), Answer::Done) => Some(Turn::to(Phase::Running)),
            (Step::Start(_), Answer::Gated) => Some(self.waits_again()),
            (Step::Start(_), Answer::Refused) => Some(self.waits_again().after(START_AGAIN_AFTER)),
            (Step::Abandon(_), _) => Some(self.waits_again().after(RETRY_AFTER)),
            _ => None,
        }
    }

    /// As it did before; others were decided about as if it were here.
    fn waits_again(&self) -> Turn {
        let phase = if self.resumes {
            Phase::Paused
        } else {
            Phase::Waiting
        };
        Turn::to(phase).freed()
    }
}

/// Nothing of an earlier run is left.
fn is_gone(job: &ObservedJob) -> bool {
    !job.completing && !job.steps_alive
}
