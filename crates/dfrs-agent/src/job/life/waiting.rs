//! In Slurm's queue with nothing planned: never started, or paused after a checkpoint.

use dfrs_core::{Action, JobState, Mapping};

use super::dumping::requeue_forgotten;
use super::event::{JobContext, LifeEvent};
use super::foreign::suspended;
use super::journal::{JournalPlace, JournalState};
use super::leaving::Next;
use super::phase::{LifePhase, Phase};
use super::reason::{AFTER_CHECKPOINT, WaitFacts};
use super::starting::Starting;
use super::traits::{Freezing, PauseEffect, PhaseCourse, PhasePlace, PhaseTraits};
use super::transition::LifeTransition;
use crate::job::placement::NamedPlacement;
use crate::slurm::records::{ObservedJob, ObservedState};

/// Waits for its first start, or to restart.
pub(super) struct WaitingPhase;

impl Phase for WaitingPhase {
    fn traits(&self) -> &'static PhaseTraits {
        &PhaseTraits {
            name: "waiting",
            course: PhaseCourse::Settled,
            place: PhasePlace::Queue,
            freezing: Freezing::Never,
            pause: PauseEffect::None,
        }
    }

    fn on(&self, event: &LifeEvent, context: &JobContext) -> Option<LifeTransition> {
        match event {
            LifeEvent::Planned(Action::Start(_, mapping)) => Some(starts(mapping, false, context)),
            LifeEvent::Seen => taken_by_others(context),
            _ => None,
        }
    }

    fn planned(&self, _: &JobContext) -> Option<JobState> {
        Some(JobState::Pending)
    }

    fn journal_place(&self, _: &ObservedJob, _: &JournalState) -> JournalPlace<'_> {
        JournalPlace::Waiting
    }

    fn reason(&self, waits: &WaitFacts) -> Option<String> {
        waits.blocked?;
        Some(format!("DFRS: {}", waits.why()))
    }
}

/// Waits to go on from its checkpoint.
pub(super) struct PausedPhase;

impl Phase for PausedPhase {
    fn traits(&self) -> &'static PhaseTraits {
        &PhaseTraits {
            name: AFTER_CHECKPOINT,
            course: PhaseCourse::Settled,
            place: PhasePlace::Queue,
            freezing: Freezing::Never,
            pause: PauseEffect::Paused,
        }
    }

    fn on(&self, event: &LifeEvent, context: &JobContext) -> Option<LifeTransition> {
        match event {
            LifeEvent::Planned(Action::Resume(_, mapping)) => Some(starts(mapping, true, context)),
            LifeEvent::Seen => taken_by_others(context),
            LifeEvent::Forgotten { .. } => requeue_forgotten(Next::Pause, context),
            _ => None,
        }
    }

    fn planned(&self, _: &JobContext) -> Option<JobState> {
        Some(JobState::Paused)
    }

    fn journal_place(&self, _: &ObservedJob, _: &JournalState) -> JournalPlace<'_> {
        JournalPlace::Paused
    }

    fn reason(&self, waits: &WaitFacts) -> Option<String> {
        let (how, why) = (waits.how_paused(), waits.why());
        Some(format!("DFRS: {how}; {why}"))
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
