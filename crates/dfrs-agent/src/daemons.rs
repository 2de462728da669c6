//! The port to the node daemons.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dfrs_core::Need;
use dfrs_proto::message::NodeState;

/// What the nodes said, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeFacts {
    /// Jobs that are frozen, with their memory in swap, on all the nodes asked about.
    pub parked: BTreeSet<u32>,
    /// Nodes with swap.
    pub can_park: BTreeSet<String>,
    /// What jobs need that live on less than they asked for, on the worst of their nodes. Of those whose
    /// orders ask for it, while they are where they were asked about and their nodes answer.
    pub needs: BTreeMap<u32, Need>,
    /// Nodes whose daemon does not answer.
    pub silent: BTreeSet<String>,
}

/// What changed in what nodes shall enforce.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OrderChanges {
    /// The whole new orders of each node whose orders changed, or that had none.
    pub changed: BTreeMap<String, NodeState>,
    /// Nodes that get no orders any more: they are down, or none of DFRS's.
    pub gone: BTreeSet<String>,
}

impl OrderChanges {
    /// What makes `after` of `before`. O(nodes + jobs).
    #[must_use]
    pub fn between(
        before: &BTreeMap<String, NodeState>,
        after: &BTreeMap<String, NodeState>,
    ) -> Self {
        let changed = after
            .iter()
            .filter(|(name, orders)| before.get(*name) != Some(orders));
        let gone = before.keys().filter(|name| !after.contains_key(*name));
        Self {
            changed: changed
                .map(|(name, orders)| (name.clone(), orders.clone()))
                .collect(),
            gone: gone.cloned().collect(),
        }
    }

    /// Makes `orders` what they are after these changes. O(changes log nodes).
    pub fn apply_to(self, orders: &mut BTreeMap<String, NodeState>) {
        for name in &self.gone {
            orders.remove(name);
        }
        orders.extend(self.changed);
    }
}

/// The node daemons as the agent sees them. No call waits for a node.
pub trait Daemons {
    /// Changes what nodes shall enforce, and sets which jobs are being parked where. Costs what
    /// changed.
    fn set(&mut self, changes: OrderChanges, parking: BTreeMap<u32, Vec<String>>);
    /// What is known of the nodes now; the same `Arc` as long as that does not change.
    fn facts(&self) -> Arc<NodeFacts>;
    /// Whether the node has said that it got its newest orders; one that gets none has nothing to say.
    fn has_heard(&self, node: &str) -> bool;
    /// Sends what is still to be sent to nodes that answer, and ends, in a few seconds at most.
    fn stop(&mut self);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orders(nodes: &[(&str, u32)]) -> BTreeMap<String, NodeState> {
        let state = |cpus| NodeState {
            cpus,
            jobs: Vec::new(),
        };
        let named = nodes
            .iter()
            .map(|(name, cpus)| ((*name).to_owned(), state(*cpus)));
        named.collect()
    }

    #[test]
    fn changes_are_what_is_new_other_or_gone_and_lead_from_one_to_the_other() {
        let before = orders(&[("n1", 4), ("n2", 4), ("n3", 4)]);
        let after = orders(&[("n1", 4), ("n2", 8), ("n4", 4)]);
        let changes = OrderChanges::between(&before, &after);
        assert_eq!(changes.changed, orders(&[("n2", 8), ("n4", 4)]));
        assert_eq!(changes.gone, BTreeSet::from(["n3".to_owned()]));
        let mut now = before;
        changes.apply_to(&mut now);
        assert_eq!(now, after);
    }
}
