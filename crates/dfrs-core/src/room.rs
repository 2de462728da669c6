//! What is left, and what is known of it.

use crate::fit_cache::FitCache;
use crate::model::{Cluster, Job, Mapping, NodeIndex};
use crate::preempt::{cannot_fit, only_place, put};
use crate::usage::Usage;

/// A usage in which jobs are placed one after the other.
pub(crate) struct Room {
    usage: Usage,
    /// Made when first needed.
    fit_cache: Option<FitCache>,
}

impl Room {
    /// O(1).
    pub(crate) const fn of(usage: Usage) -> Self {
        Self {
            usage,
            fit_cache: None,
        }
    }

    /// What is in use.
    pub(crate) const fn usage(&self) -> &Usage {
        &self.usage
    }

    /// Whether it is known without looking for a place that there is none for the waiting job.
    /// O(nodes log nodes) the first time.
    pub(crate) fn cannot_fit(&mut self, job: &Job) -> bool {
        cannot_fit(known(&mut self.fit_cache, &self.usage), job)
    }

    /// Where the waiting job can be, by Greedy or in its only place. As [`put`].
    pub(crate) fn find(&mut self, cluster: &Cluster, job: &Job) -> Option<Mapping> {
        if self.cannot_fit(job) {
            return None;
        }
        let Self { usage, fit_cache } = self;
        put_or_miss(cluster, usage, known(fit_cache, usage), job)
    }

    /// Whether the job could be placed, if no job was since this was first asked. O(distinct spaces
    /// of nodes + failures), but O(nodes) for a job with rules of its own about nodes.
    pub(crate) fn could_place(&mut self, cluster: &Cluster, job: &Job) -> bool {
        let Self { usage, fit_cache } = self;
        known(fit_cache, usage).could_place(cluster, usage, job)
    }

    /// There was no place for the job. As [`FitCache::miss`].
    pub(crate) fn miss(&mut self, job: &Job) {
        let Self { usage, fit_cache } = self;
        known(fit_cache, usage).miss(job, usage);
    }

    /// The job is here from now on.
    pub(crate) fn take(&mut self, job: &Job, mapping: &Mapping) {
        self.usage.add(job, mapping);
        self.shrink();
    }

    /// On these nodes as much is in use from now on as in one of the two, whichever is more.
    pub(crate) fn take_greater(
        &mut self,
        nodes: impl Iterator<Item = NodeIndex>,
        one: &Usage,
        other: &Usage,
    ) {
        for node in nodes {
            self.usage.set_greater(node, one, other);
        }
        self.shrink();
    }

    fn shrink(&mut self) {
        if let Some(fit_cache) = &mut self.fit_cache {
            fit_cache.shrink();
        }
    }
}

/// What is left in this usage, looked at if it is not known.
pub(crate) fn known<'p>(room: &'p mut Option<FitCache>, usage: &Usage) -> &'p mut FitCache {
    room.get_or_insert_with(|| FitCache::of(usage))
}

/// As [`put`]; if there is no place, that is noted, but for a job that has only one.
pub(crate) fn put_or_miss(
    cluster: &Cluster,
    usage: &Usage,
    fit_cache: &mut FitCache,
    job: &Job,
) -> Option<Mapping> {
    let found = put(cluster, usage, job);
    if found.is_none() && only_place(job).is_none() {
        fit_cache.miss(job, usage);
    }
    found
}
