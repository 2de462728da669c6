//! Which ceilings on the load of nodes hold for which jobs.

use std::sync::Arc;

use crate::greedy::suffice;
use crate::model::{Cluster, Job, Node, NodeIndex};
use crate::policy::{Ceilings, LoadCeiling};
use crate::space::{LoadLimit, Space, most_tasks};
use crate::units::{Bytes, Cores};

/// The ceilings, with what is needed to find which of them a job could keep: a job that could not
/// keep one on empty nodes would wait for ever, and starts where it can, as if there were no such
/// ceiling.
#[derive(Clone, Debug)]
pub(crate) struct LoadLimits {
    all: Option<EmptyNodes>,
    parallel: Option<EmptyNodes>,
}

impl LoadLimits {
    /// `None` if there is no ceiling. O(nodes log nodes).
    pub(crate) fn of(cluster: &Cluster, ceilings: Ceilings) -> Option<Self> {
        if ceilings.are_none() {
            return None;
        }
        let empty = |ceiling| EmptyNodes::of(cluster, ceiling);
        let stricter = |ceiling: LoadCeiling| {
            let all = ceilings.all.unwrap_or(ceiling);
            ceiling.min(all)
        };
        Some(Self {
            all: ceilings.all.map(empty),
            parallel: ceilings.parallel.map(stricter).map(empty),
        })
    }

    /// Which ceiling the job keeps, if there is one; none if it has devices, which would stand
    /// still while it waits for CPU. As [`Self::of_job`].
    pub(crate) fn limit(limits: Option<&Arc<Self>>, job: &Job) -> LoadLimit {
        if job.requires_devices() {
            return LoadLimit::Exempt;
        }
        limits.map_or(LoadLimit::Node, |limits| limits.of_job(job))
    }

    /// What holds for a job that has no place, or is to get one. O(distinct nodes), or O(n log n)
    /// of a list of its own.
    pub(crate) fn of_job(&self, job: &Job) -> LoadLimit {
        let could_keep = |nodes: &EmptyNodes| nodes.hold(job);
        if job.may_span_nodes() && self.parallel.as_ref().is_some_and(could_keep) {
            LoadLimit::Parallel
        } else if self.all.as_ref().is_none_or(could_keep) {
            LoadLimit::Node
        } else {
            LoadLimit::Nothing
        }
    }
}

/// All nodes as they would be if no job of ours were there.
#[derive(Clone, Debug)]
struct EmptyNodes {
    /// In the cluster's order.
    nodes: Vec<Space>,
    /// Distinct ones and how many nodes are so, those of the highest ceiling first.
    kinds: Vec<(Space, u64)>,
}

impl EmptyNodes {
    fn of(cluster: &Cluster, ceiling: LoadCeiling) -> Self {
        let nodes = cluster.nodes.iter().map(|node| empty(node, ceiling));
        let nodes: Vec<Space> = nodes.collect();
        let mut all = nodes.clone();
        all.sort_unstable_by(|one, other| other.cmp(one));
        let alike = all.chunk_by(|one, other| one == other);
        let kinds = alike.map(|nodes| (nodes[0], nodes.len() as u64)).collect();
        Self { nodes, kinds }
    }

    /// Whether they hold the job.
    fn hold(&self, job: &Job) -> bool {
        let slots = |space: &Space| space.slots(job, LoadLimit::Node);
        if job.layout.together.is_some() {
            let on = |(node, space): (NodeIndex, &Space)| match job.layout.allows(node) {
                true => u32::try_from(slots(space)).unwrap_or(u32::MAX),
                false => 0,
            };
            let nodes = (0..).map(NodeIndex).zip(&self.nodes);
            return suffice(job, &nodes.map(on).collect::<Vec<u32>>());
        }
        let tasks = u64::from(job.tasks);
        let least = u64::from(job.layout.least_nodes()).min(tasks);
        let max_nodes = u64::try_from(job.layout.nodes()).unwrap_or(u64::MAX);
        // Most often nodes that are alike do, which needs no list.
        let do_alone = |(space, nodes): &(Space, u64)| {
            let slots = slots(space);
            let used = (*nodes).min(max_nodes);
            slots > 0 && *nodes >= least && used.saturating_mul(slots) >= tasks
        };
        if job.layout.eligible.is_none() && self.kinds.iter().any(do_alone) {
            return true;
        }
        let mut found: Vec<(u64, u64)> = match &job.layout.eligible {
            None => {
                let kinds = self.kinds.iter();
                kinds.map(|(space, nodes)| (slots(space), *nodes)).collect()
            }
            Some(eligible) => {
                let nodes = eligible.iter();
                let known = nodes.filter_map(|node| self.nodes.get(node.index()));
                known.map(|space| (slots(space), 1)).collect()
            }
        };
        found.sort_unstable_by(|one, other| other.cmp(one));
        let takers = found.iter().filter(|(slots, _)| *slots > 0);
        let takers: u64 = takers.map(|(_, nodes)| *nodes).sum();
        if takers < least {
            return false;
        }
        most_tasks(max_nodes, found.into_iter()) >= tasks
    }
}

