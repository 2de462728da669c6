//! How much space nodes have left, equal ones counted together: whether a job fits is answered
//! without looking at every node again.

use std::sync::Arc;

use crate::load_limits::LoadLimits;
use crate::model::Job;
use crate::space::{LoadLimit, Space};
use crate::usage::Usage;

/// The spaces of all nodes that take tasks, at one moment of a decision. Further rigid resources
/// and the identity of nodes are not in it.
#[derive(Clone, Debug)]
pub(crate) struct Headroom {
    /// Distinct spaces and how many nodes have them, descending.
    spaces: Vec<(Space, u64)>,
    nodes: usize,
    limits: Option<Arc<LoadLimits>>,
}

impl Headroom {
    /// O(nodes + r log r), r being the number of stretches of neighbouring nodes with equal spaces.
    pub(crate) fn of(usage: &Usage) -> Self {
        let mut spaces: Vec<(Space, u64)> = Vec::with_capacity(usage.nodes());
        for space in usage.spaces() {
            match spaces.last_mut() {
                Some((last, nodes)) if *last == space => *nodes += 1,
                _ => spaces.push((space, 1)),
            }
        }
        spaces.sort_unstable_by(|one, other| other.cmp(one));
        spaces.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        Self {
            spaces,
            nodes: usage.nodes(),
            limits: usage.limits(),
        }
    }

    /// Which ceiling the job keeps. O(distinct nodes), or O(n log n) of a list of its own, where
    /// there is one.
    pub(crate) fn limit(&self, job: &Job) -> LoadLimit {
        LoadLimits::limit(self.limits.as_ref(), job)
    }

    /// Whether [`Self::holds`] is all that decides about the job: it may use any nodes,
    /// one for each task or as many as there are, or one for all, and requires no further resource.
    #[inline]
    pub(crate) fn applies_to(&self, job: &Job) -> bool {
        job.layout.eligible.is_none()
            && job.layout.together.is_none()
            && !job.requires_devices()
            && (job.layout.nodes() == 1 || job.layout.nodes() >= self.nodes.min(job.tasks as usize))
            && job.layout.min_nodes.is_none()
    }

