//! Tasks that change nodes.

use std::collections::BTreeMap;

use dfrs_core::NodeIndex;

/// How many tasks are on nodes on which they were not.
pub fn arriving(old: &[NodeIndex], new: &[NodeIndex]) -> u64 {
    let mut left: BTreeMap<NodeIndex, u64> = BTreeMap::new();
    for node in old {
        *left.entry(*node).or_default() += 1;
    }
    let mut count = 0;
    for node in new {
        match left.get_mut(node) {
            Some(tasks) if *tasks > 0 => *tasks -= 1,
            _ => count += 1,
        }
    }
    count
}
