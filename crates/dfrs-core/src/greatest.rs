//! Sorting no more than is looked at.

/// How many items [`Greatest`] takes out first.
const FIRST: usize = 16;

/// Items in descending order, found piece by piece: of many waiting jobs most often but the first
/// few are looked at. All pieces together are O(items log items), a few of them O(items).
#[derive(Debug)]
pub(crate) struct Greatest<T> {
    /// What no piece has had yet, in any order.
    pub(crate) rest: Vec<T>,
    next: usize,
}

impl<T: Ord> Greatest<T> {
    /// O(1).
    pub(crate) fn of(items: Vec<T>) -> Self {
        Self {
            rest: items,
            next: FIRST,
        }
    }

    /// Sets that each piece has so many items or more.
    pub(crate) fn in_pieces_of(self, count: usize) -> Self {
        Self {
            next: count.max(FIRST),
            ..self
        }
    }

    /// The greatest of what is left, in descending order: several, and more with every call; none
    /// if nothing is left.
    pub(crate) fn next_piece(&mut self) -> Vec<T> {
        let smaller = self.rest.len().saturating_sub(self.next);
        self.next = self.next.saturating_mul(4);
        if smaller > 0 {
            self.rest.select_nth_unstable(smaller);
        }
        let mut piece = self.rest.split_off(smaller);
        piece.sort_unstable_by(|one, other| other.cmp(one));
        piece
    }

    /// All items, one after the other.
    pub(crate) fn each(mut self) -> impl Iterator<Item = T> {
        let pieces = move || Some(self.next_piece()).filter(|piece| !piece.is_empty());
        std::iter::from_fn(pieces).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_are_the_sorted_items(mut items in proptest::collection::vec(0u32..200, 0..300)) {
            let found: Vec<u32> = Greatest::of(items.clone()).each().collect();
            items.sort_unstable_by(|one, other| other.cmp(one));
            prop_assert_eq!(found, items);
        }
    }
}
