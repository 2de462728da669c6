//! Parked: suspended, frozen, its memory in swap and out of Slurm's accounting. It comes back to
//! the nodes where it is, and only when a plan says so.
//!
//! It stays parked while one of its nodes does not answer. It comes back to a node that drains,
//! because the drain is complete only then.
//!
//! An operator's commands take precedence. A job that an operator wants suspended is resumed only
//! by the operator; when the operator resumes it, it comes back first of all: as soon as its memory
//! is free, which no other job gets there.

use dfrs_core::{Action, JobState};
use serde::{Deserialize, Serialize};

use super::event::{JobContext, LifeEvent};
use super::journal::{JournalPlace, JournalState};
use super::parking::stop_forgotten;
use super::phase::{LifePhase, Phase};
use super::planned;
use super::reason::WaitFacts;
use super::requeued::lost;
use super::room::fits_again;
use super::step::{LifeStep, ParkStatus, StepResult};
use super::traits::{Freezing, PauseEffect, PhaseCourse, PhasePlace, PhaseTraits};
use super::transition::LifeTransition;
use super::unparking::Unparking;
use crate::job::placement::NamedPlacement;
use crate::job::reservations::is_reserved;
use crate::slurm::records::{ObservedJob, ObservedPlace, ObservedState};
use crate::slurm::request::memory::memory_on_node;

const RESUMED_BY_OPERATOR: &str =
    "DFRS: resumed by an operator; comes back as soon as its memory is free, before all others";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Parked {
    /// Where it was and will be again.
    pub(super) placement: NamedPlacement,
    /// MiB per node, in Slurm's order, taken out of Slurm's accounting.
    pub(super) memory: Vec<u64>,
    /// An operator resumed it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) called_back: bool,
    /// slurmctld was killed, and may have forgotten that the job had come back: until its nodes say
    /// that it is parked, it holds its memory.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_unheard: bool,
}

impl Parked {
    /// Where Slurm has the job, with so much memory released.
    pub(super) fn with(memory: Vec<u64>, context: &JobContext) -> Self {
        Self {
            placement: context.place(),
            memory,
            called_back: false,
            is_unheard: false,
        }
    }

    /// By an operator, or no longer.
    pub(super) fn with_resume_requested(self) -> Self {
        Self {
            called_back: true,
            ..self
        }
    }

    /// Where Slurm has the job, with all memory released that it needs there.
    pub(super) fn here(context: &JobContext) -> Self {
        let needs =
            |place: &ObservedPlace| memory_on_node(context.job, place.tasks, context.observation);
        Self::with(context.job.places.iter().map(needs).collect(), context)
    }
}

impl Phase for Parked {
    fn traits(&self) -> &'static PhaseTraits {
        &PhaseTraits {
            name: "parked",
            course: PhaseCourse::Settled,
            place: PhasePlace::Released,
            freezing: Freezing::Always,
            pause: PauseEffect::Paused,
        }
    }

    fn next_step(&self, context: &JobContext, on_nodes: ParkStatus) -> Option<LifeStep> {
        match context.job.state {
            ObservedState::Running => Some(resumed_by_others(&self.memory, context)),
            ObservedState::Suspended if self.is_unheard && !self.called_back => {
                (on_nodes == ParkStatus::Parked).then_some(LifeStep::ReleaseMemory)
            }
            // slurmctld ended before it had saved that the memory was released.
            ObservedState::Suspended if context.job.is_counted() => Some(LifeStep::ReleaseMemory),
            ObservedState::Suspended => (self.called_back && fits_again(&self.memory, context))
                .then(|| LifeStep::ClaimMemory(self.memory.clone())),
            ObservedState::Pending | ObservedState::Ended => None,
        }
    }

    fn on(&self, event: &LifeEvent, context: &JobContext) -> Option<LifeTransition> {
        match event {
            // Its nodes are reserved for others; it comes back when they no longer are.
            LifeEvent::HandedBack if is_reserved(context.job, context.config, context.now) => None,
            // It is stopped again first: without room it would be frozen and running for Slurm.
            LifeEvent::HandedBack
                if self.called_back && context.job.state == ObservedState::Running =>
            {
                None
            }
            LifeEvent::Planned(Action::Resume(..)) | LifeEvent::HandedBack => {
                Some(LifeTransition::to(LifePhase::Unparking(self.back(context))))
            }
            LifeEvent::Planned(_) => None,
            LifeEvent::Seen => self.seen(context),
            LifeEvent::Did(LifeStep::ClaimMemory(_), StepResult::Done) => {
                Some(self.claimed(context))
            }
            LifeEvent::Did(step, answer) => self.did(step, answer, context),
            // Whatever its state: it was resumed by others, or looked at before slurmd had stopped
            // it.
            LifeEvent::NotParked => self.unconfirmed(context),
            LifeEvent::Forgotten { was_requeued } => {
                stop_forgotten(*was_requeued, context).or_else(|| self.unconfirmed(context))
            }
        }
    }

    fn planned(&self, context: &JobContext) -> Option<JobState> {
        if self.is_undecided(context.job) {
            return None;
        }
        planned::parked(&self.placement, context)
    }

    fn journal_place(&self, _: &ObservedJob, _: &JournalState) -> JournalPlace<'_> {
        JournalPlace::Paused
    }

    fn reason(&self, waits: &WaitFacts) -> Option<String> {
        if self.called_back {
            return Some(RESUMED_BY_OPERATOR.to_owned());
        }
        Some(match waits.draining_node() {
            Some(node) => format!(
                "DFRS: parked on {node}, which is draining; resumes there before other jobs start"
            ),
            None => format!("DFRS: parked; {}", waits.why()),
        })
    }

    fn needs_park_confirmation(&self) -> bool {
        self.is_unheard
    }

    fn undecided_memory(&self, position: usize, _: &ObservedPlace) -> u64 {
        let memory = self.memory.get(position).filter(|_| self.called_back);
        memory.copied().unwrap_or(0)
    }

    fn may_hold_memory(&self, _: &ObservedJob) -> bool {
        self.is_unheard
    }

    fn is_undecided(&self, job: &ObservedJob) -> bool {
        self.called_back || job.is_suspended_by_operator()
    }
}

