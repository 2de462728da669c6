//! Which jobs may still find room while others are placed.

use crate::failures::Failures;
use crate::headroom::Headroom;
use crate::model::Job;
use crate::usage::Usage;

/// Room only shrinks while jobs are placed: what was left once is the most that there is now.
pub(super) struct Prospects {
    headroom: Headroom,
    failures: Failures,
    /// Whether jobs were placed since `headroom` was found.
    is_stale: bool,
    /// How often a job that `headroom` gave hope found no place since then.
    misses: u32,
}

impl Prospects {
    /// O(nodes log nodes).
    pub(super) fn of(usage: &Usage<'_>) -> Self {
        Self {
            headroom: Headroom::of(usage),
            failures: Failures::default(),
            is_stale: false,
            misses: 0,
        }
    }

    /// Whether it is known without looking for a place that there is none for the job. O(distinct spaces
    /// of nodes + failures).
    pub(super) fn are_none(&mut self, job: &Job) -> bool {
        if self.failures.imply(job) {
            return true;
        }
        let is_full = self.headroom.knows(job) && !self.headroom.holds(job);
        if is_full {
            self.failures.add(job);
        }
        is_full
    }

    /// A job was placed.
    pub(super) fn shrink(&mut self) {
        self.is_stale = true;
    }

    /// There was no place for the job. O(nodes log nodes) at every second time at most, if room has
    /// shrunk: looking at all nodes again costs about as much as two tries, and spares many.
    pub(super) fn miss(&mut self, job: &Job, usage: &Usage<'_>) {
        self.failures.add(job);
        self.misses += u32::from(self.headroom.knows(job));
        if self.misses > 1 {
            self.renew(usage);
        }
    }

    /// Looks at all nodes again if room has shrunk. O(nodes log nodes).
    pub(super) fn renew(&mut self, usage: &Usage<'_>) {
        if self.is_stale {
            self.headroom = Headroom::of(usage);
            (self.is_stale, self.misses) = (false, 0);
        }
    }
}
