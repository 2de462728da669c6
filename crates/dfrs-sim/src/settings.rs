//! What a simulation depends on beside the trace and the scheduler.

use dfrs_core::{Bytes, Job, LONGEST_PAUSE, Mapping, Mobility, Span, Time};

use crate::coupling::CouplingLoss;
use crate::mobility::Cost;
use crate::trace::NODE_MEMORY;

/// No simulation goes beyond this time: 2^61 microseconds are 73,000 years.
pub(crate) const LAST: Time = Time(1 << 61);

/// What a simulation depends on beside the trace and the scheduler, whose policy has settings of its
/// own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SimSettings {
    /// Number of nodes, at least 1.
    pub nodes: u32,
    /// Time in which a resumed or migrated job makes no progress, not negative: the papers' flat
    /// penalty.
    pub penalty: Span,
    /// The cost of a resume or move of jobs that are parked; none: the penalty.
    pub park_cost: Option<Cost>,
    /// The cost of a resume or move of jobs that are checkpointed; none: the penalty.
    pub checkpoint_cost: Option<Cost>,
    /// The cost of a resume or move of jobs that are carried; none: the penalty.
    pub carry_cost: Option<Cost>,
    /// Memory of parked jobs that the swap of each node holds, in the unit of [`NODE_MEMORY`].
    pub swap: Bytes,
    /// How batch schedulers know how long jobs run.
    pub estimates: Estimates,
    /// How long a turn is in gang scheduling, above 0.
    pub time_slice: Span,
    /// What CPU jobs count with in decisions of DFRS; it makes a difference where they use less
    /// than they requested ([`crate::trace::TraceJob::uses`]).
    pub needs: Needs,
    /// For how long a job is paused before it comes first, under policies that weigh moves; none: for any time. The
    /// papers' policies know no such bound.
    pub longest_pause: Option<Span>,
    /// Whether jobs inherit what others of their user had lately ([`dfrs_core::Histories`]), under policies that weigh
    /// moves. It makes a difference only where users are known ([`crate::trace::TraceJob::user`]).
    pub fair_by_user: bool,
    /// What jobs on several nodes lose beside what their yields say under DFRS. Decisions do not know it.
    pub coupling_loss: CouplingLoss,
}

/// What CPU a job counts with in decisions of DFRS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Needs {
    /// What the job requested.
    #[default]
    Requested,
    /// What the job was seen to use, as [`dfrs_core::Measured`] has it: measured every 10 s, and 2
    /// s after it is held back.
    Measured,
}

/// How batch schedulers know how long jobs run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Estimates {
    /// Exactly.
    #[default]
    Perfect,
    /// From the jobs' users ([`crate::trace::TraceJob::estimate`]). What a user did not say is known
    /// exactly.
    User,
}

impl SimSettings {
    /// What the papers take: a penalty of 300 s, perfect estimates. Swap is
    /// as much as memory, and a turn takes as long as with Slurm's default of SchedulerTimeSlice.
    pub const fn new(nodes: u32) -> Self {
        Self {
            nodes,
            penalty: Span::from_seconds(300),
            park_cost: None,
            checkpoint_cost: None,
            carry_cost: None,
            swap: NODE_MEMORY,
            estimates: Estimates::Perfect,
            time_slice: Span::from_seconds(30),
            needs: Needs::Requested,
            longest_pause: Some(LONGEST_PAUSE),
            fair_by_user: true,
            coupling_loss: CouplingLoss::NONE,
        }
    }

    /// Time in which the job makes no progress when it comes back or moves to these nodes. A job that
    /// has lost its work starts again, and starting costs nothing.
    pub(crate) fn stall(&self, job: &Job, mapping: &Mapping) -> Span {
        let cost = match job.mobility {
            Mobility::Checkpoint => self.checkpoint_cost,
            Mobility::Carry => self.carry_cost,
            Mobility::Park => self.park_cost,
            Mobility::Restart => Some(Cost::default()),
            Mobility::Never => None,
        };
        cost.unwrap_or(Cost::flat(self.penalty)).of(job, mapping)
    }
}