/// No job waits for a node that is down or draining, and may be so for days, nor for memory that
/// others hold. What jobs hold that have ended is waited for.
fn empty(node: &Node, ceiling: LoadCeiling) -> Space {
    let (memory, max_load) = if node.is_up() {
        let held = node.held_memory.minus(node.ending_memory);
        (node.memory.minus(held), ceiling.of(node.cpu))
    } else {
        (Bytes::ZERO, Cores::ZERO)
    };
    Space {
        memory,
        load: max_load,
        load_parallel: max_load,
        load_unlimited: Cores(u64::MAX),
        has_cpu: !node.cpu.is_zero(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{JobId, NodeIndex};
    use crate::units::Time;

    fn cluster() -> Cluster {
        let node = |cpu, memory| Node::new("", Cores(cpu), Bytes(memory));
        Cluster {
            nodes: vec![node(4, 100), node(4, 100), node(8, 10)],
            jobs: Vec::new(),
        }
    }

    fn limits(cluster: &Cluster, all: Option<u32>, parallel: Option<u32>) -> LoadLimits {
        let ceilings = Ceilings {
            all: all.map(LoadCeiling::from_percent),
            parallel: parallel.map(LoadCeiling::from_percent),
            ..Ceilings::default()
        };
        LoadLimits::of(cluster, ceilings).expect("there")
    }

    fn job(tasks: u32, cpu: u64, memory: u64) -> Job {
        Job::new(JobId(1), Time(0), tasks, Cores(cpu), Bytes(memory))
    }

    #[test]
    fn parallel_ceiling_applies_to_jobs_that_can_keep_it() {
        let cluster = cluster();
        let is_about = |percent, job: &Job| {
            limits(&cluster, None, Some(percent)).of_job(job) == LoadLimit::Parallel
        };
        assert!(is_about(100, &job(16, 1, 1)));
        assert!(!is_about(100, &job(17, 1, 1)) && is_about(200, &job(17, 1, 1)));
        // Two tasks on each of the small nodes; no memory for any on the large one.
        assert!(is_about(100, &job(4, 2, 20)) && !is_about(100, &job(5, 2, 20)));
        assert!(!is_about(100, &job(2, 9, 1)) && !is_about(100, &job(1, 1, 1)));
        let mut few = job(8, 1, 1);
        few.layout.eligible = Some([0, 1].map(NodeIndex).into_iter().collect());
        assert!(is_about(100, &few));
        few.layout.max_tasks_per_node = Some(3);
        assert!(!is_about(100, &few));
        let mut drained = cluster.clone();
        drained.nodes[1].state = crate::model::NodeState::Draining;
        let left = limits(&drained, None, Some(100));
        assert_eq!(left.of_job(&job(12, 1, 1)), LoadLimit::Parallel);
        assert_eq!(left.of_job(&job(13, 1, 1)), LoadLimit::Node);
        assert!(LoadLimits::of(&cluster, Ceilings::default()).is_none());
    }

    #[test]
    fn memory_of_ending_jobs_lifts_no_ceiling() {
        let mut cluster = cluster();
        cluster.nodes[0].held_memory = Bytes(80);
        let limit = |cluster: &Cluster| limits(cluster, Some(100), None).of_job(&job(4, 2, 40));
        assert_eq!(limit(&cluster), LoadLimit::Nothing);
        cluster.nodes[0].ending_memory = Bytes(80);
        assert_eq!(limit(&cluster), LoadLimit::Node);
    }

    #[test]
    fn jobs_with_devices_keep_no_ceiling() {
        let cluster = cluster();
        let limits = Arc::new(limits(&cluster, Some(100), Some(100)));
        let mut with_device = job(4, 1, 10);
        assert_eq!(
            LoadLimits::limit(Some(&limits), &with_device),
            LoadLimit::Parallel
        );
        with_device.rigid_per_node = vec![crate::units::Amount(1)];
        for limits in [None, Some(&limits)] {
            assert_eq!(LoadLimits::limit(limits, &with_device), LoadLimit::Exempt);
        }
    }

    #[test]
    fn node_ceiling_applies_to_jobs_that_can_keep_it() {
        let cluster = cluster();
        let all = limits(&cluster, Some(100), None);
        assert_eq!(all.of_job(&job(16, 1, 1)), LoadLimit::Node);
        assert_eq!(all.of_job(&job(17, 1, 1)), LoadLimit::Nothing);
        assert_eq!(all.of_job(&job(1, 9, 1)), LoadLimit::Nothing);
        // The stricter one counts for jobs on several nodes.
        let both = limits(&cluster, Some(100), Some(200));
        assert_eq!(both.of_job(&job(16, 1, 1)), LoadLimit::Parallel);
        assert_eq!(both.of_job(&job(17, 1, 1)), LoadLimit::Nothing);
        assert_eq!(both.of_job(&job(1, 8, 1)), LoadLimit::Node);
    }
}
