//! Parking: suspended, then frozen by its nodes, which push its memory to swap; when all of them
//! report that this is done, its memory is released in Slurm's accounting.
//!
//! A job that an operator resumes meanwhile runs on. A job that an operator wants suspended is
//! parked all the same, and stays so.

use dfrs_core::{JobState, Span, Time};
use serde::{Deserialize, Serialize};

use super::event::{JobContext, LifeEvent};
use super::journal::{JournalPlace, JournalState};
use super::parked::Parked;
use super::phase::{LifePhase, Phase};
use super::planned;
use super::reason::WaitFacts;
use super::requeued::{lost, start_forgotten};
use super::step::{LifeStep, ParkStatus, STUCK, StepResult, TOO_SLOW, has_passed};
use super::traits::{Freezing, PauseEffect, PhaseCourse, PhasePlace, PhaseTraits};
use super::transition::LifeTransition;
use super::unparking::Unparking;
use crate::job::placement::NamedPlacement;
use crate::slurm::records::{ObservedJob, ObservedState};

/// slurmd receives a suspension within this time.
const SUSPEND_DELIVERY_TIME: Span = Span(3_000_000);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ParkingPhase {
    /// Since when.
    pub(super) since: Time,
    /// It was suspended to be parked: if it runs again, an operator has resumed it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_suspended: bool,
    /// slurmctld has forgotten that it was suspended: its nodes may have stopped it all the same.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_forgotten: bool,
}

impl ParkingPhase {
    /// Of a job that runs.
    pub(super) fn begins(context: &JobContext) -> Self {
        Self {
            since: context.now,
            is_suspended: false,
            is_forgotten: false,
        }
    }
}

impl Phase for ParkingPhase {
    fn traits(&self) -> &'static PhaseTraits {
        &PhaseTraits {
            name: "being parked",
            course: PhaseCourse::Leaving,
            place: PhasePlace::Used,
            freezing: Freezing::Always,
            pause: PauseEffect::AsBefore,
        }
    }

    fn next_step(&self, context: &JobContext, on_nodes: ParkStatus) -> Option<LifeStep> {
        match context.job.state {
            ObservedState::Running => (!context.job.configuring).then_some(LifeStep::Suspend),
            ObservedState::Suspended if on_nodes == ParkStatus::Parked => {
                Some(LifeStep::ReleaseMemory)
            }
            ObservedState::Suspended if on_nodes == ParkStatus::Stuck => {
                Some(LifeStep::Abandon(STUCK))
            }
            ObservedState::Suspended => {
                has_passed(self.since, context.config.park_timeout, context.now)
                    .then_some(LifeStep::Abandon(TOO_SLOW))
            }
            ObservedState::Pending | ObservedState::Ended => None,
        }
    }

    fn on(&self, event: &LifeEvent, context: &JobContext) -> Option<LifeTransition> {
        match event {
            LifeEvent::Seen => self.seen(context),
            // Its nodes may report at once that it is parked, as it is since before: it is not
            // resumed before slurmd has received the suspension.
            LifeEvent::Did(LifeStep::Suspend, StepResult::Done) if self.is_forgotten => {
                Some(self.suspended().after(SUSPEND_DELIVERY_TIME))
            }
            LifeEvent::Did(LifeStep::Suspend, StepResult::Done) => Some(self.suspended()),
            // It does not run on: to be continued it has to be suspended first.
            LifeEvent::Did(LifeStep::Suspend, StepResult::Refused)
                if self.may_be_stopped(context) =>
            {
                Some(LifeTransition::same_step_later())
            }
            LifeEvent::Did(step, answer) => did(step, answer, context),
            // Where Slurm does not count its memory, either DFRS had released it, or it had been
            // parked before, came back, and slurmctld has forgotten that. Its nodes say which:
            // until then it holds what it had.
            LifeEvent::Forgotten { was_requeued } => stop_forgotten(*was_requeued, context),
            // Only a suspended job can be resumed.
            LifeEvent::HandedBack => (!self.may_be_stopped(context)).then(|| back(context)),
            LifeEvent::Planned(_) | LifeEvent::NotParked => None,
        }
    }

    fn planned(&self, context: &JobContext) -> Option<JobState> {
        planned::parked(&context.place(), context)
    }

    fn journal_place(&self, job: &ObservedJob, before: &JournalState) -> JournalPlace<'_> {
        // It was resumed by others, and is parked again: its memory is not its own.
        if *before == JournalState::Paused && job.state == ObservedState::Suspended {
            JournalPlace::Paused
        } else {
            JournalPlace::Here
        }
    }

    fn reason(&self, _: &WaitFacts) -> Option<String> {
        Some("DFRS: being parked".to_owned())
    }

    fn under_way_text(&self, last_place: &NamedPlacement) -> String {
        format!("parking on {last_place}")
    }

    fn needs_park_confirmation(&self) -> bool {
        true
    }

    fn may_hold_memory(&self, job: &ObservedJob) -> bool {
        matches!(job.state, ObservedState::Suspended | ObservedState::Ended)
    }
}

