//! How much of a job has room on a machine without jobs.

use super::node_amounts::NodeAmounts;
use crate::trace::{TraceJob, number_with_gpus};

/// The nodes of a machine, by what they have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EmptyNodeCounts {
    /// So many have no GPUs, and no part of them is restricted.
    without_gpus: u32,
    /// So many have them, and each has this.
    with_gpus: (u32, NodeAmounts),
}

impl EmptyNodeCounts {
    /// So many nodes; `gpu_nodes` of them have GPUs (none: all), and this each.
    pub fn new(nodes: u32, gpu_nodes: Option<u32>, with_gpus: NodeAmounts) -> Self {
        let count = number_with_gpus(nodes, gpu_nodes);
        Self {
            without_gpus: nodes - count,
            with_gpus: (count, with_gpus),
        }
    }

    /// Why the job's tasks do not have room there, each with amounts of its own; `None` if they have. O(1).
    pub fn shortage(&self, job: &TraceJob) -> Option<String> {
        let task = NodeAmounts::of_task(job);
        let tasks = u64::from(job.tasks);
        let all = self.holds(task);
        if all >= tasks {
            return None;
        }
        let none = NodeAmounts::default();
        let cpu = task.cpu;
        let (memory, gpus, open_cpu) = (task.memory, task.gpus, task.open_cpu);
        let each = [
            ("CPUs", NodeAmounts { cpu, ..none }),
            ("memory", NodeAmounts { memory, ..none }),
            ("GPUs", NodeAmounts { gpus, ..none }),
            (
                "CPUs that are not restricted to jobs with GPUs",
                NodeAmounts {
                    cpu,
                    open_cpu,
                    ..none
                },
            ),
        ];
        let short = each.iter().find(|(_, part)| self.holds(*part) < tasks);
        let what = short.map_or("CPUs, memory and GPUs", |(what, _)| what);
        Some(format!(
            "of its {tasks} tasks {all} have {what} of their own"
        ))
    }

    /// How many tasks that take so much each have room.
    fn holds(&self, task: NodeAmounts) -> u64 {
        let (count, with_gpus) = self.with_gpus;
        let on = |count: u32, node: NodeAmounts| u64::from(count) * u64::from(node.holds(task));
        on(self.without_gpus, NodeAmounts::NODE_WITHOUT_GPUS) + on(count, with_gpus)
    }
}
