//! Unparking: planned to come back to its nodes. Its memory is claimed as soon as it is free there,
//! then its nodes thaw it and it is resumed.

use dfrs_core::Time;
use serde::{Deserialize, Serialize};

use super::event::{Event, Look};
use super::parked::{Parked, has_lost_nodes};
use super::parking::stop_forgotten;
use super::phase::Phase;
use super::requeued::lost;
use super::room::fits_again;
use super::step::{Answer, NO_ROOM, ROOM_TIMEOUT, Step, has_passed};
use super::turn::{RETRY_AFTER, Turn};
use crate::observation::ObservedState;
use crate::placement::Placement;
use crate::reservations::is_reserved;

const RESERVED: Step = Step::Abandon("its nodes are reserved");

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Unparking {
    /// Where.
    pub(super) placement: Placement,
    /// MiB per node, in Slurm's order, taken out of Slurm's accounting.
    pub(super) memory: Vec<u64>,
    /// Since when.
    pub(super) since: Time,
    /// Its nodes run it already: slurmctld was killed before it had kept that the job had come back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_forgotten: bool,
}

impl Unparking {
    /// Where Slurm has the job, with all memory that it needs there.
    pub(super) fn here(look: &Look) -> Self {
        let Parked {
            placement, memory, ..
        } = Parked::here(look);
        Self {
            placement,
            memory,
            since: look.now,
            is_forgotten: false,
        }
    }

    pub(super) fn next_step(&self, look: &Look) -> Option<Step> {
        if look.job.is_counted() {
            let is_ours =
                look.job.state == ObservedState::Suspended && !look.job.is_suspended_by_operator();
            return is_ours.then_some(Step::Resume);
        }
        // Somebody reserved them meanwhile.
        if is_reserved(look.job, look.config, look.now) {
            return Some(RESERVED);
        }
        if fits_again(&self.memory, look) {
            return Some(Step::ClaimMemory(self.memory.clone()));
        }
        has_passed(self.since, ROOM_TIMEOUT, look.now).then_some(NO_ROOM)
    }

    pub(super) fn on(&self, event: &Event, look: &Look) -> Option<Turn> {
        match event {
            Event::Seen => self.seen(look),
            Event::Did(step, answer) => self.did(step, answer),
            Event::Forgotten { was_requeued } => stop_forgotten(*was_requeued, look),
            Event::HandedBack => Some(Turn::to(Phase::Unparking(Self {
                since: look.now,
                ..self.clone()
            }))),
            Event::Planned(_) | Event::NotParked => None,
        }
    }

    fn seen(&self, look: &Look) -> Option<Turn> {
        let job = look.job;
        match job.state {
            ObservedState::Pending => Some(lost(look)),
            // Somebody else resumed it.
            ObservedState::Running if job.is_counted() => {
                Some(Turn::to(Phase::Running).left_alone())
            }
            ObservedState::Running => Some(Turn::to(Phase::Parked(self.parked().called_back()))),
            // Its memory is counted, as that of any job that an operator suspended.
            ObservedState::Suspended if job.is_suspended_by_operator() && job.is_counted() => {
                Some(Turn::to(Phase::Foreign))
            }
            ObservedState::Suspended if has_lost_nodes(&self.memory, look) => {
                let left = self.parked().on_what_is_left(look);
                Some(Turn::to(Phase::Unparking(Self {
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

    fn did(&self, step: &Step, answer: &Answer) -> Option<Turn> {
        match (step, answer) {
            (Step::Resume, Answer::Done) => Some(Turn::to(Phase::Running)),
            (Step::Abandon(_), _) => {
                let parked = Phase::Parked(self.parked());
                Some(Turn::to(parked).after(RETRY_AFTER).freed())
            }
            (_, Answer::Refused) => Some(Turn::same_step_later()),
            _ => None,
        }
    }
}

/// slurmctld has forgotten that the suspended job had come back: its nodes run it.
pub(super) fn return_forgotten(look: &Look) -> Option<Turn> {
    (look.job.state == ObservedState::Suspended).then(|| {
        let unparking = Unparking {
            is_forgotten: true,
            ..Unparking::here(look)
        };
        Turn::repeat(Phase::Unparking(unparking), "had come back")
    })
}
