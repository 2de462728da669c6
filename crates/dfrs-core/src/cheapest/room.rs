//! What is left, and what is known of it.

use super::known;
use crate::model::{Cluster, Job, Mapping, NodeIndex};
use crate::preempt::{is_hopeless, only_place, put};
use crate::prospects::Prospects;
use crate::usage::Usage;

/// A usage in which jobs are placed one after the other.
pub(super) struct Room {
    usage: Usage,
    /// Made when they are first asked for.
    prospects: Option<Prospects>,
}

impl Room {
    /// O(1).
    pub(super) const fn of(usage: Usage) -> Self {
        Self {
            usage,
            prospects: None,
        }
    }

    /// What is in use.
    pub(super) const fn usage(&self) -> &Usage {
        &self.usage
    }

    /// Whether it is known without looking for a place that there is none for the waiting job. O(nodes log nodes) the
    /// first time.
    pub(super) fn is_hopeless(&mut self, job: &Job) -> bool {
        is_hopeless(known(&mut self.prospects, &self.usage), job)
    }

    /// Where the waiting job can be, by Greedy or in its only place. As [`put`].
    pub(super) fn find(&mut self, cluster: &Cluster, job: &Job) -> Option<Mapping> {
        if self.is_hopeless(job) {
            return None;
        }
        let Self { usage, prospects } = self;
        put_or_miss(cluster, usage, known(prospects, usage), job)
    }

    /// The job is here from now on.
    pub(super) fn take(&mut self, job: &Job, mapping: &Mapping) {
        self.usage.add(job, mapping);
        self.shrink();
    }

    /// On these nodes as much is in use from now on as in one of the two, whichever is more.
    pub(super) fn take_greater(
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
        if let Some(prospects) = &mut self.prospects {
            prospects.shrink();
        }
    }
}

/// As [`put`]; if there is no place, that is noted, but for a job that has only one.
pub(super) fn put_or_miss(
    cluster: &Cluster,
    usage: &Usage,
    prospects: &mut Prospects,
    job: &Job,
) -> Option<Mapping> {
    let found = put(cluster, usage, job);
    if found.is_none() && only_place(job).is_none() {
        prospects.miss(job, usage);
    }
    found
}
