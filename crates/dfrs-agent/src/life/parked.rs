//! Parked: suspended, frozen, its memory in swap and out of Slurm's accounting. It comes back to the
//! nodes where it is, and only when a plan says so.
//!
//! It stays parked while one of its nodes does not answer. One that drains takes it back, because whoever drains
//! it waits for that.
//!
//! What an operator says of it counts more. One whom an operator wants suspended is nobody's to
//! resume but his; where he resumes it, it comes back first of all: as soon as its memory is free,
//! which nobody else gets there.

use dfrs_core::Action;
use serde::{Deserialize, Serialize};

use super::event::{Event, Look};
use super::parking::stop_forgotten;
use super::phase::Phase;
use super::requeued::lost;
use super::room::fits_again;
use super::step::{Answer, OnNodes, Step};
use super::turn::Turn;
use super::unparking::Unparking;
use crate::cluster::memory_on_node;
use crate::observation::{ObservedJob, ObservedState, Place};
use crate::placement::Placement;
use crate::reservations::is_reserved;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Parked {
    /// Where it was and will be again.
    pub(super) placement: Placement,
    /// MiB per node, in Slurm's order, taken out of Slurm's accounting.
    pub(super) memory: Vec<u64>,
    /// An operator resumed it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) called_back: bool,
    /// slurmctld was killed, and may have forgotten that the job had come back: until its nodes say that it is
    /// parked, it holds its memory.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_unheard: bool,
}

impl Parked {
    /// Where Slurm has the job, with so much memory released.
    pub(super) fn with(memory: Vec<u64>, look: &Look) -> Self {
        Self {
            placement: Placement::of_job(look.job, look.observation),
            memory,
            called_back: false,
            is_unheard: false,
        }
    }

    /// By an operator, or no longer.
    pub(super) fn called_back(self) -> Self {
        Self {
            called_back: true,
            ..self
        }
    }

    /// Whether it is an operator's to say when it runs.
    pub(super) fn is_undecided(&self, job: &ObservedJob) -> bool {
        self.called_back || job.is_suspended_by_operator()
    }

    /// Where Slurm has the job, with all memory released that it needs there.
    pub(super) fn here(look: &Look) -> Self {
        let needs = |place: &Place| memory_on_node(look.job, place.tasks, look.observation);
        Self::with(look.job.places.iter().map(needs).collect(), look)
    }

    pub(super) fn next_step(&self, look: &Look, on_nodes: OnNodes) -> Option<Step> {
        match look.job.state {
            ObservedState::Running => Some(resumed_by_others(&self.memory, look)),
            ObservedState::Suspended if self.is_unheard && !self.called_back => {
                (on_nodes == OnNodes::Parked).then_some(Step::ReleaseMemory)
            }
            // slurmctld ended before it had saved that the memory was released.
            ObservedState::Suspended if look.job.is_counted() => Some(Step::ReleaseMemory),
            ObservedState::Suspended => (self.called_back && fits_again(&self.memory, look))
                .then(|| Step::ClaimMemory(self.memory.clone())),
            ObservedState::Pending | ObservedState::Ended => None,
        }
    }

    pub(super) fn on(&self, event: &Event, look: &Look) -> Option<Turn> {
        match event {
            // Its nodes are somebody else's; it comes back when they no longer are.
            Event::HandedBack if is_reserved(look.job, look.config, look.now) => None,
            // It is stopped again first: as long as it has no room it would be frozen and run in Slurm's eyes.
            Event::HandedBack if self.called_back && look.job.state == ObservedState::Running => {
                None
            }
            Event::Planned(Action::Resume(..)) | Event::HandedBack => {
                Some(Turn::to(Phase::Unparking(self.back(look))))
            }
            Event::Planned(_) => None,
            Event::Seen => self.seen(look),
            Event::Did(Step::ClaimMemory(_), Answer::Done) => Some(self.claimed(look)),
            Event::Did(step, answer) => self.did(step, answer, look),
            // Whatever it may still do: it was resumed by others, or looked at before slurmd had stopped it.
            Event::NotParked => self.unheard(look),
            Event::Forgotten { was_requeued } => {
                stop_forgotten(*was_requeued, look).or_else(|| self.unheard(look))
            }
        }
    }

    fn seen(&self, look: &Look) -> Option<Turn> {
        let job = look.job;
        match job.state {
            ObservedState::Pending => Some(lost(look)),
            ObservedState::Running if job.is_counted() => {
                Some(Turn::to(Phase::Running).left_alone())
            }
            ObservedState::Running if has_lost_nodes(&self.memory, look) => {
                Some(Turn::to(Phase::Parked(self.on_what_is_left(look))))
            }
            ObservedState::Running => self.becomes(true),
            ObservedState::Suspended if has_lost_nodes(&self.memory, look) => {
                Some(Turn::to(Phase::Parked(self.on_what_is_left(look))))
            }
            ObservedState::Suspended if job.is_suspended_by_operator() => self.becomes(false),
            ObservedState::Suspended if job.is_counted() && self.called_back => {
                Some(Turn::to(Phase::Unparking(self.back(look))).left_alone())
            }
            _ => None,
        }
    }

    /// The same where it still is, if it has lost nodes.
    pub(super) fn on_what_is_left(&self, look: &Look) -> Self {
        let here = Self::here(look);
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
    fn becomes(&self, called_back: bool) -> Option<Turn> {
        let parked = Self {
            called_back,
            ..self.clone()
        };
        (parked != *self).then(|| Turn::to(Phase::Parked(parked)))
    }

    /// An operator resumed it, and its memory is counted again.
    fn claimed(&self, look: &Look) -> Turn {
        let phase = if look.job.state == ObservedState::Running {
            Phase::Running
        } else {
            Phase::Unparking(self.back(look))
        };
        Turn::to(phase).left_alone()
    }

    fn back(&self, look: &Look) -> Unparking {
        Unparking {
            placement: self.placement.clone(),
            memory: self.memory.clone(),
            since: look.now,
            is_forgotten: self.is_unheard,
        }
    }

    fn unheard(&self, look: &Look) -> Option<Turn> {
        let unheard = Self {
            is_unheard: true,
            ..self.clone()
        };
        (look.job.state == ObservedState::Suspended).then(|| Turn::to(Phase::Parked(unheard)))
    }

    fn did(&self, step: &Step, answer: &Answer, look: &Look) -> Option<Turn> {
        match (step, answer) {
            (Step::ReleaseMemory, Answer::Released(memory)) => {
                let memory = if look.job.is_counted() {
                    memory
                } else {
                    &self.memory
                };
                Some(Turn::to(Phase::Parked(Self::with(memory.clone(), look))))
            }
            (_, Answer::Refused) => Some(Turn::same_step_later()),
            _ => None,
        }
    }
}

/// Somebody resumed a parked job: it may run on if its memory fits, else it is stopped again.
fn resumed_by_others(memory: &[u64], look: &Look) -> Step {
    if fits_again(memory, look) {
        Step::ClaimMemory(memory.to_vec())
    } else {
        Step::Suspend
    }
}

/// Whether a job that was parked with so much memory released on each of its nodes has fewer by now: its user let some
/// go (`scontrol update NumNodes=`), or they failed and it goes on without (`--no-kill`). Slurm allows both while it is
/// suspended.
pub(super) fn has_lost_nodes(memory: &[u64], look: &Look) -> bool {
    look.job.places.len() < memory.len()
}
