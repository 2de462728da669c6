//! Whether nodes take the tasks that arrive, and hold them.

use super::{Checker, Origin, Shortage, ViolationKind};
use crate::model::{Job, JobState, Mapping, NodeState, Run};

impl Checker<'_> {
    /// Whether the node takes these tasks, and has room for them.
    pub(super) fn check_node(&mut self, job: &Job, run: Run, origin: Origin<'_>) {
        let node = &self.cluster.nodes[run.node.index()];
        let was_here = match origin {
            Origin::Queue => false,
            Origin::Swap => true,
            Origin::Nodes(old) => no_more(run, old),
        };
        let may_stay = node.state == NodeState::Draining && was_here;
        if !node.is_up() && !may_stay {
            let kind = ViolationKind::NodeTakesNothing(node.state);
            self.report_on(kind, job.id, run.node);
        }
        let (in_use, capacity) = (self.usage.memory(run.node), node.memory);
        if in_use + job.memory_of(run) > capacity {
            let on = JobState::running_on;
            let shortage = self.shortage(job, run, capacity, in_use, on, Job::memory_of);
            self.report_on(ViolationKind::Memory(shortage), job.id, run.node);
        }
        for resource in 0..job.rigid_kinds() {
            let of = |job: &Job, run: Run| job.rigid_of(run, resource);
            let (in_use, capacity) = self.usage.rigid(run.node, resource);
            if !of(job, run).is_zero() && in_use + of(job, run) > capacity {
                let on = JobState::running_on;
                let shortage = self.shortage(job, run, capacity, in_use, on, of);
                let kind = ViolationKind::Rigid { resource, shortage };
                self.report_on(kind, job.id, run.node);
            }
        }
    }

    /// Whether the swap of the job's nodes holds it, too.
    pub(super) fn check_swap(&mut self, job: &Job, mapping: &Mapping) {
        for run in mapping.iter() {
            let capacity = self.cluster.nodes[run.node.index()].swap;
            let in_use = self.swap.used(run.node);
            if capacity.is_zero() || in_use + job.memory_of(run) > capacity {
                let on = JobState::parked_on;
                let shortage = self.shortage(job, run, capacity, in_use, on, Job::memory_of);
                self.report_on(ViolationKind::Swap(shortage), job.id, run.node);
            }
        }
    }

    /// What the node is short of when the job's tasks come: `amount` of it is what tasks take. The
    /// jobs that hold something there are found by their states now. O(jobs log runs).
    fn shortage<T: PartialEq + Default>(
        &self,
        job: &Job,
        run: Run,
        capacity: T,
        in_use: T,
        mapping: impl Fn(&JobState) -> Option<&Mapping>,
        amount: impl Fn(&Job, Run) -> T,
    ) -> Shortage<T> {
        let jobs = self.cluster.jobs.iter().zip(&self.states);
        let held = jobs.filter_map(|(job, state)| {
            let run = mapping(state)?.run_on(run.node)?;
            Some((job.id, amount(job, run)))
        });
        Shortage {
            capacity,
            in_use,
            required: amount(job, run),
            holders: held.filter(|(_, amount)| *amount != T::default()).collect(),
        }
    }

    pub(super) fn check_count(&mut self, job: &Job, mapping: &Mapping) {
        let (placed, wanted) = (mapping.tasks(), job.tasks);
        if placed != u64::from(wanted) {
            self.report(ViolationKind::TaskCount { placed, wanted }, job.id);
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
        let layout = &job.layout;
        let (placed, most) = (mapping.node_count(), layout.nodes());
        if placed > most {
            self.report(ViolationKind::NodeCount { placed, most }, job.id);
        }
        let rule = layout.together.as_ref();
        if rule.is_some_and(|rule| !rule.allows(mapping)) {
            self.report(ViolationKind::NotTogether, job.id);
        }
        for run in mapping {
            let (placed, most) = (run.tasks, layout.tasks_per_node());
            if placed > most {
                let kind = ViolationKind::TasksPerNode { placed, most };
                self.report_on(kind, job.id, run.node);
            }
            if !layout.allows(run.node) {
                self.report_on(ViolationKind::NotEligible, job.id, run.node);
            }
        }
    }
}

/// Whether the node has no more tasks than `old` has there.
fn no_more(run: Run, old: &Mapping) -> bool {
    run.tasks <= old.tasks_on(run.node)
}
