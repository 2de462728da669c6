//! What a decision reads from a roster. Jobs are named by their positions in
//! [`crate::Cluster::jobs`].

use super::Roster;
use crate::constraints::Placed;
use crate::model::Job;
use crate::policy::Ceilings;
use crate::target::Target;
use crate::usage::Usage;

impl Roster {
    /// The jobs that run, ascending, with their positions.
    pub(crate) fn running_at(&self) -> impl Iterator<Item = (usize, &Job)> {
        let running = self.lists.running.iter();
        running.map(|index| (*index, &self.cluster.jobs[*index]))
    }

    /// The parked jobs.
    pub(crate) fn parked(&self) -> impl Iterator<Item = &Job> {
        let parked = self.lists.parked.iter();
        parked.map(|index| &self.cluster.jobs[*index])
    }

    /// What running jobs use. O(nodes + runs).
    pub(crate) fn usage(&self, ceilings: Ceilings) -> Usage {
        Usage::of_jobs(&self.cluster, ceilings, self.running())
    }

    /// Whether any job may be given a place.
    pub(crate) fn has_waiting(&self) -> bool {
        !self.lists.queues.is_empty() || !self.lists.returning.is_empty()
    }

    /// The jobs that may be given a place, those with the same demand together; each parked one
    /// alone.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &[usize]> {
        let queues = self.lists.queues.iter().map(Vec::as_slice);
        queues.chain(self.lists.returning.chunks(1))
    }

    /// The jobs that may be given a place and that `counts` lets pass, in any order. It must return
    /// the same for all jobs with the same demand: it is called for one of them. O(queues + those
    /// that pass).
    pub(crate) fn waiting_that(&self, mut counts: impl FnMut(&Job) -> bool) -> Vec<usize> {
        let mut counts = |index: &usize| counts(&self.cluster.jobs[*index]);
        let mut found = Vec::new();
        for queue in self.waiting() {
            let all_count = counts(&queue[0]);
            debug_assert!(queue.iter().all(|index| counts(index) == all_count));
            if all_count {
                found.extend_from_slice(queue);
            }
        }
        found
    }

    /// All jobs that run in the target, ascending.
    pub(crate) fn placed<'t>(&'t self, target: &'t Target) -> Vec<Placed<'t>> {
        let cluster = &self.cluster;
        let arriving = target
            .changes()
            .map(|(index, _)| index)
            .filter(|index| !cluster.jobs[*index].is_running());
        let running = &self.lists.running;
        let mut indices: Vec<usize> = running.iter().copied().chain(arriving).collect();
        if indices.len() > running.len() {
            indices.sort_unstable();
        }
        let placed = indices.into_iter().filter_map(|index| {
            let job = &cluster.jobs[index];
            Some(Placed {
                job,
                mapping: target.mapping(cluster, index)?,
                virtual_time: target.virtual_time(job, index),
            })
        });
        placed.collect()
    }

    /// What jobs use in the target. O(nodes + jobs that run + runs).
    pub(crate) fn usage_after(&self, target: &Target, ceilings: Ceilings) -> Usage {
        let mut usage = Usage::empty(&self.cluster, ceilings);
        for placed in self.placed(target) {
            usage.add(placed.job, placed.mapping);
        }
        usage
    }
}
