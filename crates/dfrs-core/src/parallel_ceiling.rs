//! Which jobs the ceiling on the load of nodes with parallel jobs is about.

use crate::headroom::Space;
use crate::model::{Cluster, Job, Node};
use crate::policy::{Ceilings, LoadCeiling};
use crate::units::{Bytes, Cores};

/// All nodes as they would be if no job of ours were there.
#[derive(Clone, Debug)]
pub(crate) struct ParallelCeiling {
    /// In the cluster's order.
    nodes: Vec<Space>,
    /// Distinct ones and how many nodes are so, those of the highest ceiling first.
    kinds: Vec<(Space, u64)>,
}

impl ParallelCeiling {
    /// `None` if there is no such ceiling. O(nodes log nodes).
    pub(crate) fn of(cluster: &Cluster, ceilings: Ceilings) -> Option<Self> {
        let ceiling = ceilings.parallel?;
        let nodes = cluster.nodes.iter().map(|node| empty(node, ceiling));
        let nodes: Vec<Space> = nodes.collect();
        let mut all = nodes.clone();
        all.sort_unstable_by(|one, other| other.cmp(one));
        let alike = all.chunk_by(|one, other| one == other);
        let kinds = alike.map(|nodes| (nodes[0], nodes.len() as u64)).collect();
        Some(Self { nodes, kinds })
    }

    /// Whether the job may run on several nodes, and could have its least yield on empty ones. One that could not
    /// would wait for ever: it starts where it can, as if there were no such ceiling. O(distinct nodes), or O(n log
    /// n) of a list of its own.
    pub(crate) fn is_about(&self, job: &Job) -> bool {
        job.may_span_nodes() && job.by_kind().iter().all(|kind| self.holds(kind))
    }

    /// Whether they hold a job of one kind.
    fn holds(&self, job: &Job) -> bool {
        let slots = |space: &Space| space.slots(job, true);
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
        let mut nodes_left = u64::try_from(job.layout.nodes()).unwrap_or(u64::MAX);
        let mut tasks = 0u64;
        for (slots, nodes) in found {
            let used = nodes.min(nodes_left);
            nodes_left -= used;
            tasks = tasks.saturating_add(used.saturating_mul(slots));
        }
        tasks >= u64::from(job.tasks)
    }
}

/// Nobody waits for a node that is down or draining, and may be so for days.
fn empty(node: &Node, ceiling: LoadCeiling) -> Space {
    let (memory, most_load) = if node.is_up() {
        (node.memory.minus(node.held_memory), ceiling.of(node.cpu))
    } else {
        (Bytes::ZERO, Cores::ZERO)
    };
    Space {
        memory,
        load: Cores(u64::MAX),
        load_parallel: most_load,
        has_cpu: !node.cpu.is_zero(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{JobId, NodeIndex};
    use crate::units::Time;

    #[test]
    fn it_is_about_those_who_could_have_their_least_yield() {
        let node = |cpu, memory| Node::new("", Cores(cpu), Bytes(memory));
        let cluster = Cluster {
            nodes: vec![node(4, 100), node(4, 100), node(8, 10)],
            jobs: Vec::new(),
        };
        let of = |percent| {
            let parallel = Some(LoadCeiling(percent));
            ParallelCeiling::of(
                &cluster,
                Ceilings {
                    all: None,
                    parallel,
                },
            )
            .expect("there")
        };
        let job =
            |tasks, cpu, memory| Job::new(JobId(1), Time(0), tasks, Cores(cpu), Bytes(memory));
        assert!(of(100).is_about(&job(16, 1, 1)));
        assert!(!of(100).is_about(&job(17, 1, 1)) && of(200).is_about(&job(17, 1, 1)));
        // Two tasks on each of the small nodes; no memory for any on the large one.
        assert!(of(100).is_about(&job(4, 2, 20)) && !of(100).is_about(&job(5, 2, 20)));
        assert!(!of(100).is_about(&job(2, 9, 1)) && !of(100).is_about(&job(1, 1, 1)));
        let mut few = job(8, 1, 1);
        few.layout.eligible = Some([0, 1].map(NodeIndex).into_iter().collect());
        assert!(of(100).is_about(&few));
        few.layout.max_tasks_per_node = Some(3);
        assert!(!of(100).is_about(&few));
        assert!(ParallelCeiling::of(&cluster, Ceilings::default()).is_none());
        let mut drained = cluster.clone();
        drained.nodes[1].state = crate::model::NodeState::Draining;
        let parallel = Some(LoadCeiling(100));
        let left = ParallelCeiling::of(
            &drained,
            Ceilings {
                all: None,
                parallel,
            },
        )
        .expect("there");
        assert!(left.is_about(&job(12, 1, 1)) && !left.is_about(&job(13, 1, 1)));
    }
}
