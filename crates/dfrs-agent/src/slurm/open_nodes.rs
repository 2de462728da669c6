//! The nodes that are left to jobs by whose jobs are there, and to jobs that get whole nodes by the
//! size of these: thousands of jobs share a few sets, and nodes are looked at once for each.

use std::cell::RefCell;
use std::collections::BTreeMap;

use dfrs_core::NodeSet;

use crate::slurm::exclusivity::ExclusivityKey;

/// Sets that are remembered at most: users who have nodes for themselves need one each, all others
/// a few.
const MAX_CACHED_SETS: usize = 4096;

/// All that decides which nodes are left to a job.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct OpenNodesKey {
    /// `None`: whose jobs are where does not matter.
    pub(crate) exclusivity: Option<ExclusivityKey>,
    /// MiB of the nodes that it gets whole, if that matters.
    pub(crate) whole_node_mib: Option<u64>,
    /// The nodes that it may use; `None`: all.
    pub(crate) stated: Option<NodeSet>,
}

/// What these terms leave. It only saves work and memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenNodes(RefCell<BTreeMap<OpenNodesKey, NodeSet>>);

impl OpenNodes {
    /// What these terms leave: found by `find` where it is not known. O(log sets), and O(sets)
    /// beside that. `is_current`: whether whose jobs are where still is as it was for such terms.
    pub(crate) fn get(
        &self,
        terms: OpenNodesKey,
        is_current: impl Fn(ExclusivityKey) -> bool,
        find: impl FnOnce(&OpenNodesKey) -> NodeSet,
    ) -> NodeSet {
        let mut known = self.0.borrow_mut();
        if let Some(nodes) = known.get(&terms) {
            return nodes.clone();
        }
        known.retain(|terms, _| terms.exclusivity.is_none_or(&is_current));
        if known.len() >= MAX_CACHED_SETS {
            known.clear();
        }
        let nodes = find(&terms);
        known.insert(terms, nodes.clone());
        nodes
    }

    /// Other nodes are there, or have another size.
    pub(crate) fn clear(&mut self) {
        self.0.get_mut().clear();
    }

    /// How many sets are known.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.borrow().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{job, mix, nodes};
    use crate::slurm::observation::Observation;
    use crate::slurm::records::{ObservedJob, ObservedPlace};
    use dfrs_core::NodeIndex;

    fn of_size(whole: u64) -> OpenNodesKey {
        OpenNodesKey {
            exclusivity: None,
            whole_node_mib: Some(whole),
            stated: None,
        }
    }

    fn none(_: &OpenNodesKey) -> NodeSet {
        NodeSet::default()
    }

    #[test]
    fn jobs_with_the_same_key_share_one_cached_set() {
        let mut open = OpenNodes::default();
        let two = |_: &OpenNodesKey| [3, 5].map(NodeIndex).into_iter().collect();
        let first = open.get(of_size(100), |_| true, two);
        let second = open.get(of_size(100), |_| true, none);
        assert!(first.is_shared_with(&second));
        assert_eq!(*open.get(of_size(200), |_| true, none), []);
        open.clear();
        assert_eq!(*open.get(of_size(100), |_| true, none), []);
    }

    fn of(id: u32, user: u32, refuses_others: bool) -> ObservedJob {
        ObservedJob { user, ..job(id, 1) }
            .requesting(|request| request.exclusive_user = refuses_others)
    }

    fn on(node: u32, of: ObservedJob) -> ObservedJob {
        let place = ObservedPlace {
            node,
            tasks: 1,
            memory_mib: 100,
        };
        ObservedJob {
            places: vec![place],
            ..of
        }
    }

    /// What is left to each of many jobs of as many users that wait, each set once.
    fn open_to_other_users(seen: &Observation, refuse_others: bool) -> Vec<NodeSet> {
        let jobs = (1000..1100).map(|id| of(id, id, refuse_others));
        let sets = jobs.map(|job| seen.open_nodes(&job, None, None));
        let mut sets: Vec<NodeSet> = sets.flatten().collect();
        sets.dedup_by(|next, kept| next.is_shared_with(kept));
        sets
    }

    fn numbers(nodes: &NodeSet) -> Vec<u32> {
        nodes.iter().map(|node| node.0).collect()
    }

