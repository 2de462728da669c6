//! A cluster whose jobs are listed by what they do, kept from decision to decision: thousands may
//! wait, and few of them matter.

use crate::experience::Experience;
use crate::model::{Cluster, Job, JobId, JobState, Node, NodeIndex};
use crate::units::Span;

mod lists;
mod view;

use lists::Lists;
pub(crate) use lists::cmp_requirements;

/// From so many jobs on it is cheaper to make the lists from the beginning than to take one after
/// the other out.
const MANY: usize = 500;

/// A cluster with lists of the jobs that run and that wait: what [`crate::decide()`] looks at.
///
/// Waiting jobs with the same demand are in one queue: whether there is room is checked once for
/// all of them. Jobs and nodes change by the functions here; when nodes come or go, which gives
/// others new positions, a new roster is due.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roster {
    cluster: Cluster,
    lists: Lists,
    experience: Experience,
}

impl Roster {
    /// The roster of this cluster. O(jobs log jobs).
    pub fn new(cluster: Cluster) -> Self {
        Self {
            lists: Lists::of(&cluster.jobs),
            cluster,
            experience: Experience::default(),
        }
    }

    /// Becomes the roster of this cluster; what was learned of jobs that ended stays. O(jobs log
    /// jobs).
    pub fn set_cluster(&mut self, cluster: Cluster) {
        self.lists = Lists::of(&cluster.jobs);
        self.cluster = cluster;
    }

    /// What time limits have been worth so far.
    pub fn experience(&self) -> &Experience {
        &self.experience
    }

    /// What time limits have been worth so far, for the driver to report jobs that end, or to bring
    /// back what it stored.
    pub fn experience_mut(&mut self) -> &mut Experience {
        &mut self.experience
    }

    /// The cluster as it is.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// The job of this identity. O(log jobs).
    pub fn job(&self, id: JobId) -> Option<&Job> {
        self.cluster.job(id)
    }

    /// The jobs that run, ascending.
    pub fn running(&self) -> impl Iterator<Item = &Job> {
        let jobs = self.lists.running.iter();
        jobs.map(|index| &self.cluster.jobs[*index])
    }

    /// Takes a job in, and returns the one of the same identity whose place it takes. O(log jobs)
    /// if there is one, or if it has the highest identity; else O(jobs), those after it being
    /// renumbered.
    pub fn insert(&mut self, job: Job) -> Option<Job> {
        let jobs = &self.cluster.jobs;
        let found = jobs.binary_search_by_key(&job.id, |other| other.id);
        match found {
            Ok(index) => self.lists.remove(jobs, index),
            Err(index) if index < jobs.len() => self.lists.renumber(index, |index| index + 1),
            Err(_) => {}
        }
        let before = self.cluster.insert(job);
        let (Ok(index) | Err(index)) = found;
        self.lists.add(&self.cluster.jobs, index);
        before
    }

    /// Takes many jobs in, as [`Self::insert`] does. O(jobs log jobs) for all of them together.
    pub fn extend(&mut self, jobs: impl IntoIterator<Item = Job>) {
        let mut new: Vec<Job> = jobs.into_iter().collect();
        new.sort_by_key(|job| job.id);
        let last = self.cluster.jobs.last().map(|job| job.id);
        let follow = new
            .first()
            .is_some_and(|first| last.is_none_or(|last| first.id > last));
        if follow || new.len() < 4 {
            for job in new {
                self.insert(job);
            }
            return;
        }
        let mut cluster = std::mem::take(&mut self.cluster);
        // Sorting is stable, and of equal ones the last is kept.
        cluster.jobs.append(&mut new);
        cluster.jobs.sort_by_key(|job| job.id);
        cluster.jobs.dedup_by(|next, kept| {
            let same = next.id == kept.id;
            if same {
                std::mem::swap(next, kept);
            }
            same
        });
        self.set_cluster(cluster);
    }

    /// Takes a job out. O(jobs), those after it being renumbered.
    pub fn remove(&mut self, id: JobId) -> Option<Job> {
        let index = self.cluster.position(id)?;
        self.lists.remove(&self.cluster.jobs, index);
        let job = self.cluster.jobs.remove(index);
        self.lists.renumber(index, |index| index - 1);
        Some(job)
    }

    /// Takes these jobs out, ascending, as [`Self::remove`] does. O(jobs) for each of a few of
    /// them, O(jobs log jobs) for many.
    pub fn remove_all(&mut self, gone: &[JobId]) {
        if gone.len() < MANY {
            for id in gone {
                self.remove(*id);
            }
            return;
        }
        let mut cluster = std::mem::take(&mut self.cluster);
        let is_gone = |id: &JobId| gone.binary_search(id).is_ok();
        cluster.jobs.retain(|job| !is_gone(&job.id));
        self.set_cluster(cluster);
    }

    /// Changes a job's state, and returns the one before. O(log jobs), and as many moves in memory
    /// as there are jobs after it in its lists.
    pub fn set_state(&mut self, id: JobId, state: JobState) -> Option<JobState> {
        let index = self.cluster.position(id)?;
        Some(self.set_state_at(index, state))
    }

    /// Changes the state of the job at this position, and returns the one before.
    pub(crate) fn set_state_at(&mut self, index: usize, state: JobState) -> JobState {
        let jobs = &mut self.cluster.jobs;
        self.lists.remove(jobs, index);
        let before = std::mem::replace(&mut jobs[index].state, state);
        self.lists.add(jobs, index);
        before
    }

    /// Sets the virtual time and the delay of a job.
    pub fn set_times(&mut self, id: JobId, virtual_time: Span, delay: Span) {
        if let Some(job) = self.cluster.job_mut(id) {
            (job.virtual_time, job.delay) = (virtual_time, delay);
        }
    }

    /// Sets the virtual time of the job at this position.
    pub(crate) fn set_virtual_time_at(&mut self, index: usize, virtual_time: Span) {
        self.cluster.jobs[index].virtual_time = virtual_time;
    }

    /// Says whether a job [comes first](Job::starved).
    pub fn set_starved(&mut self, id: JobId, starved: bool) {
        if let Some(job) = self.cluster.job_mut(id) {
            job.starved = starved;
        }
    }

    /// Sets the virtual time and the delay of every job that runs.
    pub fn set_virtual_times(&mut self, mut times: impl FnMut(JobId) -> (Span, Span)) {
        for index in &self.lists.running {
            let job = &mut self.cluster.jobs[*index];
            (job.virtual_time, job.delay) = times(job.id);
        }
    }

    /// Changes a node, and returns what it was before; `None` if there is none at this position.
    pub fn set_node(&mut self, node: NodeIndex, now: Node) -> Option<Node> {
        let before = self.cluster.nodes.get_mut(node.index())?;
        Some(std::mem::replace(before, now))
    }
}
