//! One of MCB8's two lists, at one yield and for one shape of nodes.

/// Up to this many entries a plain scan is faster than the tree.
const SHORT: usize = 24;

/// An entry's two requirements; the list descends by the sorted one.
#[derive(Clone, Copy, Debug)]
pub(super) struct PackingEntry {
    pub(super) sorted: u64,
    pub(super) other: u64,
    pub(super) group: usize,
}

/// Entries in order, with a tree of the smallest `other` of each stretch of them.
#[derive(Debug, Default)]
pub(super) struct List {
    entries: Vec<PackingEntry>,
    /// A complete binary tree; the leaves from `leaves` on belong to the entries.
    tree: Vec<u64>,
    leaves: usize,
}

impl List {
    /// A list of these entries, which descend by `sorted`. O(entries).
    pub(super) fn refill(&mut self, entries: impl Iterator<Item = PackingEntry>) {
        self.entries.clear();
        self.entries.extend(entries);
        self.tree.clear();
        if self.entries.len() <= SHORT {
            return;
        }
        self.leaves = self.entries.len().next_power_of_two();
        self.tree.resize(2 * self.leaves, u64::MAX);
        for (leaf, entry) in self.tree[self.leaves..].iter_mut().zip(&self.entries) {
            *leaf = entry.other;
        }
        for at in (1..self.leaves).rev() {
            self.tree[at] = self.tree[2 * at].min(self.tree[2 * at + 1]);
        }
    }

    pub(super) fn get(&self, place: usize) -> PackingEntry {
        self.entries[place]
    }

    /// The first entry from `from` on that requires at most this much. O(log entries).
    pub(super) fn first(&self, from: usize, sorted: u64, other: u64) -> Option<usize> {
        let rest = self.entries.get(from..)?;
        if self.tree.is_empty() {
            return rest
                .iter()
                .position(|entry| entry.sorted <= sorted && entry.other <= other)
                .map(|at| from + at);
        }
        let skipped = match rest.first() {
            Some(entry) if entry.sorted <= sorted => 0,
            _ => rest.partition_point(|entry| entry.sorted > sorted),
        };
        self.first_in_tree(from + skipped, other)
    }

    /// The first leaf from `from` on that is at most `other`.
    fn first_in_tree(&self, from: usize, other: u64) -> Option<usize> {
        if from >= self.entries.len() {
            return None;
        }
        let mut at = from + self.leaves;
        while self.tree[at] > other {
            // On to the stretch that follows this one, as large as possible.
            while at & 1 == 1 {
                at >>= 1;
            }
            if at == 0 {
                return None;
            }
            at += 1;
        }
        while at < self.leaves {
            at *= 2;
            if self.tree[at] > other {
                at += 1;
            }
        }
        Some(at - self.leaves)
    }

    /// Takes an entry out of the search: it is never found again.
    pub(super) fn remove(&mut self, place: usize) {
        self.entries[place].other = u64::MAX;
        if self.tree.is_empty() {
            return;
        }
        let mut at = place + self.leaves;
        self.tree[at] = u64::MAX;
        while at > 1 {
            at >>= 1;
            self.tree[at] = self.tree[2 * at].min(self.tree[2 * at + 1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_place_to_start_from_is_searched() {
        // Long enough for the tree, with its leaves full and not, and few enough keys for all
        // queries.
        for entries in [25, 31, 32, 33] {
            let keys: Vec<(u64, u64)> = (0..entries).map(|at| (7 - at / 5, (at * 5) % 7)).collect();
            let mut list = List::default();
            list.refill(keys.iter().zip(0..).map(|(key, group)| PackingEntry {
                sorted: key.0,
                other: key.1,
                group,
            }));
            for from in 0..keys.len() + 2 {
                for sorted in 0..9 {
                    for other in 0..8 {
                        let expected = (from..keys.len())
                            .find(|at| keys[*at].0 <= sorted && keys[*at].1 <= other);
                        assert_eq!(list.first(from, sorted, other), expected);
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn the_first_entry_that_fits_is_found(
            mut keys in proptest::collection::vec((0u64..20, 0u64..20), 0..100),
            queries in proptest::collection::vec((0usize..110, 0u64..20, 0u64..20, 0usize..100), 1..40),
        ) {
            keys.sort_unstable_by_key(|key| std::cmp::Reverse(*key));
            let mut list = List::default();
            list.refill(keys.iter().enumerate().map(|(group, key)| PackingEntry { sorted: key.0, other: key.1, group }));
            let mut gone = vec![false; keys.len()];
            for (from, sorted, other, remove) in queries {
                let expected = (from..keys.len()).find(|at| !gone[*at] && keys[*at].0 <= sorted && keys[*at].1 <= other);
                prop_assert_eq!(list.first(from, sorted, other), expected);
                if remove < keys.len() {
                    list.remove(remove);
                    gone[remove] = true;
                }
            }
        }
    }
}
