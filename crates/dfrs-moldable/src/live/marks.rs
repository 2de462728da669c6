//! Sets of processors whose intersections are computed again and again.

use crate::processors::ProcessorSet;

/// A set of processors, a bit each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Marks(Vec<u64>);

impl Marks {
    /// None, of a machine of so many.
    pub(super) fn none(processors: u32) -> Self {
        Self(vec![0; processors.div_ceil(64) as usize])
    }

    /// These; others than the machine has are left out.
    pub(super) fn of(set: &ProcessorSet, processors: u32) -> Self {
        let mut marks = Self::none(processors);
        for processor in set.iter().take_while(|processor| *processor < processors) {
            marks.0[processor as usize / 64] |= 1 << (processor % 64);
        }
        marks
    }

    pub(super) fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// How many of these are in the other set; of all if there is none.
    pub(super) fn count_within(&self, other: Option<&Self>) -> u32 {
        let Some(other) = other else {
            return self.count();
        };
        let words = self.0.iter().zip(&other.0);
        words.map(|(one, other)| (one & other).count_ones()).sum()
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.0
            .iter_mut()
            .zip(&other.0)
            .for_each(|(one, other)| *one |= other);
    }

    pub(super) fn remove(&mut self, other: &Self) {
        self.0
            .iter_mut()
            .zip(&other.0)
            .for_each(|(one, other)| *one &= !other);
    }

    /// The first `count` of these that are in the other set, if there is one.
    pub(super) fn first(&self, mut count: u32, within: Option<&Self>) -> Self {
        let mut chosen = Self(vec![0; self.0.len()]);
        for (place, word) in self.0.iter().enumerate() {
            let mut left = within.map_or(*word, |within| word & within.0[place]);
            while count > 0 && left != 0 {
                let lowest = left & left.wrapping_neg();
                chosen.0[place] |= lowest;
                left ^= lowest;
                count -= 1;
            }
        }
        chosen
    }

    pub(super) fn processors(&self) -> ProcessorSet {
        let words = (0_u32..).zip(&self.0);
        ProcessorSet::of(words.flat_map(|(place, word)| {
            let bits = (0..64).filter(move |bit| word >> bit & 1 == 1);
            bits.map(move |bit| place * 64 + bit)
        }))
    }
}
