//! Nodes that a job's tasks may go to, and which of them are best.

use std::cmp::{Ordering, Reverse};

use crate::model::{Job, NodeIndex, Run};
use crate::units::{Amount, Bytes, Cores};
use crate::usage::NodePreference;

/// A node that one more task of the job may go to. The greatest candidate is the one with the
/// lowest load after that task, which leaves the task the largest yield; ties go to the lower
/// index. On equal nodes this is the paper's order by lowest load.
///
/// For a job that is packed nodes with idle CPU for the task come first, those before all on which
/// it leaves least memory: a job that needs much memory of a node finds one sooner, and as long as
/// CPU is idle it costs nothing. Of the others those of the lowest load, as above, and of equal
/// ones those on which it leaves least memory.
///
/// For a job that requires devices those nodes come first on which it leaves fewest of them: so that
/// a job which requires all devices of a node finds one. CPU does not matter to it, as it has a least
/// yield.
///
/// Before all that, where nodes differ in what is preferred, those with idle CPU for the job come
/// first, in that order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NodeCandidate {
    pub(super) load_after: Cores,
    pub(super) capacity: Cores,
    pub(super) node: NodeIndex,
    /// Tasks of the job that are there already.
    pub(super) tasks: u32,
    /// Where nodes differ in it.
    pub(super) preferred: Option<PreferredNode>,
    /// For a job that is packed.
    pub(super) packed: Option<Packed>,
    /// For a job that requires devices: how many of these kinds are left there after the task.
    pub(super) devices_left: Option<Amount>,
}

/// The memory of a node that a job is packed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packed {
    /// What is left there after the task.
    pub(super) left: Bytes,
    /// What each further task takes.
    pub(super) each: Bytes,
}

/// Where a node stands in what is preferred, and what it has to have for that to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PreferredNode {
    pub(super) preference: NodePreference,
    /// CPU of tasks that have to go there, too, for the job's tasks to be on as many nodes as it may
    /// have.
    pub(super) further: Cores,
}

impl NodeCandidate {
    /// What is preferred, if its CPU is idle for what goes there at least.
    fn counted_preference(&self) -> Option<Reverse<NodePreference>> {
        let preferred = self.preferred?;
        let counts = self.load_after + preferred.further <= self.capacity;
        counts.then_some(Reverse(preferred.preference))
    }

    /// Which is better for a job that is packed, `by_load` being which is better by load.
    fn cmp_packed(&self, other: &Self, by_load: Ordering) -> Ordering {
        let finds_idle = |candidate: &Self| candidate.load_after <= candidate.capacity;
        let left = |candidate: &Self| candidate.packed.map(|packed| packed.left);
        let by_memory = left(other).cmp(&left(self));
        match (finds_idle(self), finds_idle(other)) {
            (true, true) => by_memory.then(by_load.reverse()),
            (false, false) => by_load.then(by_memory),
            (own, others) => own.cmp(&others),
        }
    }
}

impl Ord for NodeCandidate {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        let by_load = if self.capacity == other.capacity {
            other.load_after.cmp(&self.load_after)
        } else {
            let own = u128::from(self.load_after.0) * u128::from(other.capacity.0.max(1));
            let others = u128::from(other.load_after.0) * u128::from(self.capacity.0.max(1));
            others.cmp(&own)
        };
        let better = if self.packed.is_some() {
            self.cmp_packed(other, by_load)
        } else {
            by_load
        };
        let by_idle_preference = self.counted_preference().cmp(&other.counted_preference());
        let by_devices = other.devices_left.cmp(&self.devices_left);
        let by_preference = by_idle_preference.then(by_devices);
        by_preference.then(better).then(other.node.cmp(&self.node))
    }
}

impl PartialOrd for NodeCandidate {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl NodeCandidate {
    /// So many tasks of the job on this node.
    #[inline]
    pub(super) fn run(&self, tasks: u32) -> Run {
        let node = self.node;
        Run { node, tasks }
    }

