//! Goals that another crate brings in.

use std::fmt::Debug;

use super::{Policy, PolicyError};
use crate::constraints::{Constraints, Placed};
use crate::model::{Job, Mapping};
use crate::units::{Cores, Span, Time, Yield};

/// What jobs are mapped and CPU is allocated for, where this crate does not know it: what only the
/// papers' experiments compare is not linked into slurmctld. A policy that has such a goal can only
/// be made by who has the goal.
///
/// All functions are pure: same arguments, same results.
pub trait FurtherGoal: Debug + Sync {
    /// Distinguishes goals: two of the same identity are equal.
    fn id(&self) -> &'static str;

    /// The name of a policy that has this goal.
    fn name(&self, policy: &Policy) -> String;

    /// Reads the name of any policy that may have such a goal.
    ///
    /// # Errors
    ///
    /// As those of reading a policy without one.
    fn read(&self, name: &str) -> Result<Policy, PolicyError>;

    /// The yields of these jobs, in their order, from 0 to 1 and within the constraints, which are
    /// those of these jobs. They last for the period that begins now.
    fn yields(
        &self,
        constraints: &Constraints,
        placed: &[Placed<'_>],
        now: Time,
        period: Span,
    ) -> Vec<f64>;

    /// How a remap finds where jobs go; `None`: as for the highest minimum yield.
    fn search(&self) -> Option<MappingSearch> {
        None
    }
}

impl PartialEq for dyn FurtherGoal {
    fn eq(&self, other: &Self) -> bool {
        self.id() == other.id()
    }
}

impl Eq for dyn FurtherGoal {}

/// Finds the mapping of every job of the problem, in their order, if there is one.
pub type MappingSearch = fn(&MappingProblem<'_>) -> Option<Vec<Mapping>>;

/// Finds a mapping by MCB8, given what a task of each job to map, and of each pinned job, requires
/// of CPU.
type PackRequired<'a> = dyn Fn(&[Cores], &[Cores]) -> Option<Vec<Mapping>> + 'a;

/// What is to be mapped by MCB8, at requirements that the search chooses.
pub struct MappingProblem<'a> {
    /// What is mapped.
    pub jobs: &'a [&'a Job],
    /// What stays where it is, and needs CPU too.
    pub pinned: &'a [&'a Job],
    /// No job may have less than this.
    pub least: Yield,
    /// When the mapping begins.
    pub now: Time,
    /// For how long it is expected to last.
    pub period: Span,
    pub(crate) pack: &'a PackRequired<'a>,
    pub(crate) was_stopped: &'a dyn Fn() -> bool,
}

impl MappingProblem<'_> {
    /// The mapping of every job that MCB8 finds when a task of each job to map, and of each pinned
    /// job, requires so much CPU, further fluid resources in full. `None` if it finds none. Near
    /// linear in nodes plus jobs.
    pub fn pack(&self, jobs: &[Cores], pinned: &[Cores]) -> Option<Vec<Mapping>> {
        (self.pack)(jobs, pinned)
    }

    /// Whether the search has to end, with whatever it has found.
    pub fn was_stopped(&self) -> bool {
        (self.was_stopped)()
    }
}
