//! Numbers that follow from a seed.

use dfrs_agent::fixtures::mix;

/// Draws numbers: the same seed always gives the same ones.
#[derive(Clone, Debug)]
pub struct Draw(u64);

impl Draw {
    /// From this seed.
    pub fn new(seed: u64) -> Self {
        Self(mix(seed))
    }

    /// From 0 to less than `count`; 0 if that is nothing.
    pub fn below(&mut self, count: u64) -> u64 {
        self.0 = mix(self.0);
        (self.0 >> 11) % count.max(1)
    }

    /// True so often.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// From 0 to less than `count`; 0 if that is nothing.
    pub fn small(&mut self, count: u32) -> u32 {
        u32::try_from(self.below(u64::from(count))).unwrap_or(0)
    }

    /// From `min` to `max`, which is not smaller.
    pub fn between(&mut self, min: i64, max: i64) -> i64 {
        let range = u64::try_from(max - min + 1).unwrap_or(1);
        min + i64::try_from(self.below(range)).unwrap_or(0)
    }

    /// One of these, of which there is at least one.
    pub fn one_of<T: Clone>(&mut self, from: &[T]) -> T {
        let index = self.below(from.len() as u64);
        from[usize::try_from(index).unwrap_or(0)].clone()
    }
}
