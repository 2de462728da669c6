//! What a stage of a decision is about.

use crate::model::{Cluster, Job};
use crate::policy::Policy;
use crate::priority::Priority;
use crate::roster::Roster;
use crate::stop::Stop;
use crate::units::Time;

/// What every algorithm looks at.
#[derive(Clone, Copy)]
pub(crate) struct Question<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) roster: &'a Roster,
    /// The roster's.
    pub(crate) cluster: &'a Cluster,
    pub(crate) now: Time,
    pub(crate) stop: &'a Stop<'a>,
}

impl Question<'_> {
    /// The job's place in the order of priorities now.
    pub(crate) fn priority(&self, job: &Job) -> Priority {
        self.policy.settings.priority.of(job, self.now)
    }
}
