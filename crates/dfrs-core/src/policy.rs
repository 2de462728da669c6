//! Policies by the papers' names.

use serde::{Deserialize, Serialize};

use crate::model::Job;
use crate::priority::PriorityFunction;
use crate::units::{Span, Time};

mod catalogue;
mod further;
mod least_yield;
mod load_ceiling;
mod name;
mod run_time_hint;
mod setting;

pub use catalogue::{TPDS_GRACES, TPDS_SUBMISSIONS};
pub use further::{FurtherGoal, MappingProblem, MappingSearch};
pub use least_yield::LeastYield;
pub use load_ceiling::LoadCeiling;
pub use name::{PolicyError, PolicyParts, PolicyReader, whole_seconds};
pub use run_time_hint::RunTimeHint;
pub use setting::{POLICY_SETTINGS, PolicySetting};

/// A scheduling policy, parsed from and printed to the papers' names (TPDS, Section 4.5), for
/// example `GreedyPM*/per/OPT=MIN/MINVT=600`, in upper or lower case. What the papers' names do not
/// say is in `settings`, which parsing leaves at its defaults and printing leaves out.
///
/// What only the papers' experiments need is not linked into slurmctld: its names are read, and
/// such a policy is made, by the crate dfrs-papers.
///
/// ```
/// use dfrs_core::{Policy, PolicyError};
/// let policy: Policy = "greedypm*/per/opt=min".parse()?;
/// assert_eq!(policy.to_string(), "GreedyPM*/per/OPT=MIN");
/// # Ok::<(), PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// What is done when a job is submitted.
    pub submission: Submission,
    /// `*`: whether waiting jobs are tried whenever something happens: a job ends, is submitted, or
    /// all are remapped at the period. With MCB8, which maps all jobs, only the end of jobs counts.
    pub opportunistic: bool,
    /// What is done every period.
    pub periodic: Periodic,
    /// `OPT=`: how CPU is allocated once tasks are mapped.
    pub optimisation: Optimisation,
    /// `MINVT=`, `MINFT=`: which running jobs a remap must not move.
    pub grace: Grace,
    /// When jobs that wait are tried again; only the IPDPS 2010 names say other than usual.
    #[serde(default)]
    pub retry: Retry,
    /// What the name does not say.
    #[serde(default)]
    pub settings: Settings,
}

/// What is done when a job is submitted (TPDS, Sections 4.2 to 4.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Submission {
    /// The job waits for the period.
    Nothing,
    /// The job starts if its memory fits.
    Greedy,
    /// The job starts, and running jobs of lower priority are paused for it where needed.
    GreedyP,
    /// As GreedyP, but those are moved rather than paused where possible.
    GreedyPM,
    /// As GreedyPM, but for all waiting jobs at every event, and those jobs are preempted whose
    /// preemption costs least. Not of the papers.
    LeastCostPreemption,
    /// As [`Self::LeastCostPreemption`], but the job that has waited longest has a reservation,
    /// jobs on several nodes have whole CPUs, which they lend to short jobs, and long jobs wait for
    /// idle CPU. Not of the papers.
    Reserving,
    /// All jobs are remapped.
    Mcb8,
}

/// What is done every period (TPDS, Sections 4.4 and 4.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Periodic {
    /// Nothing.
    Nothing,
    /// `/per`: all jobs are remapped by MCB8 for the highest minimum yield, or as the policy's goal
    /// says ([`FurtherGoal::search`]).
    Remap,
    /// `/move-per`: nothing is remapped; jobs of high priority come back in place of others, and
    /// single jobs move where that gains them more than it costs. Not of the papers.
    Moves,
}

