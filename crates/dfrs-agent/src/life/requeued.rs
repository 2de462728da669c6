//! Requeued: back in Slurm's queue while its last processes end, by DFRS's doing or because it lost its
//! place. When they are gone it waits, begins again, or starts where it was to move.

use dfrs_core::Mobility;
use serde::{Deserialize, Serialize};

use super::event::{Event, Look};
use super::leaving::Next;
use super::phase::Phase;
use super::starting::Starting;
use super::step::{Answer, Step};
use super::turn::Turn;
use super::waiting::taken_by_others;
use crate::observation::ObservedState;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Requeued {
    /// What follows.
    pub(super) next: Next,
    /// The last process is gone and its memory is free.
    pub(super) gone: bool,
}

impl Requeued {
    pub(super) fn next_step(&self) -> Option<Step> {
        self.gone.then_some(Step::ClearBeginTime)
    }

    pub(super) fn on(&self, event: &Event, look: &Look) -> Option<Turn> {
        match event {
            Event::Seen => self.seen(look),
            Event::Did(Step::ClearBeginTime, Answer::Done) => Some(self.arrives(look)),
            Event::Did(_, Answer::Refused) => Some(Turn::same_step_later()),
            Event::HandedBack => Some(Turn::to(Phase::Waiting)),
            Event::Planned(_) | Event::Did(..) | Event::NotParked | Event::Forgotten { .. } => None,
        }
    }

    fn seen(&self, look: &Look) -> Option<Turn> {
        match look.job.state {
            ObservedState::Pending if !self.gone && !look.job.completing => {
                Some(Turn::to(Phase::Requeued(Self {
                    next: self.next.clone(),
                    gone: true,
                })))
            }
            _ => taken_by_others(look),
        }
    }

    /// It waits, or it goes where it was to move.
    fn arrives(&self, look: &Look) -> Turn {
        match &self.next {
            Next::Pause => Turn::to(Phase::Paused).moved(),
            Next::Restart => Turn::to(Phase::Waiting).begins_again(),
            Next::Move(placement) => Turn::to(Phase::Starting(Starting {
                placement: placement.clone(),
                since: look.now,
                resumes: true,
            }))
            .moved(),
        }
    }
}

/// The job is back in the queue without DFRS's doing: requeued by others, or its node failed.
pub(super) fn lost(look: &Look) -> Turn {
    let next = if look.mobility() == Mobility::Checkpoint {
        Next::Pause
    } else {
        Next::Restart
    };
    Turn::to(Phase::Requeued(Requeued { next, gone: false })).left_behind(!look.job.completing)
}

/// slurmctld has forgotten that the job it shows as waiting had started: its nodes run it, and are
/// told to end it.
pub(super) fn start_forgotten(was_requeued: bool, look: &Look) -> Option<Turn> {
    let is_forgotten = look.job.state == ObservedState::Pending && !was_requeued;
    is_forgotten.then(|| {
        let mut turn = lost(look).left_behind(true);
        turn.effects.forgotten = Some("had started");
        turn
    })
}
