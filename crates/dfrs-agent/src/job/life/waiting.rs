//! In Slurm's queue with nothing planned: never started, or paused after a checkpoint.

use dfrs_core::{Action, Mapping};

use super::event::{JobContext, LifeEvent};
use super::foreign::suspended;
use super::phase::LifePhase;
use super::starting::Starting;
use super::transition::LifeTransition;
use crate::job::placement::NamedPlacement;
use crate::slurm::records::ObservedState;

/// What happens to a job that waits for its first start, or to restart.
pub(super) fn on(event: &LifeEvent, context: &JobContext) -> Option<LifeTransition> {
    match event {
        LifeEvent::Planned(Action::Start(_, mapping)) => Some(starts(mapping, false, context)),
        LifeEvent::Seen => taken_by_others(context),
        _ => None,
    }
}

/// What happens to a job that waits to go on from its checkpoint.
pub(super) fn on_paused(event: &LifeEvent, context: &JobContext) -> Option<LifeTransition> {
    match event {
        LifeEvent::Planned(Action::Resume(_, mapping)) => Some(starts(mapping, true, context)),
        LifeEvent::Seen => taken_by_others(context),
        _ => None,
    }
}

fn starts(mapping: &Mapping, resumes: bool, context: &JobContext) -> LifeTransition {
    LifeTransition::to(LifePhase::Starting(Starting {
        placement: NamedPlacement::from_mapping(mapping, context.observation),
        since: context.now,
        resumes,
    }))
}

/// Others started it, and may have suspended it: then it is no longer DFRS's, whatever was planned.
pub(super) fn taken_by_others(context: &JobContext) -> Option<LifeTransition> {
    match context.job.state {
        ObservedState::Running => Some(LifeTransition::to(LifePhase::Running)),
        ObservedState::Suspended => Some(LifeTransition::to(suspended(context))),
        ObservedState::Pending | ObservedState::Ended => None,
    }
}
