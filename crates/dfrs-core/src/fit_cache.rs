//! Which jobs cannot fit, as far as is known without looking at every node for each of them.

use crate::failures::Failures;
use crate::greedy;
use crate::headroom::Headroom;
use crate::model::{Cluster, Job};
use crate::roster::cmp_requirements;
use crate::usage::Usage;

/// The room that a usage leaves. It only shrinks while jobs are placed: what was left once is the
/// most that there is now.
pub(crate) struct FitCache {
    headroom: Headroom,
    failures: Failures,
    /// Jobs with rules of their own for which there was no room, in the order of their
    /// demands: there is none for others with the same demand.
    refused: Vec<Job>,
    /// Whether jobs were placed since `headroom` was found.
    is_stale: bool,
    /// How often a job that `headroom` did not rule out found no place since then.
    misses: u32,
}

impl FitCache {
    /// O(nodes log nodes).
    pub(crate) fn of(usage: &Usage) -> Self {
        Self {
            headroom: Headroom::of(usage),
            failures: Failures::default(),
            refused: Vec::new(),
            is_stale: false,
            misses: 0,
        }
    }

    /// Whether it is known without looking for a place that there is none for the job. O(distinct
    /// spaces of nodes + failures).
    pub(crate) fn cannot_fit(&mut self, job: &Job) -> bool {
        let headroom = &self.headroom;
        if self.failures.imply(job, || headroom.limit(job)) || self.find_refused(job).is_ok() {
            return true;
        }
        // A list of nodes of its own has a limit of its own, which takes longer to find than it spares.
        let is_full = job.layout.eligible.is_none() && !self.headroom.holds(job);
        if is_full {
            self.add_failure(job);
        }
        is_full
    }

    /// Whether the job could be placed in this usage, since which no job was placed. O(distinct
    /// spaces of nodes + failures), but O(nodes) for a job with rules of its own about nodes.
    pub(crate) fn could_place(&mut self, cluster: &Cluster, usage: &Usage, job: &Job) -> bool {
        !self.cannot_fit(job)
            && (self.headroom.applies_to(job) || greedy::could_place(cluster, usage, job))
    }

    /// A job was placed.
    pub(crate) fn shrink(&mut self) {
        self.is_stale = true;
    }

    /// There was no place for the job. O(nodes log nodes) at every second time at most, if room has
    /// shrunk: looking at all nodes again costs about as much as two tries, and spares many.
    pub(crate) fn miss(&mut self, job: &Job, usage: &Usage) {
        self.add_failure(job);
        self.misses += u32::from(self.headroom.applies_to(job));
        if self.misses > 1 {
            self.renew(usage);
        }
    }

    fn add_failure(&mut self, job: &Job) {
        if !self.failures.add(job, self.headroom.limit(job))
            && let Err(at) = self.find_refused(job)
        {
            self.refused.insert(at, job.clone());
        }
    }

    fn find_refused(&self, job: &Job) -> Result<usize, usize> {
        self.refused
            .binary_search_by(|other| cmp_requirements(other, job))
    }

    /// Looks at all nodes again if room has shrunk. O(nodes log nodes).
    pub(crate) fn renew(&mut self, usage: &Usage) {
        if self.is_stale {
            self.headroom = Headroom::of(usage);
            (self.is_stale, self.misses) = (false, 0);
        }
    }
}