impl ParkingPhase {
    fn seen(&self, context: &JobContext) -> Option<LifeTransition> {
        match context.job.state {
            ObservedState::Pending => Some(lost(context)),
            ObservedState::Running if self.is_suspended => Some(resumed_by_operator(context)),
            ObservedState::Suspended if !self.is_suspended => Some(self.suspended()),
            _ => None,
        }
    }

    fn suspended(&self) -> LifeTransition {
        LifeTransition::to(LifePhase::Parking(Self {
            since: self.since,
            is_suspended: true,
            is_forgotten: false,
        }))
    }

    /// Whether its processes may be stopped while Slurm shows it as running.
    fn may_be_stopped(&self, context: &JobContext) -> bool {
        self.is_forgotten && context.job.state == ObservedState::Running
    }
}

/// An operator resumed it: it runs on, once its memory is counted, if it no longer is.
fn resumed_by_operator(context: &JobContext) -> LifeTransition {
    if context.job.is_counted() {
        return LifeTransition::to(LifePhase::Running).left_alone();
    }
    LifeTransition::to(LifePhase::Parked(
        Parked::here(context).with_resume_requested(),
    ))
}

fn did(step: &LifeStep, answer: &StepResult, context: &JobContext) -> Option<LifeTransition> {
    match (step, answer) {
        (LifeStep::ReleaseMemory, StepResult::Released(memory)) => {
            let parked = if context.job.is_counted() {
                Parked::with(memory.clone(), context)
            } else {
                Parked::here(context)
            };
            Some(LifeTransition::to(LifePhase::Parked(parked)).moved())
        }
        (LifeStep::Suspend, StepResult::Refused) => {
            Some(LifeTransition::to(LifePhase::Running).not_parked())
        }
        (LifeStep::ReleaseMemory, StepResult::Refused) => Some(LifeTransition::same_step_later()),
        // It cost the job time all the same.
        (LifeStep::Abandon(_), _) => Some(back(context).moved().not_parked()),
        _ => None,
    }
}

/// Its memory is still counted, so it comes back at once; unless slurmctld has forgotten that: then
/// it is claimed first, as the job holds it.
fn back(context: &JobContext) -> LifeTransition {
    LifeTransition::to(LifePhase::Unparking(Unparking {
        is_forgotten: !context.job.is_counted(),
        ..Unparking::here(context)
    }))
}

/// slurmctld has forgotten of a stopped job that it was suspended, or even that it had started.
pub(super) fn stop_forgotten(was_requeued: bool, context: &JobContext) -> Option<LifeTransition> {
    suspension_forgotten(context).or_else(|| start_forgotten(was_requeued, context))
}

/// slurmctld has forgotten that the job was suspended, to be parked: its nodes have it frozen, so
/// it is parked again.
fn suspension_forgotten(context: &JobContext) -> Option<LifeTransition> {
    (context.job.state == ObservedState::Running).then(|| {
        let parking = ParkingPhase {
            is_forgotten: true,
            ..ParkingPhase::begins(context)
        };
        LifeTransition::repeat(LifePhase::Parking(parking), "was suspended")
    })
}
