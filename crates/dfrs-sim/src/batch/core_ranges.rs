//! Cores of one node, as ranges of its CPU.

use std::ops::Range;

use crate::trace::NODE_CPU;

/// Disjoint ranges of a node's CPU, ascending, in microcores.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CoreRanges(Vec<Range<u64>>);

impl CoreRanges {
    /// All of a node.
    pub fn all() -> Self {
        Self(std::iter::once(0..NODE_CPU.0).collect())
    }

    pub fn ranges(&self) -> &[Range<u64>] {
        &self.0
    }

    /// How much CPU that is, in microcores.
    pub fn amount(&self) -> u64 {
        self.0.iter().map(|range| range.end - range.start).sum()
    }

    pub fn overlaps(&self, other: &Self) -> bool {
        self.0.iter().any(|own| {
            let mut others = other.0.iter();
            others.any(|range| range.start < own.end && own.start < range.end)
        })
    }

    /// What is not in the other. O(ranges × ranges).
    pub fn without(&self, other: &Self) -> Self {
        let mut left = Vec::new();
        for own in &self.0 {
            let mut from = own.start;
            for taken in other.0.iter().filter(|taken| taken.end > own.start) {
                if taken.start >= own.end {
                    break;
                }
                if taken.start > from {
                    left.push(from..taken.start);
                }
                from = from.max(taken.end);
            }
            if from < own.end {
                left.push(from..own.end);
            }
        }
        Self(left)
    }

    /// What is in both.
    pub fn common(&self, other: &Self) -> Self {
        self.without(&self.without(other))
    }

    /// Adds what is in the other.
    pub fn add(&mut self, other: &Self) {
        self.0.extend(other.0.iter().cloned());
        self.0.sort_unstable_by_key(|range| range.start);
        let mut joined: Vec<Range<u64>> = Vec::with_capacity(self.0.len());
        for range in self.0.drain(..) {
            match joined.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => joined.push(range),
            }
        }
        self.0 = joined;
    }

    /// Takes the first so many microcores, or all if there are fewer.
    pub fn take_first(&mut self, amount: u64) -> Self {
        let mut missing = amount;
        let mut taken = Vec::new();
        for range in &mut self.0 {
            let part = missing.min(range.end - range.start);
            if part > 0 {
                taken.push(range.start..range.start + part);
            }
            range.start += part;
            missing -= part;
        }
        self.0.retain(|range| range.start < range.end);
        Self(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(all: &[(u64, u64)]) -> CoreRanges {
        CoreRanges(all.iter().map(|(from, to)| *from..*to).collect())
    }

    #[test]
    fn ranges_are_taken_from_the_first_on() {
        let mut free = ranges(&[(0, 10), (20, 30)]);
        assert_eq!(free.take_first(15), ranges(&[(0, 10), (20, 25)]));
        assert_eq!(free, ranges(&[(25, 30)]));
        assert_eq!(free.take_first(15).amount(), 5);
        assert_eq!(free, CoreRanges::default());
    }

    #[test]
    fn ranges_are_subtracted_added_and_compared() {
        let both = ranges(&[(0, 10), (20, 30)]);
        let other = ranges(&[(5, 22), (29, 40)]);
        assert_eq!(both.without(&other), ranges(&[(0, 5), (22, 29)]));
        assert_eq!(both.common(&other), ranges(&[(5, 10), (20, 22), (29, 30)]));
        assert!(both.overlaps(&other) && !both.overlaps(&ranges(&[(10, 20), (30, 31)])));
        let mut sum = ranges(&[(10, 20)]);
        sum.add(&both);
        assert_eq!(sum, ranges(&[(0, 30)]));
        assert_eq!(CoreRanges::all().without(&sum).amount(), NODE_CPU.0 - 30);
    }
}
