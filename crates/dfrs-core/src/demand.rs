//! What a job demands: of one node for some of its tasks, and in all.

use crate::mapping::Run;
use crate::model::Job;
use crate::units::{Amount, Bytes, Cores};

impl Job {
    /// Whether the job's tasks may be on several nodes.
    #[inline]
    pub(crate) fn may_span_nodes(&self) -> bool {
        self.tasks > 1 && self.layout.nodes() > 1
    }

    /// Sum of the CPU needs of all tasks, in millionths of a core.
    pub(crate) fn total_cpu(&self) -> u128 {
        u128::from(self.cpu.0) * u128::from(self.tasks)
    }

    /// Memory that the job takes at least, wherever its tasks are.
    pub(crate) fn least_memory(&self) -> Bytes {
        let fewest_nodes = self.tasks.div_ceil(self.layout.tasks_per_node().max(1));
        self.memory.times(self.tasks) + self.memory_per_node.times(fewest_nodes)
    }

    /// Memory that `tasks` of its tasks require on one node.
    #[inline]
    pub fn memory_on(&self, tasks: u32) -> Bytes {
        if tasks == 0 {
            Bytes::ZERO
        } else {
            self.memory.times(tasks) + self.memory_per_node
        }
    }

    /// Memory that these tasks of the job require on their node.
    #[inline]
    pub fn memory_of(&self, run: Run) -> Bytes {
        self.memory_on(run.tasks)
    }

    /// Sum of the CPU needs of these tasks of the job.
    #[inline]
    pub fn cpu_of(&self, run: Run) -> Cores {
        self.cpu.times(run.tasks)
    }

    /// Whether it requires something of a further rigid resource, wherever it is.
    #[inline]
    pub fn requires_devices(&self) -> bool {
        let mut amounts = self.rigid.iter().chain(&self.rigid_per_node);
        amounts.any(|amount| !amount.is_zero())
    }

    /// How many further rigid resources it may require something of: the first ones.
    #[inline]
    pub(crate) fn rigid_kinds(&self) -> usize {
        self.rigid.len().max(self.rigid_per_node.len())
    }

    /// What one task requires of a further rigid resource.
    #[inline]
    pub(crate) fn rigid_per_task_of(&self, resource: usize) -> Amount {
        amount(&self.rigid, resource)
    }

    /// What the job requires of a further rigid resource once on each of its nodes.
    #[inline]
    pub(crate) fn rigid_per_node_of(&self, resource: usize) -> Amount {
        amount(&self.rigid_per_node, resource)
    }

    /// What `tasks` of its tasks require of a further rigid resource on one node.
    #[inline]
    pub(crate) fn rigid_on(&self, tasks: u32, resource: usize) -> Amount {
        if tasks == 0 {
            Amount::ZERO
        } else {
            self.rigid_per_task_of(resource).times(tasks) + self.rigid_per_node_of(resource)
        }
    }

    /// What these tasks of the job require of a further rigid resource.
    #[inline]
    pub fn rigid_of(&self, run: Run, resource: usize) -> Amount {
        self.rigid_on(run.tasks, resource)
    }
}

fn amount(amounts: &[Amount], resource: usize) -> Amount {
    amounts.get(resource).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::JobId;
    use crate::units::Time;

    #[test]
    fn job_requires_nothing_where_it_has_no_tasks() {
        let mut job = Job::new(JobId(1), Time(0), 1, Cores(1), Bytes(5));
        job.memory_per_node = Bytes(100);
        assert_eq!(job.memory_on(0), Bytes::ZERO);
        assert_eq!(job.memory_on(2), Bytes(110));
    }

    #[test]
    fn devices_per_node_count_once_on_a_node() {
        let mut job = Job::new(JobId(1), Time(0), 1, Cores(1), Bytes(5));
        assert!(!job.requires_devices() && job.rigid_kinds() == 0);
        job.rigid = vec![Amount(0)];
        assert!(!job.requires_devices());
        job.rigid = vec![Amount(0), Amount(3)];
        job.rigid_per_node = vec![Amount(2)];
        assert!(job.requires_devices() && job.rigid_kinds() == 2);
        let on = |tasks| [0, 1, 2].map(|kind| job.rigid_on(tasks, kind).0);
        assert_eq!(on(0), [0, 0, 0]);
        assert_eq!(on(1), [2, 3, 0]);
        assert_eq!(on(4), [2, 12, 0]);
    }
}
