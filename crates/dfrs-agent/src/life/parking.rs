//! Parking: suspended, then frozen by its nodes, which push its memory to swap; when all of them say
//! that this is done, its memory is released in Slurm's accounting.
//!
//! A job that an operator resumes meanwhile runs on. One that an operator wants suspended is parked all the
//! same, and stays so.

use dfrs_core::{Span, Time};
use serde::{Deserialize, Serialize};

use super::event::{Event, Look};
use super::parked::Parked;
use super::phase::Phase;
use super::requeued::{lost, start_forgotten};
use super::step::{Answer, OnNodes, STUCK, Step, TOO_SLOW, has_passed};
use super::turn::Turn;
use super::unparking::Unparking;
use crate::observation::ObservedState;

/// slurmd hears of a suspension within this.
const UNTIL_HEARD: Span = Span(3_000_000);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Parking {
    /// Since when.
    pub(super) since: Time,
    /// It was suspended to be parked: if it runs again, somebody has resumed it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_suspended: bool,
    /// slurmctld has forgotten that it was suspended: its nodes may have stopped it all the same.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_forgotten: bool,
}

impl Parking {
    /// Of a job that runs.
    pub(super) fn begins(look: &Look) -> Self {
        Self {
            since: look.now,
            is_suspended: false,
            is_forgotten: false,
        }
    }

    pub(super) fn next_step(&self, look: &Look, on_nodes: OnNodes) -> Option<Step> {
        match look.job.state {
            ObservedState::Running => (!look.job.configuring).then_some(Step::Suspend),
            ObservedState::Suspended if on_nodes == OnNodes::Parked => Some(Step::ReleaseMemory),
            ObservedState::Suspended if on_nodes == OnNodes::Stuck => Some(Step::Abandon(STUCK)),
            ObservedState::Suspended => has_passed(self.since, look.config.park_timeout, look.now)
                .then_some(Step::Abandon(TOO_SLOW)),
            ObservedState::Pending | ObservedState::Ended => None,
        }
    }

    pub(super) fn on(&self, event: &Event, look: &Look) -> Option<Turn> {
        match event {
            Event::Seen => self.seen(look),
            // Its nodes may say at once that it is parked, as they have it so since before: it is not resumed
            // before slurmd has heard that it is suspended.
            Event::Did(Step::Suspend, Answer::Done) if self.is_forgotten => {
                Some(self.suspended().after(UNTIL_HEARD))
            }
            Event::Did(Step::Suspend, Answer::Done) => Some(self.suspended()),
            // It does not run on: to be continued it has to be suspended first.
            Event::Did(Step::Suspend, Answer::Refused) if self.is_stopped_unseen(look) => {
                Some(Turn::same_step_later())
            }
            Event::Did(step, answer) => did(step, answer, look),
            // Where Slurm does not count its memory, either DFRS had released it, or it had been parked before,
            // came back, and slurmctld has forgotten that. Its nodes say which: until then it holds what it had.
            Event::Forgotten { was_requeued } => stop_forgotten(*was_requeued, look),
            // Only who is suspended can be resumed.
            Event::HandedBack => (!self.is_stopped_unseen(look)).then(|| back(look)),
            Event::Planned(_) | Event::NotParked => None,
        }
    }

    fn seen(&self, look: &Look) -> Option<Turn> {
        match look.job.state {
            ObservedState::Pending => Some(lost(look)),
            ObservedState::Running if self.is_suspended => Some(called_back(look)),
            ObservedState::Suspended if !self.is_suspended => Some(self.suspended()),
            _ => None,
        }
    }

    fn suspended(&self) -> Turn {
        Turn::to(Phase::Parking(Self {
            since: self.since,
            is_suspended: true,
            is_forgotten: false,
        }))
    }

    /// Whether its processes may be stopped while Slurm shows it as running.
    fn is_stopped_unseen(&self, look: &Look) -> bool {
        self.is_forgotten && look.job.state == ObservedState::Running
    }
}

/// An operator resumed it: it runs on, once its memory is counted, if it no longer is.
fn called_back(look: &Look) -> Turn {
    if look.job.is_counted() {
        return Turn::to(Phase::Running).left_alone();
    }
    Turn::to(Phase::Parked(Parked::here(look).called_back()))
}

fn did(step: &Step, answer: &Answer, look: &Look) -> Option<Turn> {
    match (step, answer) {
        (Step::ReleaseMemory, Answer::Released(memory)) => {
            let parked = if look.job.is_counted() {
                Parked::with(memory.clone(), look)
            } else {
                Parked::here(look)
            };
            Some(Turn::to(Phase::Parked(parked)).moved())
        }
        (Step::Suspend, Answer::Refused) => Some(Turn::to(Phase::Running).not_parked()),
        (Step::ReleaseMemory, Answer::Refused) => Some(Turn::same_step_later()),
        // It cost the job time all the same.
        (Step::Abandon(_), _) => Some(back(look).moved().not_parked()),
        _ => None,
    }
}

/// Its memory is still counted, so it comes back at once; unless slurmctld has forgotten that: then it is
/// claimed first, as the job holds it.
fn back(look: &Look) -> Turn {
    Turn::to(Phase::Unparking(Unparking {
        is_forgotten: !look.job.is_counted(),
        ..Unparking::here(look)
    }))
}

/// slurmctld has forgotten of a stopped job that it was suspended, or even that it had started.
pub(super) fn stop_forgotten(was_requeued: bool, look: &Look) -> Option<Turn> {
    suspension_forgotten(look).or_else(|| start_forgotten(was_requeued, look))
}

/// slurmctld has forgotten that the job was suspended, to be parked: its nodes have it frozen, so it
/// is parked again.
fn suspension_forgotten(look: &Look) -> Option<Turn> {
    (look.job.state == ObservedState::Running).then(|| {
        let parking = Parking {
            is_forgotten: true,
            ..Parking::begins(look)
        };
        Turn::repeat(Phase::Parking(parking), "was suspended")
    })
}