    /// Whether all tasks of the job could be placed, further rules and resources of it aside: without
    /// this they never can. O(distinct spaces).
    #[inline]
    pub(crate) fn holds(&self, job: &Job) -> bool {
        let wanted = u64::from(job.tasks);
        let least = job.memory + job.memory_per_node;
        let limit = self.limit(job);
        let takes_one = |space: &Space| {
            job.cpu <= space.load_for(limit) && (space.has_cpu || job.cpu.is_zero())
        };
        let may_use_any = job.layout.tasks_per_node() > 0;
        let mut found = 0u64;
        let spaces = self.spaces.iter();
        let mut spaces = spaces.take_while(|(space, _)| space.memory >= least);
        if job.layout.nodes() == 1 {
            return wanted > 0 && spaces.any(|(space, _)| space.slots(job, limit) >= wanted);
        }
        wanted > 0
            && spaces.any(|(space, nodes)| {
                // A task on each of them may be enough, which needs no division.
                if found.saturating_add(*nodes) >= wanted && may_use_any && takes_one(space) {
                    return true;
                }
                found = found.saturating_add(nodes.saturating_mul(space.slots(job, limit)));
                found >= wanted
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::greedy::could_place;
    use crate::model::{Cluster, JobId, Node, NodeIndex, NodeState};
    use crate::policy::LoadCeiling;
    use crate::units::{Amount, Bytes, Cores, Time};
    use proptest::prelude::*;

    fn node() -> impl Strategy<Value = Node> {
        let amount = || prop_oneof![3 => Just(100u64), 1 => 0u64..120];
        (amount(), amount(), 0u64..130, 0u8..8).prop_map(|(cpu, memory, held, state)| Node {
            held_memory: Bytes(if held < 90 { 0 } else { held }),
            state: if state == 0 {
                NodeState::Draining
            } else {
                NodeState::Up
            },
            ..Node::new("", Cores(cpu), Bytes(memory))
        })
    }

    fn job() -> impl Strategy<Value = Job> {
        let size = (
            0u32..20,
            0u64..120,
            0u64..120,
            prop_oneof![2 => Just(0u64), 1 => 0u64..60],
        );
        let on_one = proptest::option::weighted(0.3, Just(1u32));
        (size, proptest::option::weighted(0.3, 0u32..4), on_one).prop_map(
            |((tasks, cpu, memory, per_node), max_tasks, nodes)| {
                let mut job = Job::new(JobId(1), Time(0), tasks, Cores(cpu), Bytes(memory));
                job.memory_per_node = Bytes(per_node);
                job.layout.max_tasks_per_node = max_tasks;
                job.layout.max_nodes = nodes;
                job
            },
        )
    }

    proptest! {
        #[test]
        fn headroom_holds_every_job_that_could_be_placed(
            nodes in proptest::collection::vec((node(), 0u64..4), 0..8),
            jobs in proptest::collection::vec((job(), 0u64..3, 0u32..5, 0u32..5), 1..12),
            ceiling in proptest::option::of(100u32..400),
        ) {
            let with_devices = |(node, devices): (Node, u64)| Node {
                rigid: vec![Amount(devices)],
                ..node
            };
            let cluster = Cluster {
                nodes: nodes.into_iter().map(with_devices).collect(),
                jobs: Vec::new(),
            };
            let usage = Usage::empty(&cluster, ceiling.map(LoadCeiling::from_percent));
            let headroom = Headroom::of(&usage);
            for (mut job, devices, min_nodes, max_nodes) in jobs {
                job.rigid_per_node = vec![Amount(devices)];
                job.layout.min_nodes = Some(min_nodes);
                job.layout.max_nodes = Some(max_nodes);
                prop_assert!(headroom.holds(&job) || !could_place(&cluster, &usage, &job));
            }
        }

        #[test]
        fn headroom_holds_job_iff_greedy_could_place_it(
            nodes in proptest::collection::vec(node(), 0..12),
            jobs in proptest::collection::vec(job(), 1..12),
            ceiling in proptest::option::of(100u32..400),
        ) {
            let cluster = Cluster { nodes, jobs };
            let usage = Usage::empty(&cluster, ceiling.map(LoadCeiling::from_percent));
            let headroom = Headroom::of(&usage);
            for job in &cluster.jobs {
                prop_assert!(headroom.applies_to(job));
                prop_assert_eq!(headroom.holds(job), could_place(&cluster, &usage, job));
            }
        }
    }

    #[test]
    fn headroom_does_not_apply_to_constrained_jobs() {
        let cluster = Cluster {
            nodes: vec![Node::new("", Cores(1), Bytes(1)); 3],
            jobs: Vec::new(),
        };
        let headroom = Headroom::of(&Usage::empty(&cluster, None));
        let plain = Job::new(JobId(1), Time(0), 1, Cores(1), Bytes(1));
        let knows = |change: fn(&mut Job)| {
            let mut job = plain.clone();
            change(&mut job);
            headroom.applies_to(&job)
        };
        assert!(knows(|job| job.layout.max_nodes = Some(3)));
        assert!(knows(|job| job.layout.max_nodes = Some(1)));
        assert!(!knows(|job| job.layout.min_nodes = Some(2)));
        let on_two: fn(&mut Job) = |job| job.layout.max_nodes = Some(2);
        assert!(knows(on_two));
        assert!(!knows(
            |job| (job.tasks, job.layout.max_nodes) = (3, Some(2))
        ));
        assert!(!knows(
            |job| job.layout.eligible = Some([NodeIndex(0)].into_iter().collect())
        ));
        assert!(!knows(|job| job.rigid = vec![Amount(1)]));
        assert!(!knows(|job| job.rigid_per_node = vec![Amount(1)]));
    }
}
