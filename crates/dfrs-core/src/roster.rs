//! A cluster's jobs by what they do, kept from decision to decision: thousands may wait, and few of
//! them matter.

use std::collections::BTreeMap;

use crate::failures::Wanted;
use crate::model::{Cluster, Job, JobId, JobState};
use crate::target::waits;
use crate::units::Span;

/// A cluster with lists of the jobs that run and that wait, for [`crate::decide_mappings`].
///
/// Waiting jobs that want the same are in one queue: whether there is room is asked once for all of
/// them. The nodes stay as they are; jobs change by the functions here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roster {
    cluster: Cluster,
    lists: Lists,
}

/// Positions in [`Cluster::jobs`]; each list is ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Lists {
    running: Vec<usize>,
    /// All parked jobs, whether or not they may come back now.
    parked: Vec<usize>,
    /// The jobs that may be given a place, by what they want; no queue is empty.
    queues: BTreeMap<Wanted, Vec<usize>>,
    /// Those of which more than [`Wanted`] says where they fit.
    others: Vec<usize>,
}

impl Roster {
    /// The roster of this cluster. O(jobs log jobs).
    #[must_use]
    pub fn new(cluster: Cluster) -> Self {
        let mut lists = Lists::default();
        for (place, job) in cluster.jobs.iter().enumerate() {
            lists.add(place, job);
        }
        Self { cluster, lists }
    }

    /// The cluster as it is.
    #[must_use]
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// The jobs that run, ascending.
    pub fn running(&self) -> impl Iterator<Item = &Job> {
        let places = self.lists.running.iter();
        places.map(|place| &self.cluster.jobs[*place])
    }

    /// Takes a job in, in place of one of the same identity. O(jobs), but O(log jobs) for a new one of the
    /// highest identity.
    pub fn insert(&mut self, job: Job) {
        self.remove(job.id);
        let jobs = &mut self.cluster.jobs;
        let place = jobs.partition_point(|other| other.id < job.id);
        if place < jobs.len() {
            self.lists.renumber(place, |place| place + 1);
        }
        self.lists.add(place, &job);
        jobs.insert(place, job);
    }

    /// Takes a job out. O(jobs), those after it being renumbered.
    pub fn remove(&mut self, id: JobId) -> Option<Job> {
        let place = self.cluster.position(id)?;
        let job = self.cluster.jobs.remove(place);
        self.lists.remove(place, &job);
        self.lists.renumber(place, |place| place - 1);
        Some(job)
    }

    /// Changes a job's state, and returns the one before. O(log jobs), and as many moves in memory as
    /// there are jobs after it in its lists.
    pub fn set_state(&mut self, id: JobId, state: JobState) -> Option<JobState> {
        let place = self.cluster.position(id)?;
        let job = &mut self.cluster.jobs[place];
        self.lists.remove(place, job);
        let before = std::mem::replace(&mut job.state, state);
        self.lists.add(place, job);
        Some(before)
    }

    /// Sets the virtual time of a job.
    pub fn set_virtual_time(&mut self, id: JobId, virtual_time: Span) {
        if let Some(job) = self.cluster.job_mut(id) {
            job.virtual_time = virtual_time;
        }
    }

    /// Sets the virtual time of every job that runs.
    pub fn set_virtual_times(&mut self, mut virtual_time: impl FnMut(JobId) -> Span) {
        for place in &self.lists.running {
            let job = &mut self.cluster.jobs[*place];
            job.virtual_time = virtual_time(job.id);
        }
    }

    /// The jobs that run.
    pub(crate) fn running_places(&self) -> &[usize] {
        &self.lists.running
    }

    /// The parked jobs.
    pub(crate) fn parked_places(&self) -> &[usize] {
        &self.lists.parked
    }

    /// The queues of jobs that want the same.
    pub(crate) fn queues(&self) -> impl Iterator<Item = &[usize]> {
        self.lists.queues.values().map(Vec::as_slice)
    }

    /// The waiting jobs that are in no queue.
    pub(crate) fn others(&self) -> &[usize] {
        &self.lists.others
    }
}

impl Lists {
    fn add(&mut self, place: usize, job: &Job) {
        self.change(job, |list| {
            if let Err(at) = list.binary_search(&place) {
                list.insert(at, place);
            }
        });
    }

    /// The job must be as it was when it was added.
    fn remove(&mut self, place: usize, job: &Job) {
        self.change(job, |list| {
            if let Ok(at) = list.binary_search(&place) {
                list.remove(at);
            }
        });
    }

    /// Changes the lists in which a job like this one belongs.
    fn change(&mut self, job: &Job, change: impl Fn(&mut Vec<usize>)) {
        match &job.state {
            JobState::Running(_) => change(&mut self.running),
            JobState::Parked(_) => change(&mut self.parked),
            JobState::Pending | JobState::Paused => {}
        }
        if !waits(job) {
            return;
        }
        match Wanted::alone(job) {
            Some(wanted) if !matches!(job.state, JobState::Parked(_)) => {
                let queue = self.queues.entry(wanted).or_default();
                change(queue);
                if queue.is_empty() {
                    self.queues.remove(&wanted);
                }
            }
            _ => change(&mut self.others),
        }
    }

    /// Gives the jobs from this place on other places.
    fn renumber(&mut self, from: usize, place: impl Fn(usize) -> usize) {
        let queues = self.queues.values_mut();
        for list in queues.chain([&mut self.running, &mut self.parked, &mut self.others]) {
            let first = list.partition_point(|place| *place < from);
            list[first..]
                .iter_mut()
                .for_each(|entry| *entry = place(*entry));
        }
    }
}
