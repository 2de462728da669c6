//! The port to the node daemons.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dfrs_core::Need;
pub use dfrs_proto::message::EIGHTHS;
use dfrs_proto::message::NodeOrder;

/// Nodes on which jobs may be parked: how many eighths of `SwapPerNode` parked jobs can have there,
/// 0 to 8.
pub type SwapEighths = BTreeMap<String, u8>;

/// What the nodes said, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeFacts {
    /// Jobs that are frozen, with their memory in swap, on all the nodes that were queried.
    pub parked: BTreeSet<u32>,
    /// Jobs that are being parked and cannot be, by the word of one of their nodes.
    pub stuck: BTreeSet<u32>,
    /// Jobs that were parked and no longer are, each with a node on which it is not. It is not
    /// being parked, and its nodes have orders to keep it parked.
    pub not_parked: BTreeMap<u32, String>,
    /// Nodes with swap.
    pub can_park: BTreeSet<String>,
    /// The nodes of `can_park` that have less swap than is counted: how many eighths of that parked
    /// jobs can have, 0 to 7. All other nodes of `can_park` have it.
    pub swap: SwapEighths,
    /// The needs of jobs that need less than they requested, on the worst of their nodes. Only of
    /// jobs whose orders query it, while they are where they were queried and their nodes answer.
    pub needs: BTreeMap<u32, Need>,
    /// Jobs whose node said whether they can be carried, and what. Only of jobs whose orders have
    /// them inspected, where they are.
    pub carriable: BTreeMap<u32, bool>,
    /// Nodes whose daemon does not answer.
    pub silent: BTreeSet<String>,
}

impl NodeFacts {
    /// How many eighths of the swap that is counted on this node parked jobs can have, 0 to 8;
    /// `None`: no job can be parked there.
    pub fn swap_eighths(&self, node: &str) -> Option<u8> {
        let all = self.can_park.contains(node).then_some(EIGHTHS);
        all.map(|all| self.swap.get(node).copied().unwrap_or(all))
    }

    /// The node says that it has so many.
    pub fn set_swap_eighths(&mut self, node: &str, eighths: Option<u8>) {
        self.can_park.remove(node);
        self.swap.remove(node);
        let Some(eighths) = eighths else { return };
        self.can_park.insert(node.to_owned());
        if eighths < EIGHTHS {
            self.swap.insert(node.to_owned(), eighths);
        }
    }
}

/// What changed in what nodes shall enforce.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OrderChanges {
    /// The whole new orders of each node whose orders changed, or that had none.
    pub changed: BTreeMap<String, NodeOrder>,
    /// Nodes that get no orders any more: they are down, or none of DFRS's.
    pub gone: BTreeSet<String>,
}

impl OrderChanges {
    /// What makes `after` of `before`. O(nodes + jobs).
    pub fn between(
        before: &BTreeMap<String, NodeOrder>,
        after: &BTreeMap<String, NodeOrder>,
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
    pub fn apply_to(self, orders: &mut BTreeMap<String, NodeOrder>) {
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
    /// Whether the node has acknowledged its newest orders; a node that gets none has none to
    /// acknowledge.
    fn has_acknowledged(&self, node: &str) -> bool;
    /// Sends what is still to be sent to nodes that answer, and ends, in a few seconds at most.
    fn stop(&mut self);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orders(nodes: &[(&str, u32)]) -> BTreeMap<String, NodeOrder> {
        let state = |cpus| NodeOrder {
            cpus,
            ..NodeOrder::default()
        };
        let named = nodes
            .iter()
            .map(|(name, cpus)| ((*name).to_owned(), state(*cpus)));
        named.collect()
    }

    #[test]
    fn node_has_all_swap_eighths_unless_it_reported_less() {
        let mut facts = NodeFacts::default();
        assert_eq!(facts.swap_eighths("n1"), None);
        for eighths in [Some(8), Some(3), Some(0), Some(8), None] {
            facts.set_swap_eighths("n1", eighths);
            assert_eq!(facts.swap_eighths("n1"), eighths);
        }
        assert_eq!(facts, NodeFacts::default());
    }

    #[test]
    fn order_changes_lead_from_the_old_orders_to_the_new() {
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
