//! Whether nodes take the tasks that arrive, and hold them.

use super::{Checker, Origin, Shortage, ViolationKind};
use crate::model::{Job, JobId, JobState, Mapping, NodeIndex, NodeState, Part};

impl Checker<'_> {
    /// Whether the node takes these tasks, and has room for them.
    pub(super) fn check_node(&mut self, job: &Job, part: Part<'_>, origin: Origin<'_>) {
        let node = &self.cluster.nodes[part.node.index()];
        let was_here = match origin {
            Origin::Queue => false,
            Origin::Swap => true,
            Origin::Nodes(old) => no_more(part, old),
        };
        let may_stay = node.state == NodeState::Draining && was_here;
        if !node.is_up() && !may_stay {
            let kind = ViolationKind::NodeTakesNothing(node.state);
            self.report_on(kind, job.id, part.node);
        }
        let in_use = self.usage.memory(part.node);
        let required = job.memory_of(part);
        if in_use + required > node.memory {
            let shortage = Shortage {
                capacity: node.memory,
                in_use,
                required,
                holders: self.holders(part.node, JobState::running_on, Job::memory_of),
            };
            self.report_on(ViolationKind::Memory(shortage), job.id, part.node);
        }
        for resource in 0..job.rigid_resources() {
            self.check_rigid(job, part, resource);
        }
    }

    fn check_rigid(&mut self, job: &Job, part: Part<'_>, resource: usize) {
        let required = job.rigid_of(part, resource);
        let (in_use, capacity) = self.usage.rigid(part.node, resource);
        if required.is_zero() || in_use + required <= capacity {
            return;
        }
        let of = |job: &Job, part: Part<'_>| job.rigid_of(part, resource);
        let shortage = Shortage {
            capacity,
            in_use,
            required,
            holders: self.holders(part.node, JobState::running_on, of),
        };
        let kind = ViolationKind::Rigid { resource, shortage };
        self.report_on(kind, job.id, part.node);
    }

    /// Whether the swap of the job's nodes holds it, too.
    pub(super) fn check_swap(&mut self, job: &Job, mapping: &Mapping) {
        for part in mapping.parts() {
            let capacity = self.cluster.nodes[part.node.index()].swap;
            let in_use = self.swap.used(part.node);
            let required = job.memory_of(part);
            if capacity.is_zero() || in_use + required > capacity {
                let shortage = Shortage {
                    capacity,
                    in_use,
                    required,
                    holders: self.holders(part.node, JobState::parked_on, Job::memory_of),
                };
                self.report_on(ViolationKind::Swap(shortage), job.id, part.node);
            }
        }
    }

    /// The jobs that hold something on the node, by their states now. O(jobs log runs).
    fn holders<T: PartialEq + Default>(
        &self,
        node: NodeIndex,
        mapping: impl Fn(&JobState) -> Option<&Mapping>,
        amount: impl Fn(&Job, Part<'_>) -> T,
    ) -> Vec<(JobId, T)> {
        let jobs = self.cluster.jobs.iter().zip(&self.states);
        let held = jobs.filter_map(|(job, state)| {
            let part = mapping(state)?.part_on(node)?;
            Some((job.id, amount(job, part)))
        });
        held.filter(|(_, amount)| *amount != T::default()).collect()
    }

    pub(super) fn check_count(&mut self, job: &Job, mapping: &Mapping) {
        let kinds = mapping.kind_count().max(1 + job.further_kinds.len());
        let wanted = job.task_counts().chain(std::iter::repeat(0));
        for (number, wanted) in (0..kinds).zip(wanted) {
            let placed = mapping.parts().map(|part| u64::from(part.of_kind(number)));
            let placed = placed.sum();
            if placed != u64::from(wanted) {
                let kind = ViolationKind::TaskCount { placed, wanted };
                self.report_kind(kind, job, number, None);
            }
        }
    }

    pub(super) fn known_nodes(&mut self, job: &Job, mapping: &Mapping) -> bool {
        let mut nodes = mapping.nodes();
        let unknown = nodes.find(|node| self.cluster.node(*node).is_none());
        if let Some(node) = unknown {
            self.report_on(self.unknown_node(), job.id, node);
        }
        unknown.is_none()
    }

    pub(super) fn check_layout(&mut self, job: &Job, mapping: &Mapping) {
        for (number, layout) in job.layouts().enumerate() {
            let parts = mapping.parts().filter(move |part| part.of_kind(number) > 0);
            let (placed, most) = (parts.clone().count(), layout.nodes());
            if placed > most {
                let kind = ViolationKind::NodeCount { placed, most };
                self.report_kind(kind, job, number, None);
            }
            for part in parts {
                let (placed, most) = (part.of_kind(number), layout.tasks_per_node());
                if placed > most {
                    let kind = ViolationKind::TasksPerNode { placed, most };
                    self.report_kind(kind, job, number, Some(part.node));
                }
                if !layout.allows(part.node) {
                    self.report_kind(ViolationKind::NotEligible, job, number, Some(part.node));
                }
            }
        }
    }
}

/// Whether the part has no more tasks of any kind than `old` has there.
fn no_more(part: Part<'_>, old: &Mapping) -> bool {
    let kinds = 0..part.tasks.len();
    old.part_on(part.node).is_some_and(|before| {
        kinds
            .into_iter()
            .all(|kind| part.of_kind(kind) <= before.of_kind(kind))
    })
}