    /// The node with one more task of this job.
    #[inline]
    pub(super) fn after(mut self, job: &Job) -> Self {
        self.tasks += 1;
        self.load_after += job.cpu;
        if let Some(left) = &mut self.devices_left {
            *left = left.minus(job.rigid.iter().copied().sum());
        }
        if let Some(preferred) = &mut self.preferred {
            preferred.further = preferred.further.minus(job.cpu);
        }
        if let Some(packed) = &mut self.packed {
            packed.left = packed.left.minus(packed.each);
        }
        self
    }
}

/// The best of the candidates seen so far, so many of them at most.
pub(super) struct BestNodes {
    /// They and some others: less than twice as many, in any order.
    kept: Vec<NodeCandidate>,
    count: usize,
    /// Candidates that are not better than this are not among the best.
    bound: Option<NodeCandidate>,
}

impl BestNodes {
    /// The best `count`, which is above 0, of at most `all`.
    pub(super) fn of(count: usize, all: usize) -> Self {
        Self {
            kept: Vec::with_capacity(all.min(count.saturating_mul(2))),
            count,
            bound: None,
        }
    }

    /// Looks at one more candidate. O(1) on average.
    #[inline]
    pub(super) fn add(&mut self, candidate: NodeCandidate) {
        if self.bound.is_some_and(|bound| candidate < bound) {
            return;
        }
        self.kept.push(candidate);
        if self.kept.len() == self.count.saturating_mul(2) {
            self.forget();
        }
    }

    /// Leaves out what is not among the best.
    #[inline(never)]
    fn forget(&mut self) {
        if self.kept.len() > self.count {
            let last = self.count - 1;
            self.kept
                .select_nth_unstable_by(last, |one, other| other.cmp(one));
            self.kept.truncate(self.count);
            self.bound = Some(self.kept[last]);
        }
    }

    /// The best, in any order.
    pub(super) fn into_vec(mut self) -> Vec<NodeCandidate> {
        self.forget();
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A few nodes for one job, which is packed, requires devices, or prefers some of them.
    fn candidates() -> impl Strategy<Value = Vec<NodeCandidate>> {
        let node = (0u64..6, 0u64..4, 0u64..3, 0u64..3, any::<bool>(), 0u32..2);
        let nodes = proptest::collection::vec(node, 3..6);
        (nodes, any::<[bool; 3]>(), 0u64..3).prop_map(
            |(nodes, [packs, devices, prefers], further)| {
                let candidate =
                    |(node, (load, capacity, left, devices_left, is_passed_over, weight))| {
                        let preference = NodePreference {
                            is_passed_over,
                            weight,
                        };
                        NodeCandidate {
                            load_after: Cores(load),
                            capacity: Cores(capacity),
                            node: NodeIndex(node),
                            tasks: 0,
                            preferred: prefers.then_some(PreferredNode {
                                preference,
                                further: Cores(further),
                            }),
                            packed: packs.then_some(Packed {
                                left: Bytes(left),
                                each: Bytes(1),
                            }),
                            devices_left: devices.then_some(Amount(devices_left)),
                        }
                    };
                (0..).zip(nodes).map(candidate).collect()
            },
        )
    }

    proptest! {
        #[test]
        fn order_is_total_for_any_job(nodes in candidates()) {
            for one in &nodes {
                for other in &nodes {
                    prop_assert_eq!(one.cmp(other), other.cmp(one).reverse());
                    for third in &nodes {
                        prop_assert!(!(one < other && other < third) || one < third);
                    }
                }
            }
        }

        #[test]
        fn the_best_are_the_greatest(
            nodes in proptest::collection::vec((0u64..6, 1u64..4), 0..40),
            count in 1usize..12,
        ) {
            let mut best = BestNodes::of(count, nodes.len());
            let mut all = Vec::new();
            for (node, (load, capacity)) in (0..).map(NodeIndex).zip(nodes) {
                let candidate = NodeCandidate {
                    load_after: Cores(load),
                    capacity: Cores(capacity),
                    node,
                    tasks: 0,
                    preferred: None,
                    packed: None,
                    devices_left: None,
                };
                best.add(candidate);
                all.push(candidate);
            }
            let mut found = best.into_vec();
            found.sort_unstable();
            all.sort_unstable();
            prop_assert_eq!(found.as_slice(), &all[all.len().saturating_sub(count)..]);
        }
    }
}
