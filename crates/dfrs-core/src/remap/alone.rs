//! Which waiting jobs a remap need not think of.

use crate::fit_cache::FitCache;
use crate::model::{Cluster, Job, JobState};
use crate::usage::Usage;

/// Whether waiting jobs fit alone beside what must stay.
pub(super) struct FitsAlone<'a> {
    cluster: &'a Cluster,
    usage: &'a Usage,
    fit_cache: FitCache,
}

impl<'a> FitsAlone<'a> {
    /// `usage` is of what must stay. O(nodes log nodes).
    pub(super) fn new(cluster: &'a Cluster, usage: &'a Usage) -> Self {
        Self {
            cluster,
            usage,
            fit_cache: FitCache::of(usage),
        }
    }

    /// Whether this job does. O(distinct spaces of nodes), but O(nodes) for a job with rules of its
    /// own about nodes.
    pub(super) fn fits(&mut self, job: &Job) -> bool {
        if let JobState::Parked(mapping) = &job.state {
            return self.usage.takes_back(job, mapping);
        }
        self.fit_cache.could_place(self.cluster, self.usage, job)
    }
}
