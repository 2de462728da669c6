//! Which waiting jobs a remap need not think of.

use crate::fit_cache::FitCache;
use crate::model::{Cluster, Job, JobState};
use crate::packing::{BinsOnce, Fraction, Packing};
use crate::stop::Stop;
use crate::usage::Usage;

/// Whether waiting jobs fit alone beside what must stay.
pub(super) struct FitsAlone<'a> {
    cluster: &'a Cluster,
    usage: &'a Usage,
    least: Fraction,
    fit_cache: FitCache,
}

impl<'a> FitsAlone<'a> {
    /// `usage` is of what must stay, `least` the lowest yield to map at. O(nodes log nodes).
    pub(super) fn new(cluster: &'a Cluster, usage: &'a Usage, least: Fraction) -> Self {
        Self {
            cluster,
            usage,
            least,
            fit_cache: FitCache::of(usage),
        }
    }

    /// Whether this job does. O(distinct spaces of nodes), but O(nodes) for a job with rules of its
    /// own about nodes, and a packing for one of several kinds.
    pub(super) fn fits(&mut self, job: &Job) -> bool {
        if let JobState::Parked(mapping) = &job.state {
            return self.usage.takes_back(job, mapping);
        }
        self.fit_cache.could_place(self.cluster, self.usage, job)
            // Kinds that fit one by one need not fit together.
            && (job.has_one_kind() || self.packs_alone(job))
    }

    fn packs_alone(&self, job: &Job) -> bool {
        let packing = Packing {
            cluster: self.cluster,
            pinned: self.usage,
            grace: &[],
            jobs: &[job],
            least: self.least,
            bins: &BinsOnce::default(),
            // One job is packed at once, and equal jobs get the same result.
            stop: &Stop::never(),
        };
        packing.search().is_some()
    }
}
