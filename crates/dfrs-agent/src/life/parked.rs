//! Parked: suspended, frozen, its memory in swap and out of Slurm's accounting. It comes back to the
//! nodes where it is, and only when a plan says so.
//!
//! It stays parked while one of its nodes drains or is down, because the core gives it no place on
//! a node that is not up. An operator's `scontrol suspend` of a parked job changes nothing here: the
//! next plan resumes it all the same.

use dfrs_core::Action;
use serde::{Deserialize, Serialize};

use super::event::{Event, Look};
use super::parking::suspension_forgotten;
use super::phase::Phase;
use super::requeued::{lost, start_forgotten};
use super::room::fits_again;
use super::step::{Answer, Step};
use super::turn::Turn;
use super::unparking::Unparking;
use crate::cluster::memory_on_node;
use crate::observation::{ObservedState, Place};
use crate::placement::Placement;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Parked {
    /// Where it was and will be again.
    pub(super) placement: Placement,
    /// MiB per node, in Slurm's order, taken out of Slurm's accounting.
    pub(super) memory: Vec<u64>,
}

impl Parked {
    /// Where Slurm has the job, with so much memory released.
    pub(super) fn with(memory: Vec<u64>, look: &Look) -> Self {
        Self {
            placement: Placement::of_job(look.job, look.observation),
            memory,
        }
    }

    /// Where Slurm has the job, with all memory released that it needs there.
    pub(super) fn here(look: &Look) -> Self {
        let needs = |place: &Place| memory_on_node(look.job, place.tasks, look.observation);
        Self::with(look.job.places.iter().map(needs).collect(), look)
    }

    pub(super) fn next_step(&self, look: &Look) -> Option<Step> {
        match look.job.state {
            ObservedState::Running => Some(resumed_by_others(&self.memory, look)),
            // slurmctld ended before it had saved that the memory was released.
            ObservedState::Suspended => look.job.is_counted().then_some(Step::ReleaseMemory),
            ObservedState::Pending | ObservedState::Ended => None,
        }
    }

    pub(super) fn on(&self, event: &Event, look: &Look) -> Option<Turn> {
        match event {
            Event::Planned(Action::Resume(..)) | Event::HandedBack => {
                Some(Turn::to(Phase::Unparking(self.back(look))))
            }
            Event::Planned(_) => None,
            Event::Seen => match look.job.state {
                // Somebody resumed it, and nothing has to be claimed.
                ObservedState::Running if look.job.is_counted() => Some(Turn::to(Phase::Running)),
                ObservedState::Pending => Some(lost(look)),
                _ => None,
            },
            Event::Did(step, answer) => did(step, answer, look),
            Event::Forgotten { was_requeued } => {
                suspension_forgotten(look).or_else(|| start_forgotten(*was_requeued, look))
            }
        }
    }

    fn back(&self, look: &Look) -> Unparking {
        Unparking {
            placement: self.placement.clone(),
            memory: self.memory.clone(),
            since: look.now,
        }
    }
}

fn did(step: &Step, answer: &Answer, look: &Look) -> Option<Turn> {
    match (step, answer) {
        // Somebody resumed it, and its memory is counted again.
        (Step::ClaimMemory(_), Answer::Done) => Some(Turn::to(Phase::Running)),
        (Step::ReleaseMemory, Answer::Released(memory)) => {
            Some(Turn::to(Phase::Parked(Parked::with(memory.clone(), look))))
        }
        (_, Answer::Refused) => Some(Turn::same_step_later()),
        _ => None,
    }
}

/// Somebody resumed a parked job: it may run on if its memory fits, else it is stopped again.
pub(super) fn resumed_by_others(memory: &[u64], look: &Look) -> Step {
    if fits_again(memory, look) {
        Step::ClaimMemory(memory.to_vec())
    } else {
        Step::Suspend
    }
}
