//! What a decision returns.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::{JobId, Mapping};
use crate::units::Yield;

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Action {
    /// Start a pending job here.
    Start(JobId, Mapping),
    /// Take a running job's place away; how follows from its mobility.
    Pause(JobId),
    /// Bring a paused or parked job back here (a parked one: exactly where it was).
    Resume(JobId, Mapping),
    /// Change a running job's mapping: it leaves all its nodes, then arrives on these.
    Migrate(JobId, Mapping),
    /// Give a running job this share of its need.
    SetYield(JobId, Yield),
}

impl Action {
    /// The job that the action is about.
    pub const fn job(&self) -> JobId {
        match self {
            Self::Start(job, _)
            | Self::Pause(job)
            | Self::Resume(job, _)
            | Self::Migrate(job, _)
            | Self::SetYield(job, _) => *job,
        }
    }

    /// What is done, in one word, as scenario files write it.
    pub const fn verb(&self) -> &'static str {
        match self {
            Self::Start(..) => "start",
            Self::Pause(_) => "pause",
            Self::Resume(..) => "resume",
            Self::Migrate(..) => "migrate",
            Self::SetYield(..) => "yield",
        }
    }

    /// Where the job is after the action, if the action places it.
    pub const fn mapping(&self) -> Option<&Mapping> {
        match self {
            Self::Start(_, mapping) | Self::Resume(_, mapping) | Self::Migrate(_, mapping) => {
                Some(mapping)
            }
            Self::Pause(_) | Self::SetYield(..) => None,
        }
    }
}

/// Why an action is in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reason {
    /// The job's memory fits now.
    Fits,
    /// The job's place goes to this newly submitted job of higher priority.
    MakesRoomFor(JobId),
    /// The remap of all jobs places it so.
    Remap,
    /// The remap could not place all jobs and this one has the lowest rank.
    DoesNotFitRemap,
    /// The job goes to nodes with so much less load that the move is worth its cost.
    LessLoad,
    /// The moves of several jobs wait for each other, so that this one steps aside; the same plan
    /// brings it back later. Together both actions are one migration.
    BreaksCycle,
    /// Loads changed.
    Share,
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fits => formatter.write_str("its memory fits now"),
            Self::MakesRoomFor(job) => write!(formatter, "preempted by the new job {job}"),
            Self::Remap => formatter.write_str("the remap of all jobs places it so"),
            Self::DoesNotFitRemap => {
                formatter.write_str("not all jobs fit and it has the lowest rank")
            }
            Self::LessLoad => formatter.write_str("moves to less loaded nodes"),
            Self::BreaksCycle => formatter.write_str("paused within a migration"),
            Self::Share => formatter.write_str("loads changed"),
        }
    }
}

/// An action and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedAction {
    /// What to do.
    pub action: Action,
    /// Why.
    pub reason: Reason,
}

/// Why a job that waits was not placed. Each variant names what would have to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Blocked {
    /// No set of nodes, even empty ones, holds the job: it will never start as submitted.
    NeverFits,
    /// There is not enough free memory now.
    Memory,
    /// There is enough free memory, but not where the devices are free that it requires: jobs hold
    /// them, ours or others, or nodes lack them.
    Devices {
        /// The position in [`crate::Job::rigid`] of a kind that is short.
        kind: usize,
    },
    /// There is enough free memory, but not where the load is as low as it has to be there: that of
    /// all nodes is limited, or jobs on several nodes have a least yield
    /// ([`crate::policy::Settings`]), or it is long and waits for idle CPU.
    Cpu,
    /// Parked, and the memory of its own nodes is taken.
    OwnNodesFull,
    /// The eligible nodes are down or draining.
    NodesUnavailable,
    /// There is room now that is reserved for the job that has waited longest
    /// ([`crate::policy::Submission::Reserving`]).
    Reserved,
    /// There is room now that the policy does not use: it does nothing at this trigger, or its
    /// remap found no mapping with this job and those of higher priority.
    NotNow,
}

impl fmt::Display for Blocked {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Devices { kind } = self {
            return write!(formatter, "waits for devices of kind {kind}");
        }
        formatter.write_str(match self {
            Self::Devices { .. } => "waits for devices",
            Self::NeverFits => "requires more than the cluster has",
            Self::Memory => "waits for memory",
            Self::Cpu => "waits for CPU",
            Self::OwnNodesFull => "parked, waits for memory on its own nodes",
            Self::NodesUnavailable => "its nodes are down or draining",
            Self::Reserved => "waits: what is free is reserved for the job that has waited longest",
            Self::NotNow => "waits for the next scheduling event",
        })
    }
}

/// An immutable list of actions, in an order in which they can be carried out without exceeding
/// any node's memory (what leaves comes before what arrives).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// What to do, in order.
    pub actions: Vec<PlannedAction>,
}

impl Plan {
    /// Whether some job starts, stops or moves; yields do not count.
    pub fn changes_places(&self) -> bool {
        self.actions
            .iter()
            .any(|planned| !matches!(planned.action, Action::SetYield(..)))
    }
}
