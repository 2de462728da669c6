//! How few of some jobs have to go, one after the other, until a job with a rule about nodes has a
//! place: whether it has one is costly to ask, so not all numbers of them are tried.

use crate::greedy::TaskSlots;
use crate::model::{Cluster, Job, Mapping};
use crate::preempt::put;
use crate::stop::Stop;
use crate::usage::Usage;

/// Running jobs in the order in which they go, and what is in use without those that are gone.
pub(crate) struct LeavingJobs<'a, 'u> {
    cluster: &'a Cluster,
    job: &'a Job,
    /// Each by index, with its place.
    order: &'u [(usize, &'a Mapping)],
    gone: usize,
    usage: &'u mut Usage,
    room: TaskSlots<'a>,
}

impl<'a, 'u> LeavingJobs<'a, 'u> {
    /// None of them is gone. O(nodes).
    pub(crate) fn new(
        cluster: &'a Cluster,
        job: &'a Job,
        order: &'u [(usize, &'a Mapping)],
        usage: &'u mut Usage,
    ) -> Self {
        let room = TaskSlots::new(cluster, usage, job);
        Self {
            cluster,
            job,
            order,
            gone: 0,
            usage,
            room,
        }
    }

    /// The first of these numbers of jobs, ascending, without which the job has a place, and the
    /// place; so many are gone then. As [`TaskSlots::suffices`] and Greedy, log(numbers) times.
    /// `None` also if the decision is to stop.
    pub(crate) fn first_place(
        &mut self,
        numbers: &[usize],
        stop: &Stop<'_>,
    ) -> Option<(usize, Mapping)> {
        let first = self.first_that_suffices(numbers, stop)?;
        // What is left may suffice, and yet not where a parked job is.
        for number in &numbers[first..] {
            if stop.is_due_after_step() {
                return None;
            }
            self.set_gone(*number);
            if let Some(found) = put(self.cluster, self.usage, self.job) {
                return Some((*number, found));
            }
        }
        None
    }

    /// The place of the first number that suffices: looks at 1, 2, 4, … of them, and then halves
    /// what is between the last two, for jobs that go only add room.
    fn first_that_suffices(&mut self, numbers: &[usize], stop: &Stop<'_>) -> Option<usize> {
        let last = numbers.len().checked_sub(1)?;
        let (mut low, mut step) = (0, 1);
        let mut high = loop {
            let at = last.min(low + step - 1);
            if stop.is_due() {
                return None;
            }
            if self.suffices_without(numbers[at]) {
                break at;
            }
            if at == last {
                return None;
            }
            (low, step) = (at + 1, step * 2);
        };
        while low < high {
            let middle = low.midpoint(high);
            if stop.is_due() {
                return None;
            }
            if self.suffices_without(numbers[middle]) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Some(high)
    }

    fn suffices_without(&mut self, number: usize) -> bool {
        self.set_gone(number);
        self.room.suffices()
    }

    /// So many of them are gone. O(runs) of those that go or come back.
    fn set_gone(&mut self, number: usize) {
        let order = self.order;
        let changed = number.min(self.gone)..number.max(self.gone);
        for (index, mapping) in &order[changed] {
            let other = &self.cluster.jobs[*index];
            if number > self.gone {
                self.usage.remove(other, mapping);
            } else {
                self.usage.add(other, mapping);
            }
            let known = mapping
                .nodes()
                .filter(|node| node.index() < self.cluster.nodes.len());
            for node in known.filter(|node| self.job.layout.allows(*node)) {
                self.room.update(self.usage, node);
            }
        }
        self.gone = number;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::model::{JobId, JobState, Node, NodeIndex};
    use crate::node_set::NodeSet;
    use crate::together::Together;
    use crate::units::{Bytes, Cores, Time};

    /// A cluster of full nodes, and a job that wants so many of them without a gap.
    fn full(nodes: u32, wanted: u32) -> (Cluster, Job) {
        let full = |node: u32| {
            let mut job = Job::new(JobId(node.into()), Time(0), 1, Cores(1), Bytes(10));
            job.state = JobState::Running(Mapping::from_tasks([NodeIndex(node)]));
            job
        };
        let cluster = Cluster {
            nodes: vec![Node::new("", Cores(1), Bytes(10)); nodes as usize],
            jobs: (0..nodes).map(full).collect(),
        };
        let mut job = Job::new(JobId(1_000), Time(0), wanted, Cores(1), Bytes(10));
        let all: NodeSet = (0..nodes).map(NodeIndex).collect();
        job.layout.together = Some(Together::Consecutive([all].into_iter().collect()));
        (cluster, job)
    }

    /// How many jobs go, in this order, and which nodes the job has then.
    fn gone(
        cluster: &Cluster,
        job: &Job,
        order: &[usize],
        stop: &Stop<'_>,
    ) -> Option<(usize, u32)> {
        let mut usage = Usage::of(cluster, None);
        let order: Vec<(usize, &Mapping)> = order
            .iter()
            .map(|index| (*index, cluster.jobs[*index].running_on().unwrap()))
            .collect();
        let numbers: Vec<usize> = (1..=order.len()).collect();
        let (number, found) =
            LeavingJobs::new(cluster, job, &order, &mut usage).first_place(&numbers, stop)?;
        let mut left = Usage::of(cluster, None);
        for (index, mapping) in &order[..number] {
            left.remove(&cluster.jobs[*index], mapping);
        }
        let all = (0..).map(NodeIndex).take(cluster.nodes.len());
        assert!(
            all.into_iter()
                .all(|node| usage.load(node) == left.load(node))
        );
        let first = found.nodes().next()?;
        Some((number, first.0))
    }

    #[test]
    fn no_more_jobs_leave_than_needed_for_the_place() {
        for number in 2..40 {
            // The two nodes side by side come last, and then all others.
            let (cluster, job) = full(80, 2);
            let mut order: Vec<usize> = (0..number - 1).map(|at| 2 * at).collect();
            order.push(1);
            order.extend((2 * number..80).step_by(2));
            let found = gone(&cluster, &job, &order, &Stop::never());
            assert_eq!(found, Some((number, 0)), "{number}");
        }
        let (cluster, job) = full(8, 2);
        assert_eq!(gone(&cluster, &job, &[0, 2, 4, 6], &Stop::never()), None);
        assert_eq!(gone(&cluster, &job, &[], &Stop::never()), None);
    }

    #[test]
    fn few_numbers_are_tried_and_none_once_it_is_to_stop() {
        let (cluster, job) = full(1_000, 300);
        let order: Vec<usize> = (0..1_000).collect();
        let asked = Cell::new(0);
        let count = || {
            asked.set(asked.get() + 1);
            true
        };
        let found = gone(&cluster, &job, &order, &Stop::unless(&count));
        assert_eq!(found, Some((300, 0)));
        assert!(asked.get() < 20, "{}", asked.get());
        let due = || false;
        assert_eq!(gone(&cluster, &job, &order, &Stop::unless(&due)), None);
    }
}
