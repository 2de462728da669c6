//! Unparking: planned to come back to its nodes. Its memory is claimed as soon as it is free there,
//! then its nodes thaw it and it is resumed.

use dfrs_core::{JobState, Time};
use serde::{Deserialize, Serialize};

use super::event::{JobContext, LifeEvent};
use super::journal::{JournalPlace, JournalState};
use super::parked::{Parked, has_lost_nodes};
use super::parking::stop_forgotten;
use super::phase::{LifePhase, Phase};
use super::planned;
use super::reason::WaitFacts;
use super::requeued::lost;
use super::room::fits_again;
use super::step::{LifeStep, NO_ROOM, ParkStatus, ROOM_TIMEOUT, StepResult, has_passed};
use super::traits::{Freezing, PauseEffect, PhaseCourse, PhasePlace, PhaseTraits};
use super::transition::{LifeTransition, RETRY_AFTER};
use crate::job::placement::NamedPlacement;
use crate::job::reservations::is_reserved;
use crate::slurm::records::{ObservedJob, ObservedPlace, ObservedState};

const RESERVED: LifeStep =
    LifeStep::Abandon("its nodes are reserved for others (Slurm reservation)");

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Unparking {
    /// Where.
    pub(super) placement: NamedPlacement,
    /// MiB per node, in Slurm's order, taken out of Slurm's accounting.
    pub(super) memory: Vec<u64>,
    /// Since when.
    pub(super) since: Time,
    /// Its nodes run it already: slurmctld was killed before it had kept that the job had come
    /// back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_forgotten: bool,
}

impl Unparking {
    /// Where Slurm has the job, with all memory that it needs there.
    pub(super) fn here(context: &JobContext) -> Self {
        let Parked {
            placement, memory, ..
        } = Parked::here(context);
        Self {
            placement,
            memory,
            since: context.now,
            is_forgotten: false,
        }
    }
}

impl Phase for Unparking {
    fn traits(&self) -> &'static PhaseTraits {
        &PhaseTraits {
            name: "coming back",
            course: PhaseCourse::Arriving,
            place: PhasePlace::Released,
            freezing: Freezing::UntilCounted,
            pause: PauseEffect::AsBefore,
        }
    }

    fn next_step(&self, context: &JobContext, _: ParkStatus) -> Option<LifeStep> {
        if context.job.is_counted() {
            let is_ours = context.job.state == ObservedState::Suspended
                && !context.job.is_suspended_by_operator();
            return is_ours.then_some(LifeStep::Resume);
        }
        // The nodes were reserved meanwhile.
        if is_reserved(context.job, context.config, context.now) {
            return Some(RESERVED);
        }
        if fits_again(&self.memory, context) {
            return Some(LifeStep::ClaimMemory(self.memory.clone()));
        }
        has_passed(self.since, ROOM_TIMEOUT, context.now).then_some(NO_ROOM)
    }

    fn on(&self, event: &LifeEvent, context: &JobContext) -> Option<LifeTransition> {
        match event {
            LifeEvent::Seen => self.seen(context),
            LifeEvent::Did(step, answer) => self.did(step, answer),
            LifeEvent::Forgotten { was_requeued } => stop_forgotten(*was_requeued, context),
            LifeEvent::HandedBack => Some(LifeTransition::to(LifePhase::Unparking(Self {
                since: context.now,
                ..self.clone()
            }))),
            LifeEvent::Planned(_) | LifeEvent::NotParked => None,
        }
    }

    fn planned(&self, context: &JobContext) -> Option<JobState> {
        planned::running(&self.placement, context)
    }

    fn journal_place(&self, job: &ObservedJob, _: &JournalState) -> JournalPlace<'_> {
        if job.is_counted() {
            JournalPlace::Here
        } else {
            JournalPlace::Paused
        }
    }

    fn reason(&self, _: &WaitFacts) -> Option<String> {
        Some("DFRS: resumes as soon as its memory is free".to_owned())
    }

    fn under_way_text(&self, last_place: &NamedPlacement) -> String {
        format!("resumption on {last_place}")
    }

    fn undecided_memory(&self, position: usize, _: &ObservedPlace) -> u64 {
        self.memory.get(position).copied().unwrap_or(0)
    }

    fn may_hold_memory(&self, _: &ObservedJob) -> bool {
        self.is_forgotten
    }
}

impl Unparking {
    fn seen(&self, context: &JobContext) -> Option<LifeTransition> {
        let job = context.job;
        match job.state {
            ObservedState::Pending => Some(lost(context)),
            // An operator resumed it.
            ObservedState::Running if job.is_counted() => {
                Some(LifeTransition::to(LifePhase::Running).left_alone())
            }
            ObservedState::Running => Some(LifeTransition::to(LifePhase::Parked(
                self.parked().with_resume_requested(),
            ))),
            // Its memory is counted, as that of any job that an operator suspended.
            ObservedState::Suspended if job.is_suspended_by_operator() && job.is_counted() => {
                Some(LifeTransition::to(LifePhase::Foreign))
            }
            ObservedState::Suspended if has_lost_nodes(&self.memory, context) => {
                let left = self.parked().on_remaining_nodes(context);
                Some(LifeTransition::to(LifePhase::Unparking(Self {
                    placement: left.placement,
                    memory: left.memory,
                    ..self.clone()
                })))
            }
            _ => None,
        }
    }

    fn parked(&self) -> Parked {
        Parked {
            placement: self.placement.clone(),
            memory: self.memory.clone(),
            called_back: false,
            is_unheard: self.is_forgotten,
        }
    }

    fn did(&self, step: &LifeStep, answer: &StepResult) -> Option<LifeTransition> {
        match (step, answer) {
            (LifeStep::Resume, StepResult::Done) => Some(LifeTransition::to(LifePhase::Running)),
            (LifeStep::Abandon(_), _) => {
                let parked = LifePhase::Parked(self.parked());
                Some(LifeTransition::to(parked).after(RETRY_AFTER).freed())
            }
            (_, StepResult::Refused) => Some(LifeTransition::same_step_later()),
            _ => None,
        }
    }
}

/// slurmctld has forgotten that the suspended job had come back: its nodes run it.
pub(super) fn return_forgotten(context: &JobContext) -> Option<LifeTransition> {
    (context.job.state == ObservedState::Suspended).then(|| {
        let unparking = Unparking {
            is_forgotten: true,
            ..Unparking::here(context)
        };
        LifeTransition::repeat(LifePhase::Unparking(unparking), "had resumed")
    })
}