/// How CPU is allocated once tasks are mapped (TPDS, Section 4.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Optimisation {
    /// No `OPT=`: every job gets 1/max(1, Λ), Λ being the greatest load of any node.
    Uniform,
    /// `OPT=MIN`: the smallest yield is as large as possible, then the next smallest, and so on.
    Minimum,
    /// `OPT=VT`: as [`Self::Minimum`], but jobs share in proportion to weights that fall with their
    /// virtual time, so that short jobs are soon done and long ones lose little by it. Not of the
    /// papers.
    VirtualTime,
    /// What another crate brings in, such as `OPT=AVG`; policies with it are written by name.
    #[serde(skip)]
    Further(&'static dyn FurtherGoal),
}

/// When jobs that wait are tried again, other than by `*` and by the period (IPDPS 2010, Section
/// III-A).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Retry {
    /// Never.
    #[default]
    Nothing,
    /// The driver raises the job's submission again after [`Policy::retry_after`].
    Backoff,
}

/// Which running jobs a remap by MCB8, whatever triggers it, must not move (TPDS, Section 4.3). It
/// may still pause them, and GreedyPM may move them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Grace {
    /// None.
    Nothing,
    /// `MINFT=`: those with a flow time below this.
    FlowTime(Span),
    /// `MINVT=`: those with a virtual time below this.
    VirtualTime(Span),
}

/// What the loads of nodes may grow to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ceilings {
    /// Of any node.
    pub(crate) all: Option<LoadCeiling>,
    /// Of nodes with jobs that run on several.
    pub(crate) parallel: Option<LoadCeiling>,
    /// Whether jobs that cannot move freely are packed ([`crate::greedy`]).
    pub(crate) packs: bool,
}

impl Ceilings {
    /// Whether any load will do.
    pub(crate) fn are_none(self) -> bool {
        self.all.is_none() && self.parallel.is_none()
    }
}

impl From<Option<LoadCeiling>> for Ceilings {
    fn from(all: Option<LoadCeiling>) -> Self {
        Self {
            all,
            ..Self::default()
        }
    }
}

/// What the papers' names do not say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Time between periodic remaps, above 0; the driver keeps it, and raises the trigger.
    /// A [`FurtherGoal`] may expect yields to last that long. Default 600 s, as in the papers.
    pub period: Span,
    /// Time in which a job that was moved or brought back makes no progress. Policies that weigh
    /// moves ([`Policy::weighs_moves`]) move by it. Under others, if it is above 0, a periodic
    /// remap that brings back no waiting job is carried out only if the smallest yield over the
    /// period, these times counted, grows. Default 0: decisions ignore it, as in the papers.
    pub penalty: Span,
    /// Which job comes first. Default flow / vt²; the IPDPS 2010 names set that paper's.
    pub priority: PriorityFunction,
    /// No decision puts a task with a CPU need where the load would exceed this. Default none, as
    /// in the papers.
    pub load_ceiling: Option<LoadCeiling>,
    /// Jobs on several nodes have at least this yield: neither they nor others beside them go where
    /// the load would be too much for that, and others are preempted for them if need be. Default
    /// none, as in the papers. Only [`Submission::LeastCostPreemption`] uses it.
    pub parallel_least_yield: Option<LeastYield>,
    /// How much may be moved. Default without limit, as in the papers.
    pub budget: Budget,
    /// Whether a remap exchanges the places of equal jobs so that as few of them as possible move,
    /// which makes no difference to other jobs. Default no, as in the papers.
    pub keep_equal_jobs: bool,
    /// What decisions may know of run times. Default nothing, as in the papers. Only
    /// [`Submission::LeastCostPreemption`] uses it.
    pub run_time_hint: RunTimeHint,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            period: Span::from_seconds(600),
            penalty: Span::ZERO,
            priority: PriorityFunction::default(),
            load_ceiling: None,
            parallel_least_yield: None,
            budget: Budget::default(),
            keep_equal_jobs: false,
            run_time_hint: RunTimeHint::Nothing,
        }
    }
}

/// How many running jobs may be paused or moved. Starting and resuming jobs costs nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Budget {
    /// In one decision. A job that steps aside and comes back within a plan counts once.
    pub moves_per_decision: Option<u32>,
    /// Of one job within an hour; the driver counts them in [`crate::Job::recent_moves`].
    pub moves_per_job: Option<u32>,
}

