//! Which jobs do what.

use std::cmp::Ordering;

use crate::model::{Job, JobState};
use crate::target::waits;

/// Positions in the cluster's list of jobs; each list is ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lists {
    pub(super) running: Vec<usize>,
    /// All parked jobs, whether or not they may come back now.
    pub(super) parked: Vec<usize>,
    /// The jobs that may be given a place anywhere, those with the same demand in one queue. No
    /// queue is empty; they are in the order of their jobs' demands.
    pub(super) queues: Vec<Vec<usize>>,
    /// Parked jobs that may come back, where they are parked.
    pub(super) returning: Vec<usize>,
}

impl Lists {
    /// O(jobs log jobs).
    pub(super) fn of(jobs: &[Job]) -> Self {
        let mut lists = Self::default();
        for index in 0..jobs.len() {
            lists.add(jobs, index);
        }
        lists
    }

    /// Lists a job.
    pub(super) fn add(&mut self, jobs: &[Job], index: usize) {
        let job = &jobs[index];
        for list in self.lists_of(job) {
            insert(list, index);
        }
        if is_queued(job) {
            match self.find(jobs, job) {
                Ok(queue) => insert(&mut self.queues[queue], index),
                Err(queue) => self.queues.insert(queue, vec![index]),
            }
        }
    }

    /// Takes a job off the lists. It must be as it was when it was added.
    pub(super) fn remove(&mut self, jobs: &[Job], index: usize) {
        let job = &jobs[index];
        for list in self.lists_of(job) {
            remove(list, index);
        }
        if is_queued(job)
            && let Ok(queue) = self.find(jobs, job)
        {
            remove(&mut self.queues[queue], index);
            if self.queues[queue].is_empty() {
                self.queues.remove(queue);
            }
        }
    }

    /// Gives the jobs from this position on other positions.
    pub(super) fn renumber(&mut self, from: usize, position: impl Fn(usize) -> usize) {
        let others = [&mut self.running, &mut self.parked, &mut self.returning];
        for list in self.queues.iter_mut().chain(others) {
            let first = list.partition_point(|index| *index < from);
            for index in &mut list[first..] {
                *index = position(*index);
            }
        }
    }

    /// The lists, other than queues, in which a job like this one belongs.
    fn lists_of(&mut self, job: &Job) -> impl Iterator<Item = &mut Vec<usize>> {
        let (state, returning) = match job.state {
            JobState::Running(_) => (Some(&mut self.running), None),
            JobState::Parked(_) => {
                let returning = Some(&mut self.returning).filter(|_| waits(job));
                (Some(&mut self.parked), returning)
            }
            JobState::Pending | JobState::Paused => (None, None),
        };
        state.into_iter().chain(returning)
    }

    /// Where the queue of jobs like this one is, or would be.
    fn find(&self, jobs: &[Job], job: &Job) -> Result<usize, usize> {
        self.queues
            .binary_search_by(|queue| cmp_requirements(&jobs[queue[0]], job))
    }
}

/// Whether the job may be given a place anywhere.
fn is_queued(job: &Job) -> bool {
    waits(job) && !matches!(job.state, JobState::Parked(_))
}

/// Orders jobs by all that says where they fit, and what they prefer; equal ones fit in the same
/// places.
pub(crate) fn cmp_requirements(one: &Job, other: &Job) -> Ordering {
    let size = |job: &Job| (job.tasks, job.cpu, job.memory, job.memory_per_node);
    size(one)
        .cmp(&size(other))
        .then_with(|| one.layout.cmp(&other.layout))
        .then_with(|| one.rigid.cmp(&other.rigid))
        .then_with(|| one.rigid_per_node.cmp(&other.rigid_per_node))
}

fn insert(list: &mut Vec<usize>, index: usize) {
    if let Err(at) = list.binary_search(&index) {
        list.insert(at, index);
    }
}

fn remove(list: &mut Vec<usize>, index: usize) {
    if let Ok(at) = list.binary_search(&index) {
        list.remove(at);
    }
}