    #[test]
    fn other_users_share_one_open_set_until_exclusivity_changes() {
        let mut seen = Observation::new([], nodes(4));
        assert_eq!(open_to_other_users(&seen, false), []);
        seen.insert(on(2, of(1, 7, true)));
        let left = open_to_other_users(&seen, false);
        assert_eq!((left.len(), numbers(&left[0])), (1, vec![0, 1, 3]));
        let own = seen.open_nodes(&of(2, 7, false), None, None);
        assert_eq!(own.as_ref().map(numbers), Some(vec![0, 1, 2, 3]));
        // A job that refuses no user affects only those that refuse its own user.
        let alone = open_to_other_users(&seen, true);
        seen.insert(on(0, of(3, 8, false)));
        assert!(open_to_other_users(&seen, false)[0].is_shared_with(&left[0]));
        assert_eq!(numbers(&alone[0]), [0, 1, 3]);
        assert_eq!(numbers(&open_to_other_users(&seen, true)[0]), [1, 3]);
        seen.insert(on(3, of(4, 7, true)));
        assert_eq!(numbers(&open_to_other_users(&seen, false)[0]), [0, 1]);
        seen.remove(1);
        let left = open_to_other_users(&seen, false);
        assert_eq!((left.len(), numbers(&left[0])), (1, vec![0, 1, 2]));
    }

    #[test]
    fn open_nodes_follow_changes_of_node_sizes() {
        let mut all = nodes(3);
        all[0].memory = 2000;
        let mut seen = Observation::new([], all.clone());
        let mut left = |change: &dyn Fn(&mut Observation)| {
            change(&mut seen);
            let left = seen.open_nodes(&of(1, 1, false), None, Some(1000));
            left.as_ref().map(numbers)
        };
        assert_eq!(left(&|_| ()), Some(vec![1, 2]));
        all[1].memory = 3000;
        assert_eq!(
            left(&|seen| seen.update_nodes([all[1].clone()])),
            Some(vec![2])
        );
        all[0].memory = 1000;
        assert_eq!(left(&|seen| seen.set_nodes(all.clone())), Some(vec![0, 2]));
        all.remove(1);
        assert_eq!(left(&|seen| seen.set_nodes(all.clone())), Some(vec![0, 1]));
    }

    /// Whether some job on this node keeps this one off it, by all of them.
    fn is_kept_off(job: &ObservedJob, node: u32, seen: &Observation) -> bool {
        let mut there = seen.placed().filter(|other| other.places[0].node == node);
        there.any(|other| {
            let refused = job.request.exclusive_user || other.request.exclusive_user;
            other.request.mcs_label != job.request.mcs_label || (other.user != job.user && refused)
        })
    }

    #[test]
    fn open_nodes_match_exclusivity_rules_after_random_changes() {
        let kind = |id: u32, kind: u64| {
            ObservedJob {
                user: u32::from(kind & 1 > 0) + u32::from(kind & 2 > 0),
                ..job(id, 1)
            }
            .requesting(|request| {
                request.mcs_label = u32::from(kind & 12 == 12);
                request.exclusive_user = kind & 48 == 48;
            })
        };
        let mut seen = Observation::new([], nodes(4));
        for step in 0..500 {
            let drawn = mix(step);
            let id = u32::try_from(drawn % 6).expect("small");
            if seen.remove(id).is_none() {
                let node = u32::try_from((drawn >> 16) % 4).expect("small");
                seen.insert(on(node, kind(id, drawn >> 32)));
            }
            for job in (0..64).map(|number| kind(100, number)) {
                let left = seen.open_nodes(&job, None, None);
                let left = left.as_ref().map_or_else(|| vec![0, 1, 2, 3], numbers);
                let free = (0..4).filter(|node| !is_kept_off(&job, *node, &seen));
                assert_eq!(left, free.collect::<Vec<u32>>(), "step {step}");
            }
        }
    }

    #[test]
    fn cached_sets_are_bounded() {
        let open = OpenNodes::default();
        for size in 0..MAX_CACHED_SETS as u64 + 1 {
            open.get(of_size(size), |_| true, none);
        }
        assert_eq!(open.len(), 1);
    }
}