impl Policy {
    /// The papers' recommendation: `GreedyPM*/per/OPT=MIN/MINVT=600` (TPDS, Section 5.3).
    pub fn recommended() -> Self {
        Self {
            submission: Submission::GreedyPM,
            opportunistic: true,
            periodic: Periodic::Remap,
            optimisation: Optimisation::Minimum,
            grace: Grace::VirtualTime(Span::from_seconds(600)),
            retry: Retry::Nothing,
            settings: Settings::default(),
        }
    }

    /// The policy named `default`: `GreedyPMCR*/move-per/OPT=VT/MINVT=600` (docs/policy.md).
    pub fn own() -> Self {
        Self {
            submission: Submission::Reserving,
            periodic: Periodic::Moves,
            optimisation: Optimisation::VirtualTime,
            retry: Retry::Backoff,
            ..Self::recommended()
        }
    }

    /// Whether the driver must raise the period trigger every `settings.period`.
    pub const fn is_periodic(&self) -> bool {
        !matches!(self.periodic, Periodic::Nothing)
    }

    /// How long after its last try a job that was not placed is submitted again, if the policy says
    /// so at all: min(2^12, 2^tries) seconds (IPDPS 2010, Section III-A). `tries` counts failed
    /// tries, at least 1.
    pub fn retry_after(&self, tries: u32) -> Option<Span> {
        (self.retry == Retry::Backoff).then(|| Span::from_seconds(1 << tries.min(12)))
    }

    /// Whether decisions weigh what moves cost ([`Settings::penalty`]), which the papers' policies
    /// do not know in their experiments.
    pub const fn weighs_moves(&self) -> bool {
        matches!(
            self.submission,
            Submission::LeastCostPreemption | Submission::Reserving
        )
    }

    /// Whether the job that has waited longest has a reservation, and what follows from it
    /// ([`Submission::Reserving`]).
    pub const fn reserves(&self) -> bool {
        matches!(self.submission, Submission::Reserving)
    }

    /// What jobs on several nodes have at least: whole CPUs, or [`Settings::parallel_least_yield`],
    /// where the policy uses it.
    pub(crate) fn parallel_least_yield(&self) -> Option<LeastYield> {
        match self.submission {
            Submission::Reserving => Some(LeastYield::ALL),
            Submission::LeastCostPreemption => self.settings.parallel_least_yield,
            _ => None,
        }
    }

    /// What is known of run times: [`Settings::run_time_hint`], where the policy uses it, and
    /// limits under a policy that reserves.
    pub(crate) fn run_time_hint(&self) -> RunTimeHint {
        match self.submission {
            Submission::LeastCostPreemption => self.settings.run_time_hint,
            Submission::Reserving => RunTimeHint::Limits,
            _ => RunTimeHint::Nothing,
        }
    }

    /// How many running jobs a decision may pause or move.
    pub(crate) fn max_moves(&self) -> usize {
        let max_moves = self.settings.budget.moves_per_decision;
        max_moves.map_or(usize::MAX, |max_moves| max_moves as usize)
    }

    /// What loads may grow to.
    pub(crate) fn ceilings(&self) -> Ceilings {
        Ceilings {
            all: self.settings.load_ceiling,
            parallel: self.parallel_least_yield().map(LeastYield::ceiling),
            packs: self.reserves(),
        }
    }

    /// Whether the grace period protects this running job.
    pub(crate) fn protects(&self, job: &Job, now: Time) -> bool {
        match self.grace {
            Grace::Nothing => false,
            Grace::FlowTime(bound) => job.flow_time(now) < bound,
            Grace::VirtualTime(bound) => job.virtual_time < bound,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periodic_policies_are_recognized() {
        let is_periodic = |name: &str| name.parse::<Policy>().expect(name).is_periodic();
        assert!(is_periodic("/per") && is_periodic("MCB8*/per"));
        assert!(!is_periodic("Greedy*"));
    }
}
