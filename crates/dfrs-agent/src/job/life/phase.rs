//! The phases of a job's life, and which file says what of each.

use dfrs_core::JobState;
use serde::{Deserialize, Serialize};

use super::dumping::Dumping;
use super::event::{JobContext, LifeEvent};
use super::foreign::{self, ForeignPhase};
use super::journal::{JournalPlace, JournalState};
use super::leaving::{LeavingPhase, Next, Warned};
use super::parked::Parked;
use super::parking::ParkingPhase;
use super::reason::WaitFacts;
use super::requeued::Requeued;
use super::running::RunningPhase;
use super::starting::Starting;
use super::step::{LifeStep, ParkStatus};
use super::traits::PhaseTraits;
use super::transition::LifeTransition;
use super::unparking::Unparking;
use super::waiting::{PausedPhase, WaitingPhase};
use crate::job::placement::NamedPlacement;
use crate::slurm::records::{ObservedJob, ObservedPlace, ObservedState};

/// All that is to be said of a phase, in a file of its own.
pub(super) trait Phase {
    /// What it is like, whatever job is in it.
    fn traits(&self) -> &'static PhaseTraits;

    /// What follows from `event`, if anything does.
    fn on(&self, event: &LifeEvent, context: &JobContext) -> Option<LifeTransition>;

    /// The step to request from Slurm now, if any.
    fn next_step(&self, _context: &JobContext, _on_nodes: ParkStatus) -> Option<LifeStep> {
        None
    }

    /// What the core shall see of the job: what it does after it has given up its place. `None`: it is
    /// not DFRS's to decide about.
    fn planned(&self, context: &JobContext) -> Option<JobState> {
        self.after_leaving()?.planned(context)
    }

    /// Where the journal, which has said `before` of it, shall have the job.
    fn journal_place(&self, _job: &ObservedJob, _before: &JournalState) -> JournalPlace<'_> {
        JournalPlace::Here
    }

    /// What squeue shows as its reason; `None`: Slurm's own.
    fn reason(&self, _waits: &WaitFacts) -> Option<String> {
        None
    }

    /// What is under way, and where, for the log.
    fn under_way_text(&self, _last_place: &NamedPlacement) -> String {
        "action".to_owned()
    }

    /// What the job does after it has given up its place by checkpoint and requeue, if it does.
    fn after_leaving(&self) -> Option<&Next> {
        None
    }

    /// Whether its last processes are ending, and its image is all that is to be left of them.
    fn leaves_image(&self) -> bool {
        false
    }

    /// Whether it has its warning in this run.
    fn was_warned(&self) -> bool {
        false
    }

    /// Whether it waits for memory on one of these nodes.
    fn lacks_room_on(&self, _nodes: &NamedPlacement, _context: &JobContext) -> bool {
        false
    }

    /// Whether the nodes have to say that the job is parked.
    fn needs_park_confirmation(&self) -> bool {
        false
    }

    /// See [`Life::undecided_memory`](super::Life::undecided_memory).
    fn undecided_memory(&self, _position: usize, _place: &ObservedPlace) -> u64 {
        0
    }

    /// Whether the job holds memory on its nodes, or may, where Slurm does not count it.
    fn may_hold_memory(&self, _job: &ObservedJob) -> bool {
        false
    }

    /// Whether an operator says when the job runs, not the core.
    fn is_undecided(&self, _job: &ObservedJob) -> bool {
        false
    }
}

/// Where a job is on its way. The names are those of the state file.
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
    /// Is being carried: its node writes its image.
    Dumping(Dumping),
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

    /// What its file says of it.
    pub(super) fn rules(&self) -> &dyn Phase {
        match self {
            Self::Waiting => &WaitingPhase,
            Self::Starting(starting) => starting,
            Self::Running => &RunningPhase,
            Self::Parking(parking) => parking,
            Self::Parked(parked) => parked,
            Self::Unparking(unparking) => unparking,
            Self::Leaving(leaving) => leaving,
            Self::Warned(warned) => warned,
            Self::Dumping(dumping) => dumping,
            Self::Requeued(requeued) => requeued,
            Self::Paused => &PausedPhase,
            Self::Foreign => &ForeignPhase,
        }
    }
}
