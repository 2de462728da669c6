//! The port by which a pass reports its progress, to be measured: the agent has no clock of its
//! own.

/// What a pass is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PassPart {
    /// Brings what is known of Slurm up to date.
    Look,
    /// Queries Slurm which pending jobs may start.
    Query,
    /// Decides, and checks the plan.
    Decide,
    /// Requests steps of jobs from Slurm.
    Act,
    /// Allocates CPU, and moves time limits.
    Share,
    /// Updates the nodes, the users, the journal and the state file.
    Publish,
}

impl PassPart {
    /// All parts, in the order of a pass.
    pub const ALL: [Self; 6] = [
        Self::Look,
        Self::Query,
        Self::Decide,
        Self::Act,
        Self::Share,
        Self::Publish,
    ];

    /// One word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Look => "look",
            Self::Query => "query",
            Self::Decide => "decide",
            Self::Act => "act",
            Self::Share => "share",
            Self::Publish => "publish",
        }
    }
}

/// What should not happen, and is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incident {
    /// A plan broke a rule and was dropped.
    PlanDropped,
    /// A decision took too long and was ended.
    DecisionEnded,
}

/// How long passes took, by the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassDurations {
    /// How many there were; 0: nothing was measured.
    pub count: u64,
    /// Half of them took no longer, in microseconds.
    pub median_us: u64,
    /// 99 of 100 of them took no longer, in microseconds.
    pub p99_us: u64,
}

/// Measures passes.
pub trait Probe {
    /// The pass leaves the part that it was at, and is at this one.
    fn begin(&mut self, part: PassPart);
    /// This has happened.
    fn happened(&mut self, incident: Incident);
    /// The passes that have ended since the last call.
    fn take_passes(&mut self) -> PassDurations;
}
