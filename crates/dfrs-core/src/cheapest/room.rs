//! What is left, and what is known of it.

use crate::model::{Cluster, Job, Mapping};
use crate::preempt::{is_hopeless, only_place, put};
use crate::prospects::Prospects;
use crate::usage::Usage;

/// A usage in which jobs are placed one after the other.
pub(super) struct Room {
    pub(super) usage: Usage,
    pub(super) prospects: Prospects,
}

impl Room {
    /// O(nodes log nodes).
    pub(super) fn of(usage: Usage) -> Self {
        Self {
            prospects: Prospects::of(&usage),
            usage,
        }
    }

    /// Where the waiting job can be, by Greedy or in its only place. As [`put`].
    pub(super) fn find(&mut self, cluster: &Cluster, job: &Job) -> Option<Mapping> {
        if is_hopeless(&mut self.prospects, job) {
            return None;
        }
        let found = put(cluster, &self.usage, job);
        if found.is_none() && only_place(job).is_none() {
            self.prospects.miss(job, &self.usage);
        }
        found
    }

    /// The job is here from now on.
    pub(super) fn take(&mut self, job: &Job, mapping: &Mapping) {
        self.usage.add(job, mapping);
        self.prospects.shrink();
    }
}
