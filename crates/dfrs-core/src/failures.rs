//! Demands for which there was no room, so that no job with as great a demand is tried again.

use std::cell::OnceCell;

use crate::model::Job;
use crate::space::LoadLimit;
use crate::units::{Bytes, Cores};

/// What a job demands of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PlacementDemand {
    tasks: u32,
    cpu: Cores,
    memory: Bytes,
    memory_per_node: Bytes,
}

impl PlacementDemand {
    /// What the job demands, if that alone says where it fits: it has tasks, which may use
    /// any nodes, one for each task, and requires no further resource.
    pub(crate) fn alone(job: &Job) -> Option<Self> {
        let layout = &job.layout;
        let anywhere = layout.eligible.is_none()
            && layout.together.is_none()
            && layout.nodes() >= job.tasks as usize
            && layout.min_nodes.is_none()
            && layout.max_tasks_per_node.is_none();
        let is_plain = job.tasks > 0 && !job.requires_devices();
        (anywhere && is_plain).then(|| Self::of(job))
    }

    #[inline]
    fn of(job: &Job) -> Self {
        Self {
            tasks: job.tasks,
            cpu: job.cpu,
            memory: job.memory,
            memory_per_node: job.memory_per_node,
        }
    }

    /// Whether it is in nothing less than the other.
    #[inline]
    fn is_no_less(&self, other: &Self) -> bool {
        self.tasks >= other.tasks
            && self.cpu >= other.cpu
            && self.memory >= other.memory
            && self.memory_per_node >= other.memory_per_node
    }
}

/// Jobs for which there was no room, so that others with no smaller demand need not be tried as
/// long as room only shrinks. None of these demands is at least as great as another.
#[derive(Clone, Debug, Default)]
pub(crate) struct Failures(Vec<(PlacementDemand, LoadLimit)>);

impl Failures {
    /// Notes that there was no room for the job, which keeps this ceiling. Only a job that
    /// could use any nodes says anything about others: returns whether this one does.
    pub(crate) fn add(&mut self, job: &Job, limit: LoadLimit) -> bool {
        let Some(new) = PlacementDemand::alone(job) else {
            return false;
        };
        self.0
            .retain(|(old, kept)| !(old.is_no_less(&new) && *kept >= limit));
        self.0.push((new, limit));
        true
    }

    /// Whether there is no room for this job either: it demands no less than one for which there was
    /// none, and keeps no looser ceiling. `limit` says which ceiling the job keeps; it is called only
    /// where that matters.
    ///
    /// A failure that rules a job out is checked first the next time: few failures rule out most
    /// jobs.
    #[inline]
    pub(crate) fn imply(&mut self, job: &Job, limit: impl Fn() -> LoadLimit) -> bool {
        let known = OnceCell::new();
        let limit = || *known.get_or_init(&limit);
        let wanted = PlacementDemand::of(job);
        let failed = self.0.iter();
        let found = failed
            .enumerate()
            .find(|(_, (failed, kept))| wanted.is_no_less(failed) && *kept <= limit());
        let place = found.map(|(place, _)| place);
        if let Some(place) = place {
            self.0.swap(0, place);
        }
        place.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::JobId;
    use crate::node_set::NodeSet;
    use crate::together::{NodeGroups, Together};
    use crate::units::{Amount, Time};

    fn job(tasks: u32, cpu: u64, memory: u64) -> Job {
        Job::new(JobId(1), Time(0), tasks, Cores(cpu), Bytes(memory))
    }

    #[test]
    fn failure_implies_failure_of_larger_jobs() {
        let failed = job(2, 30, 40);
        let mut failures = Failures::default();
        assert!(!failures.imply(&failed, || LoadLimit::Node));
        failures.add(&failed, LoadLimit::Node);
        let more: [fn(&mut Job); 5] = [
            |_| (),
            |job| job.tasks += 1,
            |job| job.cpu.0 += 1,
            |job| job.memory.0 += 1,
            |job| job.memory_per_node.0 += 1,
        ];
        for change in more {
            let mut other = failed.clone();
            change(&mut other);
            assert!(failures.imply(&other, || LoadLimit::Node), "{other:?}");
        }
        let less: [fn(&mut Job); 3] = [
            |job| (job.tasks, job.cpu) = (1, Cores(100)),
            |job| (job.cpu, job.memory) = (Cores(29), Bytes(100)),
            |job| (job.memory, job.memory_per_node) = (Bytes(39), Bytes(100)),
        ];
        for change in less {
            let mut other = failed.clone();
            change(&mut other);
            assert!(!failures.imply(&other, || LoadLimit::Node), "{other:?}");
        }
    }

    #[test]
    fn the_least_demanding_failure_is_remembered() {
        let mut failures = Failures::default();
        for tasks in [5, 3, 4] {
            failures.add(&job(tasks, 10, 10), LoadLimit::Node);
        }
        assert!(failures.imply(&job(3, 10, 10), || LoadLimit::Node));
        assert!(!failures.imply(&job(2, 10, 10), || LoadLimit::Node));
    }

    #[test]
    fn failure_of_a_constrained_job_implies_nothing() {
        let rules: [fn(&mut Job); 7] = [
            |job| job.tasks = 0,
            |job| job.layout.eligible = Some(NodeSet::default()),
            |job| job.layout.together = Some(Together::Consecutive(NodeGroups::default())),
            |job| job.layout.max_nodes = Some(1),
            |job| job.layout.max_tasks_per_node = Some(1),
            |job| job.rigid = vec![Amount(1)],
            |job| job.rigid_per_node = vec![Amount(1)],
        ];
        for rule in rules {
            let mut held_back = job(2, 10, 10);
            rule(&mut held_back);
            let mut failures = Failures::default();
            failures.add(&held_back, LoadLimit::Node);
            assert!(
                !failures.imply(&job(2, 10, 10), || LoadLimit::Node),
                "{held_back:?}"
            );
        }
    }

    #[test]
    fn failure_applies_to_equal_or_stricter_ceilings() {
        let mut failures = Failures::default();
        failures.add(&job(2, 10, 10), LoadLimit::Node);
        let implied = |limit| failures.clone().imply(&job(3, 10, 10), || limit);
        assert!(!implied(LoadLimit::Nothing));
        assert!(implied(LoadLimit::Node) && implied(LoadLimit::Parallel));
        // A failure that the looser one implies is left out.
        failures.add(&job(2, 10, 10), LoadLimit::Nothing);
        assert_eq!(failures.0.len(), 1);
    }
}
