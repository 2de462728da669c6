//! What one node has left for a job, under the ceiling that the job keeps.

use crate::model::Job;
use crate::units::{Bytes, Cores};

/// What the load of a node may grow to if a job comes: the loosest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LoadLimit {
    /// Anything, whichever jobs are there: it has devices and waits for no CPU.
    Exempt,
    /// Anything; beside jobs on several nodes their ceiling.
    Nothing,
    /// The ceiling of all nodes.
    Node,
    /// The ceiling of nodes with jobs on several nodes: it is to be one.
    Parallel,
}

/// What a node that takes tasks has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Space {
    /// Memory that is free.
    pub(crate) memory: Bytes,
    /// CPU needs that the ceiling on load still allows.
    pub(crate) load: Cores,
    /// CPU needs that the ceiling allows for a job that keeps the ceiling of jobs on several nodes.
    pub(crate) load_parallel: Cores,
    /// CPU needs that the ceiling allows for a job that keeps no ceiling of its own.
    pub(crate) load_unlimited: Cores,
    /// Whether it has any CPU capacity.
    pub(crate) has_cpu: bool,
}

impl Space {
    /// CPU needs that the ceilings leave to such a job.
    #[inline]
    pub(crate) fn load_for(&self, limit: LoadLimit) -> Cores {
        match limit {
            LoadLimit::Exempt => Cores(u64::MAX),
            LoadLimit::Nothing => self.load_unlimited,
            LoadLimit::Node => self.load,
            LoadLimit::Parallel => self.load_parallel,
        }
    }

    /// How many tasks of the job fit: 0 to the job's number of tasks. Further resources and lists
    /// of nodes play no part.
    pub(crate) fn slots(self, job: &Job, limit: LoadLimit) -> u64 {
        if self.memory < job.memory_per_node || !(self.has_cpu || job.cpu.is_zero()) {
            return 0;
        }
        let max_tasks = job.tasks.min(job.layout.tasks_per_node());
        // Most often all fit, which is faster to check than how many would.
        if job.memory_on(max_tasks) <= self.memory
            && job.cpu.times(max_tasks) <= self.load_for(limit)
        {
            return u64::from(max_tasks);
        }
        u64::from(max_tasks)
            .min(quotient(
                self.memory.minus(job.memory_per_node).0,
                job.memory.0,
            ))
            .min(quotient(self.load_for(limit).0, job.cpu.0))
    }
}

/// A part of what a node has.
// Precise enough: costs and weights are real numbers.
pub(crate) fn share(amount: u64, capacity: u64) -> f64 {
    amount as f64 / capacity.max(1) as f64
}

/// How many tasks nodes take together, at most so many of them: given how many each takes and how
/// many are so, those that take most first.
pub(crate) fn most_tasks(mut nodes_left: u64, nodes: impl Iterator<Item = (u64, u64)>) -> u64 {
    let mut found = 0u64;
    for (slots, nodes) in nodes {
        let used = nodes_left.min(nodes);
        nodes_left -= used;
        found = found.saturating_add(used.saturating_mul(slots));
    }
    found
}

/// How many times `each` goes into `available`; no end of times if `each` is nothing.
pub(crate) fn quotient(available: u64, each: u64) -> u64 {
    available.checked_div(each).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::JobId;
    use crate::units::Time;

    #[test]
    fn memory_per_node_and_cpu_are_needed_by_any_task() {
        let space = |memory, has_cpu| Space {
            memory: Bytes(memory),
            load: Cores(u64::MAX),
            load_parallel: Cores(u64::MAX),
            load_unlimited: Cores(u64::MAX),
            has_cpu,
        };
        let mut job = Job::new(JobId(1), Time(0), 3, Cores(1), Bytes(0));
        job.memory_per_node = Bytes(20);
        assert_eq!(space(19, true).slots(&job, LoadLimit::Node), 0);
        assert_eq!(space(20, true).slots(&job, LoadLimit::Node), 3);
        assert_eq!(space(20, false).slots(&job, LoadLimit::Node), 0);
        job.cpu = Cores::ZERO;
        assert_eq!(space(20, false).slots(&job, LoadLimit::Node), 3);
    }
}