impl Parked {
    fn seen(&self, context: &JobContext) -> Option<LifeTransition> {
        let job = context.job;
        match job.state {
            ObservedState::Pending => Some(lost(context)),
            ObservedState::Running if job.is_counted() => {
                Some(LifeTransition::to(LifePhase::Running).left_alone())
            }
            ObservedState::Running if has_lost_nodes(&self.memory, context) => Some(
                LifeTransition::to(LifePhase::Parked(self.on_remaining_nodes(context))),
            ),
            ObservedState::Running => self.becomes(true),
            ObservedState::Suspended if has_lost_nodes(&self.memory, context) => Some(
                LifeTransition::to(LifePhase::Parked(self.on_remaining_nodes(context))),
            ),
            ObservedState::Suspended if job.is_suspended_by_operator() => self.becomes(false),
            ObservedState::Suspended if job.is_counted() && self.called_back => {
                Some(LifeTransition::to(LifePhase::Unparking(self.back(context))).left_alone())
            }
            _ => None,
        }
    }

    /// This state on the nodes where the job still is, if it has lost nodes.
    pub(super) fn on_remaining_nodes(&self, context: &JobContext) -> Self {
        let here = Self::here(context);
        let released = |name: &str| {
            let mut before = self.placement.0.iter().zip(&self.memory);
            before.find_map(|(spot, memory)| (spot.node == name).then_some(*memory))
        };
        let nodes = here.placement.0.iter().zip(&here.memory);
        let memory = nodes.map(|(spot, needed)| released(&spot.node).unwrap_or(*needed));
        Self {
            memory: memory.collect(),
            placement: here.placement.clone(),
            ..self.clone()
        }
    }

    /// Called back or not, where it is the other.
    fn becomes(&self, called_back: bool) -> Option<LifeTransition> {
        let parked = Self {
            called_back,
            ..self.clone()
        };
        (parked != *self).then(|| LifeTransition::to(LifePhase::Parked(parked)))
    }

    /// An operator resumed it, and its memory is counted again.
    fn claimed(&self, context: &JobContext) -> LifeTransition {
        let phase = if context.job.state == ObservedState::Running {
            LifePhase::Running
        } else {
            LifePhase::Unparking(self.back(context))
        };
        LifeTransition::to(phase).left_alone()
    }

    fn back(&self, context: &JobContext) -> Unparking {
        Unparking {
            placement: self.placement.clone(),
            memory: self.memory.clone(),
            since: context.now,
            is_forgotten: self.is_unheard,
        }
    }

    fn unconfirmed(&self, context: &JobContext) -> Option<LifeTransition> {
        let unconfirmed = Self {
            is_unheard: true,
            ..self.clone()
        };
        (context.job.state == ObservedState::Suspended)
            .then(|| LifeTransition::to(LifePhase::Parked(unconfirmed)))
    }

    fn did(
        &self,
        step: &LifeStep,
        answer: &StepResult,
        context: &JobContext,
    ) -> Option<LifeTransition> {
        match (step, answer) {
            (LifeStep::ReleaseMemory, StepResult::Released(memory)) => {
                let memory = if context.job.is_counted() {
                    memory
                } else {
                    &self.memory
                };
                Some(LifeTransition::to(LifePhase::Parked(Self::with(
                    memory.clone(),
                    context,
                ))))
            }
            (_, StepResult::Refused) => Some(LifeTransition::same_step_later()),
            _ => None,
        }
    }
}

/// An operator resumed a parked job: it may run on if its memory fits, else it is stopped again.
fn resumed_by_others(memory: &[u64], context: &JobContext) -> LifeStep {
    if fits_again(memory, context) {
        LifeStep::ClaimMemory(memory.to_vec())
    } else {
        LifeStep::Suspend
    }
}

/// Whether a job that was parked with so much memory released on each of its nodes has fewer by
/// now: its user let some go (`scontrol update NumNodes=`), or they failed and it goes on without
/// (`--no-kill`). Slurm allows both while it is suspended.
pub(super) fn has_lost_nodes(memory: &[u64], context: &JobContext) -> bool {
    context.job.places.len() < memory.len()
}
