//! The seam for policies that schedule partitions of their own. All other partitions share their
//! nodes, and the core decides about them.
//!
//! A new policy is a file that implements [`PartitionPolicy`], and a line of [`all`]; the line of a
//! partition in dfrs.conf says which policy it has, and [`Partition::shares_nodes`] that it has one.

use std::collections::BTreeSet;
use std::fmt::Debug;

use dfrs_core::{Action, Time};
use dfrs_proto::conf::Partition;

use crate::plan::cluster::PassFacts;
use crate::plan::moldable::policy::Demt;
use crate::slurm::records::ObservedJob;

/// A job that starts now, or comes back.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedStart {
    /// The action.
    pub action: Action,
    /// Why, in words.
    pub why: String,
}

/// Schedules its partitions, of which each job has its nodes for itself. Pure: what it is to know
/// is given to it.
pub trait PartitionPolicy: Debug + Send {
    /// Whether it schedules this partition.
    fn schedules(&self, partition: &Partition) -> bool;

    /// What starts now, of the jobs that may ([`PassFacts::ready`]). Where Slurm would not start
    /// some of it, the next call knows.
    fn plan(&mut self, facts: &PassFacts) -> Vec<PlannedStart>;

    /// Keeps what the last plan expects of jobs that wait. Returns those of which it expects
    /// something else than before.
    fn keep(&mut self, now: Time) -> BTreeSet<u32>;

    /// How many jobs are pending, as far as the last plan that was kept says.
    fn pending(&self) -> usize;

    /// When it is to plan again although nothing happens.
    fn next(&self) -> Option<Time>;

    /// What this job waits for, for squeue. `wall`: what the wall clock says at a time of DFRS's.
    fn reason(&self, id: u32, wall: &dyn Fn(Time) -> Time, now: Time) -> Option<String>;

    /// What else there is to say of one of its jobs.
    fn notes(&self, job: &ObservedJob) -> Vec<String>;
}

/// All there are.
pub fn all() -> Vec<Box<dyn PartitionPolicy>> {
    vec![Box::new(Demt::default())]
}
