//! The phases of a job's life, and which file says what of each.

use serde::{Deserialize, Serialize};

use super::event::{Event, Look};
use super::leaving::{Leaving, Warned};
use super::parked::Parked;
use super::parking::Parking;
use super::requeued::Requeued;
use super::starting::Starting;
use super::step::{OnNodes, Step};
use super::turn::Turn;
use super::unparking::Unparking;
use super::{foreign, running, waiting};
use crate::observation::ObservedState;

/// Where a job is on its way. Every phase but `Waiting`, `Running`, `Parked`, `Paused` and
/// `Foreign` is something under way. The names are those of the state file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Phase {
    /// In Slurm's queue; nothing is planned.
    #[default]
    Waiting,
    /// Is to start as soon as its memory is free by Slurm's accounting.
    Starting(Starting),
    /// Has its place and its share.
    Running,
    /// Is being parked: suspended, then frozen and reclaimed by the nodes.
    Parking(Parking),
    /// Parked.
    Parked(Parked),
    /// Parked, and to come back as soon as its memory is free again.
    Unparking(Unparking),
    /// Is to give up its place by checkpoint and requeue; not warned yet.
    Leaving(Leaving),
    /// Got its warning signal and has until its time is up to write its checkpoint.
    Warned(Warned),
    /// Requeued; its last processes are ending.
    Requeued(Requeued),
    /// Gave up its place by checkpoint; in Slurm's queue.
    Paused,
    /// Suspended by an operator: not ours to touch until it runs again.
    Foreign,
}

impl Phase {
    /// The phase of a job that the ledger does not know.
    pub(super) fn first_seen(look: &Look) -> Self {
        match look.job.state {
            ObservedState::Pending | ObservedState::Ended => Self::Waiting,
            ObservedState::Running => Self::Running,
            // Only DFRS takes a suspended job's memory out of Slurm's accounting.
            ObservedState::Suspended if look.job.is_counted() => foreign::suspended(look),
            ObservedState::Suspended => Self::Parked(Parked::here(look)),
        }
    }

    /// What follows from `event`, if anything does.
    pub(super) fn on(&self, event: &Event, look: &Look) -> Option<Turn> {
        match self {
            Self::Waiting => waiting::on(event, look),
            Self::Paused => waiting::on_paused(event, look),
            Self::Starting(starting) => starting.on(event, look),
            Self::Running => running::on(event, look),
            Self::Parking(parking) => parking.on(event, look),
            Self::Parked(parked) => parked.on(event, look),
            Self::Unparking(unparking) => unparking.on(event, look),
            Self::Leaving(leaving) => leaving.on(event, look),
            Self::Warned(warned) => warned.on(event, look),
            Self::Requeued(requeued) => requeued.on(event, look),
            Self::Foreign => foreign::on(event, look),
        }
    }

    /// What to ask of Slurm now, if anything.
    pub(super) fn next_step(&self, look: &Look, on_nodes: OnNodes) -> Option<Step> {
        match self {
            Self::Starting(starting) => starting.next_step(look),
            Self::Parking(parking) => parking.next_step(look, on_nodes),
            Self::Parked(parked) => parked.next_step(look, on_nodes),
            Self::Unparking(unparking) => unparking.next_step(look),
            Self::Leaving(leaving) => leaving.next_step(look),
            Self::Warned(warned) => warned.next_step(look),
            Self::Requeued(requeued) => requeued.next_step(),
            Self::Waiting | Self::Running | Self::Paused | Self::Foreign => None,
        }
    }
}
