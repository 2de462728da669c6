//! Which waiting jobs a remap need not think of.

use crate::failures::Failures;
use crate::greedy;
use crate::headroom::Headroom;
use crate::model::{Cluster, Job, JobState};
use crate::packing::{BinsOnce, Fraction, Packing};
use crate::usage::Usage;

/// Whether waiting jobs fit alone beside what must stay.
pub(super) struct Alone<'a> {
    cluster: &'a Cluster,
    usage: &'a Usage<'a>,
    least: Fraction,
    headroom: Headroom,
    failures: Failures,
}

impl<'a> Alone<'a> {
    /// `usage` is of what must stay, `least` the lowest yield to map at. O(nodes log nodes).
    pub(super) fn beside(cluster: &'a Cluster, usage: &'a Usage<'a>, least: Fraction) -> Self {
        Self {
            cluster,
            usage,
            least,
            headroom: Headroom::of(usage),
            failures: Failures::default(),
        }
    }

    /// Whether this job does. O(distinct spaces of nodes), but O(nodes) for a job with rules of its own
    /// about nodes, and a packing for one of several kinds.
    pub(super) fn fits(&mut self, job: &Job) -> bool {
        if let JobState::Parked(mapping) = &job.state {
            return self.usage.takes_back(job, mapping);
        }
        let fits = !self.failures.imply(job)
            && self.could_place(job)
            // Kinds that fit one by one need not fit together.
            && (job.has_one_kind() || self.packs_alone(job));
        if !fits {
            self.failures.add(job);
        }
        fits
    }

    fn could_place(&self, job: &Job) -> bool {
        if self.headroom.knows(job) {
            self.headroom.holds(job)
        } else {
            greedy::could_place(self.cluster, self.usage, job)
        }
    }

    fn packs_alone(&self, job: &Job) -> bool {
        let packing = Packing {
            cluster: self.cluster,
            pinned: self.usage,
            grace: &[],
            jobs: &[job],
            least: self.least,
            bins: &BinsOnce::default(),
        };
        packing.search().is_some()
    }
}
