//! The phases of a job's life, and which file says what of each.

use serde::{Deserialize, Serialize};

use super::event::{JobContext, LifeEvent};
use super::leaving::{LeavingPhase, Next, Warned};
use super::parked::Parked;
use super::parking::ParkingPhase;
use super::requeued::Requeued;
use super::starting::Starting;
use super::step::{LifeStep, ParkStatus};
use super::transition::LifeTransition;
use super::unparking::Unparking;
use super::{foreign, running, waiting};
use crate::slurm::records::ObservedState;

/// Where a job is on its way. Every phase but `Waiting`, `Running`, `Parked`, `Paused` and
/// `Foreign` is something under way. The names are those of the state file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum LifePhase {
    /// In Slurm's queue; nothing is planned.
    #[default]
    Waiting,
    /// Is to start as soon as its memory is free by Slurm's accounting.
    Starting(Starting),
    /// Has its place and its share.
    Running,
    /// Is being parked: suspended, then frozen and reclaimed by the nodes.
    Parking(ParkingPhase),
    /// Parked.
    Parked(Parked),
    /// Parked, and to come back as soon as its memory is free again.
    Unparking(Unparking),
    /// Is to give up its place by checkpoint and requeue; not warned yet.
    Leaving(LeavingPhase),
    /// Got its warning signal and has until its time is up to write its checkpoint.
    Warned(Warned),
    /// Requeued; its last processes are ending.
    Requeued(Requeued),
    /// Gave up its place by checkpoint; in Slurm's queue.
    Paused,
    /// Suspended by an operator: not ours to touch until it runs again.
    Foreign,
}

impl LifePhase {
    /// The phase of a job that the ledger does not know.
    pub(super) fn first_seen(context: &JobContext) -> Self {
        match context.job.state {
            ObservedState::Pending | ObservedState::Ended => Self::Waiting,
            ObservedState::Running => Self::Running,
            // Only DFRS takes a suspended job's memory out of Slurm's accounting.
            ObservedState::Suspended if context.job.is_counted() => foreign::suspended(context),
            ObservedState::Suspended => Self::Parked(Parked::here(context)),
        }
    }

    /// What the job does after it has given up its place by checkpoint and requeue, if it does that.
    pub(super) fn after_leaving(&self) -> Option<&Next> {
        match self {
            Self::Leaving(LeavingPhase { next })
            | Self::Warned(Warned { next, .. })
            | Self::Requeued(Requeued { next, .. }) => Some(next),
            _ => None,
        }
    }

    /// What follows from `event`, if anything does.
    pub(super) fn on(&self, event: &LifeEvent, context: &JobContext) -> Option<LifeTransition> {
        match self {
            Self::Waiting => waiting::on(event, context),
            Self::Paused => waiting::on_paused(event, context),
            Self::Starting(starting) => starting.on(event, context),
            Self::Running => running::on(event, context),
            Self::Parking(parking) => parking.on(event, context),
            Self::Parked(parked) => parked.on(event, context),
            Self::Unparking(unparking) => unparking.on(event, context),
            Self::Leaving(leaving) => leaving.on(event, context),
            Self::Warned(warned) => warned.on(event, context),
            Self::Requeued(requeued) => requeued.on(event, context),
            Self::Foreign => foreign::on(event, context),
        }
    }

    /// The step to request from Slurm now, if any.
    pub(super) fn next_step(&self, context: &JobContext, on_nodes: ParkStatus) -> Option<LifeStep> {
        match self {
            Self::Starting(starting) => starting.next_step(context),
            Self::Parking(parking) => parking.next_step(context, on_nodes),
            Self::Parked(parked) => parked.next_step(context, on_nodes),
            Self::Unparking(unparking) => unparking.next_step(context),
            Self::Leaving(leaving) => leaving.next_step(context),
            Self::Warned(warned) => warned.next_step(context),
            Self::Requeued(requeued) => requeued.next_step(),
            Self::Waiting | Self::Running | Self::Paused | Self::Foreign => None,
        }
    }
}
