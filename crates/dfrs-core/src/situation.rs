//! What a decision looks at: a cluster, and which of its jobs matter.

use std::borrow::Cow;

use crate::model::{Cluster, Job, JobState};
use crate::roster::Roster;
use crate::target::{Target, waits};
use crate::yields::Placed;

/// A cluster and its jobs by what they do; jobs are named by their positions in [`Cluster::jobs`].
#[derive(Debug)]
pub(crate) struct Situation<'a> {
    pub(crate) cluster: &'a Cluster,
    /// The jobs that run, ascending.
    pub(crate) running: Cow<'a, [usize]>,
    parked: Cow<'a, [usize]>,
    waiting: Waiting<'a>,
}

/// The jobs that may be given a place.
#[derive(Debug)]
enum Waiting<'a> {
    /// One by one.
    Each(Vec<usize>),
    /// Those that want the same together.
    Queued(&'a Roster),
}

impl<'a> Situation<'a> {
    /// Looks at every job. O(jobs).
    pub(crate) fn of(cluster: &'a Cluster) -> Self {
        let (mut running, mut parked, mut waiting) = (Vec::new(), Vec::new(), Vec::new());
        for (place, job) in cluster.jobs.iter().enumerate() {
            match job.state {
                JobState::Running(_) => running.push(place),
                JobState::Parked(_) => parked.push(place),
                JobState::Pending | JobState::Paused => {}
            }
            if waits(job) {
                waiting.push(place);
            }
        }
        Self {
            cluster,
            running: running.into(),
            parked: parked.into(),
            waiting: Waiting::Each(waiting),
        }
    }

    /// The same by the cluster's roster. O(1).
    pub(crate) fn listed(roster: &'a Roster) -> Self {
        Self {
            cluster: roster.cluster(),
            running: roster.running_places().into(),
            parked: roster.parked_places().into(),
            waiting: Waiting::Queued(roster),
        }
    }

    /// The parked jobs.
    pub(crate) fn parked_jobs(&self) -> impl Iterator<Item = &'a Job> {
        let cluster = self.cluster;
        self.parked.iter().map(|place| &cluster.jobs[*place])
    }

    /// The jobs that run.
    pub(crate) fn running_jobs(&self) -> impl Iterator<Item = &'a Job> {
        let cluster = self.cluster;
        self.running.iter().map(|place| &cluster.jobs[*place])
    }

    /// Whether any job may be given a place.
    pub(crate) fn has_waiting(&self) -> bool {
        match &self.waiting {
            Waiting::Each(places) => !places.is_empty(),
            Waiting::Queued(roster) => {
                roster.queues().next().is_some() || !roster.others().is_empty()
            }
        }
    }

    /// The jobs that may be given a place and that `counts` lets pass, in any order. It must say the same
    /// of all that want the same ([`Roster`]): most often it is asked about one of them. O(waiting
    /// jobs); with a roster O(queues + those that pass).
    pub(crate) fn waiting_that(&self, mut counts: impl FnMut(&Job) -> bool) -> Vec<usize> {
        let cluster = self.cluster;
        let mut counts = |place: &usize| counts(&cluster.jobs[*place]);
        match &self.waiting {
            Waiting::Each(places) => places
                .iter()
                .copied()
                .filter(|place| counts(place))
                .collect(),
            Waiting::Queued(roster) => {
                let others = roster.others().iter().copied();
                let mut found: Vec<usize> = others.filter(|place| counts(place)).collect();
                for queue in roster.queues() {
                    let all_count = counts(&queue[0]);
                    debug_assert!(queue.iter().all(|place| counts(place) == all_count));
                    if all_count {
                        found.extend_from_slice(queue);
                    }
                }
                found
            }
        }
    }

    /// All jobs that run in the target, ascending.
    pub(crate) fn placed<'t>(&self, target: &'t Target) -> Vec<Placed<'t>>
    where
        'a: 't,
    {
        let cluster = self.cluster;
        let arriving = target
            .changes()
            .map(|(place, _)| place)
            .filter(|place| !cluster.jobs[*place].is_running());
        let mut places: Vec<usize> = self.running.iter().copied().chain(arriving).collect();
        if places.len() > self.running.len() {
            places.sort_unstable();
        }
        let placed = places.into_iter().filter_map(|place| {
            Some(Placed {
                job: &cluster.jobs[place],
                mapping: target.place(cluster, place)?,
            })
        });
        placed.collect()
    }
}
