//! Sets of processors.

use std::ops::Range;

/// A set of processors as ranges that are in order and do not touch: a large machine has few of
/// them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessorSet(Vec<Range<u32>>);

impl ProcessorSet {
    /// The set of these, each named once or more.
    pub fn of(indexes: impl IntoIterator<Item = u32>) -> Self {
        let mut indexes: Vec<u32> = indexes.into_iter().collect();
        indexes.sort_unstable();
        indexes.dedup();
        let mut set = Self::default();
        for index in indexes {
            set.push(index..index + 1);
        }
        set
    }

    /// How many they are.
    pub fn count(&self) -> u32 {
        self.0.iter().map(|range| range.end - range.start).sum()
    }

    /// Each, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().cloned().flatten()
    }

    /// The ranges, in ascending order.
    pub fn ranges(&self) -> &[Range<u32>] {
        &self.0
    }

    /// Whether it is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a range that lies behind all others.
    fn push(&mut self, range: Range<u32>) {
        match self.0.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => self.0.push(range),
        }
    }
}

/// The processors that are not in use.
#[derive(Clone, Debug)]
pub struct Free(std::collections::BTreeMap<u32, u32>);

impl Free {
    /// All of a machine.
    pub fn all(processors: u32) -> Self {
        Self(std::iter::once((0, processors)).collect())
    }

    /// How many they are.
    pub fn count(&self) -> u32 {
        self.0.iter().map(|(start, end)| end - start).sum()
    }

    /// Takes those with the lowest indexes, as many as there are of so many.
    pub fn take(&mut self, mut count: u32) -> ProcessorSet {
        let mut taken = ProcessorSet::default();
        while count > 0
            && let Some((start, end)) = self.0.pop_first()
        {
            let stop = end.min(start + count);
            count -= stop - start;
            taken.push(start..stop);
            if stop < end {
                self.0.insert(stop, end);
            }
        }
        taken
    }

    /// Takes those of them that are free, and returns them.
    pub fn remove(&mut self, processors: &ProcessorSet) -> ProcessorSet {
        let mut taken = ProcessorSet::default();
        for range in processors.ranges() {
            let before = self.0.range(..range.end).rev();
            let mut overlapping: Vec<(u32, u32)> = before
                .map(|(start, end)| (*start, *end))
                .take_while(|(_, end)| *end > range.start)
                .collect();
            overlapping.reverse();
            for (start, end) in overlapping {
                self.0.remove(&start);
                if start < range.start {
                    self.0.insert(start, range.start);
                }
                if range.end < end {
                    self.0.insert(range.end, end);
                }
                taken.push(start.max(range.start)..end.min(range.end));
            }
        }
        taken
    }

    /// Gives back what was taken.
    pub fn give(&mut self, processors: &ProcessorSet) {
        for range in processors.ranges() {
            let (mut start, mut end) = (range.start, range.end);
            if let Some((before, stop)) = self.0.range(..start).next_back().map(|(a, b)| (*a, *b))
                && stop == start
            {
                self.0.remove(&before);
                start = before;
            }
            if let Some(stop) = self.0.remove(&end) {
                end = stop;
            }
            self.0.insert(start, end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_join_and_split() {
        let mut free = Free::all(10);
        let one = free.take(3);
        let two = free.take(4);
        assert_eq!(two, ProcessorSet::of(3..7));
        free.give(&one);
        let three = free.take(5);
        assert_eq!(three.ranges(), &[0..3, 7..9]);
        assert_eq!(three.iter().collect::<Vec<_>>(), [0, 1, 2, 7, 8]);
        assert_eq!(three.count(), 5);
        free.give(&two);
        free.give(&three);
        assert_eq!(free.take(10).ranges(), std::slice::from_ref(&(0..10)));
        assert!(free.take(1).is_empty());
    }

    #[test]
    fn remove_takes_only_processors_that_are_free() {
        let mut free = Free::all(10);
        assert_eq!(free.remove(&ProcessorSet::of([2, 3, 8, 3])).count(), 3);
        assert_eq!(
            free.remove(&ProcessorSet::of([3, 4])),
            ProcessorSet::of([4])
        );
        assert_eq!(free.take(9).ranges(), &[0..2, 5..8, 9..10]);
    }
}
