//! The 0/1 knapsack by dynamic programming (Section 3.2).

use std::ops::Range;

/// Something that may be chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Item {
    /// At least 1.
    pub size: u32,
    /// 0 or more.
    pub value: f64,
}

/// Which items have the greatest value of all choices whose sizes are at most `capacity`. What
/// changes nothing is chosen. O(n m) time, n m bits.
pub(crate) fn choose(items: impl IntoIterator<Item = Item>, capacity: u32) -> Vec<bool> {
    let items: Vec<Item> = items.into_iter().collect();
    let all: u64 = items.iter().map(|item| u64::from(item.size)).sum();
    if all <= u64::from(capacity) {
        return vec![true; items.len()];
    }
    let candidates = candidates(&items, capacity);
    let width = capacity as usize + 1;
    let words = width.div_ceil(64);
    let mut best = vec![0.0; width];
    let mut next = best.clone();
    let mut chosen = vec![0u64; candidates.len() * words];
    for (row, place) in candidates.iter().enumerate() {
        let item = items[*place];
        let bits = &mut chosen[row * words..(row + 1) * words];
        step(&best, &mut next, bits, item);
        std::mem::swap(&mut best, &mut next);
    }
    let mut choice = vec![false; items.len()];
    let mut room = capacity as usize;
    for (row, place) in candidates.iter().enumerate().rev() {
        if chosen[row * words + room / 64] >> (room % 64) & 1 == 1 {
            choice[*place] = true;
            room -= items[*place].size as usize;
        }
    }
    choice
}

/// One row of W(i, j) = max(W(i-1, j), W(i-1, j - size) + value), and where the item is chosen.
fn step(best: &[f64], next: &mut [f64], chosen: &mut [u64], item: Item) {
    let size = item.size as usize;
    next[..size].copy_from_slice(&best[..size]);
    for (word, bits) in chosen.iter_mut().enumerate().skip(size / 64) {
        let Range { start, end } = (word * 64).max(size)..(word * 64 + 64).min(best.len());
        let (with, without) = (&best[start - size..end - size], &best[start..end]);
        let mut mask = 0;
        for (place, ((with, without), next)) in with
            .iter()
            .zip(without)
            .zip(&mut next[start..end])
            .enumerate()
        {
            let with = with + item.value;
            mask |= u64::from(with >= *without) << place;
            *next = with.max(*without);
        }
        *bits = mask << (start - word * 64);
    }
}

/// The items that some best choice is made of: of each size no more than fit, the most valuable.
fn candidates(items: &[Item], capacity: u32) -> Vec<usize> {
    let mut order: Vec<usize> = (0..items.len())
        .filter(|place| items[*place].size <= capacity)
        .collect();
    order.sort_by(|one, other| {
        let (one, other) = (items[*one], items[*other]);
        let by_size = one.size.cmp(&other.size);
        by_size.then_with(|| other.value.total_cmp(&one.value))
    });
    let mut kept = Vec::with_capacity(order.len());
    for same in order.chunk_by(|one, other| items[*one].size == items[*other].size) {
        let max = (capacity / items[same[0]].size) as usize;
        kept.extend_from_slice(&same[..max.min(same.len())]);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(items: &[Item], chosen: impl Fn(usize) -> bool) -> (u64, f64) {
        let chosen = items.iter().enumerate().filter(|(place, _)| chosen(*place));
        chosen.fold((0, 0.0), |(size, value), (_, item)| {
            (size + u64::from(item.size), value + item.value)
        })
    }

    proptest! {
        #[test]
        fn chosen_items_have_the_greatest_value_that_fits(
            items in prop::collection::vec((1..90u32, 0..20u8), 0..9), capacity in 0..150u32,
        ) {
            let items: Vec<Item> = items.into_iter()
                .map(|(size, value)| Item { size, value: f64::from(value) })
                .collect();
            let choice = choose(items.iter().copied(), capacity);
            let (size, found) = value(&items, |place| choice[place]);
            prop_assert!(size <= u64::from(capacity));
            for mask in 0..1u32 << items.len() {
                let (size, other) = value(&items, |place| mask >> place & 1 == 1);
                prop_assert!(size > u64::from(capacity) || other <= found);
            }
        }
    }
}
