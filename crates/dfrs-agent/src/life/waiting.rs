//! In Slurm's queue with nothing planned: never started, or paused after a checkpoint.

use dfrs_core::{Action, Mapping};

use super::event::{Event, Look};
use super::foreign::suspended;
use super::phase::Phase;
use super::starting::Starting;
use super::turn::Turn;
use crate::observation::ObservedState;
use crate::placement::Placement;

/// What happens to a job that waits for its first start, or to begin again.
pub(super) fn on(event: &Event, look: &Look) -> Option<Turn> {
    match event {
        Event::Planned(Action::Start(_, mapping)) => Some(starts(mapping, false, look)),
        Event::Seen => taken_by_others(look),
        _ => None,
    }
}

/// What happens to a job that waits to go on from its checkpoint.
pub(super) fn on_paused(event: &Event, look: &Look) -> Option<Turn> {
    match event {
        Event::Planned(Action::Resume(_, mapping)) => Some(starts(mapping, true, look)),
        Event::Seen => taken_by_others(look),
        _ => None,
    }
}

fn starts(mapping: &Mapping, resumes: bool, look: &Look) -> Turn {
    Turn::to(Phase::Starting(Starting {
        placement: Placement::from_mapping(mapping, look.observation),
        since: look.now,
        resumes,
    }))
}

/// Others started it, and may have suspended it: then it is no longer DFRS's, whatever was planned.
pub(super) fn taken_by_others(look: &Look) -> Option<Turn> {
    match look.job.state {
        ObservedState::Running => Some(Turn::to(Phase::Running)),
        ObservedState::Suspended => Some(Turn::to(suspended(look))),
        ObservedState::Pending | ObservedState::Ended => None,
    }
}
