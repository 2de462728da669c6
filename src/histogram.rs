//! Lengths of time, counted in buckets: eight for each power of two, so that what is read from them is at most
//! an eighth too large (the log-linear buckets of HdrHistogram).

use std::time::Duration;

use dfrs_proto::status::{Distribution, DistributionSummary};

/// Buckets: up to 2^36 us, which is nineteen hours; the last: and more.
const BUCKETS: usize = 272;
/// Of each power of two: 2 to the power of this.
const PRECISION: u32 = 3;

/// How many took how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    buckets: [u64; BUCKETS],
    /// The longest, in microseconds.
    longest_us: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            buckets: [0; BUCKETS],
            longest_us: 0,
        }
    }
}

impl Histogram {
    /// Counts one more.
    pub fn add(&mut self, length: Duration) {
        let microseconds = u64::try_from(length.as_micros()).unwrap_or(u64::MAX);
        self.buckets[bucket(microseconds)] += 1;
        self.longest_us = self.longest_us.max(microseconds);
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// The longest, in microseconds.
    pub fn longest_us(&self) -> u64 {
        self.longest_us
    }

    /// What so many of a hundred took at most, in microseconds: the upper end of a bucket, or the longest. 0 if
    /// there are none.
    pub fn percentile(&self, percent: u64) -> u64 {
        self.since(&Self::default()).percentile(percent)
    }

    /// All of them, and those that were counted since `before`.
    pub fn spread(&self, before: &Self) -> Distribution {
        let filled = (0..BUCKETS).filter(|&index| self.buckets[index] > 0);
        Distribution {
            count: self.count(),
            max: self.longest_us,
            lately: self.since(before).summary(),
            buckets: filled
                .map(|index| (upper_end(index), self.buckets[index]))
                .collect(),
        }
    }

    fn since<'a>(&'a self, before: &'a Self) -> Since<'a> {
        Since { before, now: self }
    }
}

/// What was counted between two states of a histogram.
struct Since<'a> {
    before: &'a Histogram,
    now: &'a Histogram,
}

impl Since<'_> {
    fn counts(&self) -> impl Iterator<Item = u64> {
        let pairs = self.now.buckets.iter().zip(&self.before.buckets);
        pairs.map(|(now, before)| now.saturating_sub(*before))
    }

    fn percentile(&self, percent: u64) -> u64 {
        let all: u64 = self.counts().sum();
        let rank = (all * percent).div_ceil(100);
        let mut passed = 0;
        let found = self.counts().position(|count| {
            passed += count;
            passed >= rank && rank > 0
        });
        found.map_or(0, |index| upper_end(index).min(self.now.longest_us))
    }

    fn summary(&self) -> DistributionSummary {
        DistributionSummary {
            count: self.counts().sum(),
            p50: self.percentile(50),
            p99: self.percentile(99),
            max: self.percentile(100),
        }
    }
}

fn bucket(microseconds: u64) -> usize {
    let bits = u64::BITS - microseconds.leading_zeros();
    let shift = bits.saturating_sub(PRECISION + 1);
    let index = (u64::from(shift) << PRECISION) + (microseconds >> shift);
    usize::try_from(index).map_or(BUCKETS - 1, |index| index.min(BUCKETS - 1))
}

/// The longest that belongs there; of the last one, all that is longer does, too.
fn upper_end(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    let shift = (bucket >> PRECISION).saturating_sub(1);
    ((bucket - (shift << PRECISION) + 1) << shift) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(lengths: &[u64]) -> Histogram {
        let mut histogram = Histogram::default();
        for length in lengths {
            histogram.add(Duration::from_micros(*length));
        }
        histogram
    }

    #[test]
    fn bucket_end_exceeds_a_length_by_no_more_than_an_eighth() {
        for power in 0..36_u32 {
            for length in [
                1_u64 << power,
                (1 << power) + 1,
                (1 << power) * 3 / 2,
                (2 << power) - 1,
            ] {
                let index = bucket(length);
                assert!(length <= upper_end(index), "{length}");
                assert!(upper_end(index) - length <= length / 8, "{length}");
                assert!(index == 0 || upper_end(index - 1) < length, "{length}");
            }
        }
        assert_eq!(bucket(0), 0);
        assert_eq!(upper_end(0), 0);
        assert_eq!(upper_end(BUCKETS - 1), (1 << 36) - 1);
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn percentile_is_a_value_that_so_many_do_not_exceed() {
        let lengths: Vec<u64> = [vec![100; 99], vec![10_000]].concat();
        let histogram = histogram(&lengths);
        assert_eq!(histogram.percentile(50), 103);
        assert_eq!(histogram.percentile(99), 103);
        assert_eq!(histogram.percentile(100), 10_000);
        assert_eq!(Histogram::default().percentile(99), 0);
    }

    #[test]
    fn counts_from_before_are_not_recent() {
        let before = histogram(&[5_000]);
        let mut now = before.clone();
        now.add(Duration::from_micros(7));
        let spread = now.spread(&before);
        assert_eq!((spread.count, spread.max), (2, 5_000));
        let lately = DistributionSummary {
            count: 1,
            p50: 7,
            p99: 7,
            max: 7,
        };
        assert_eq!(spread.lately, lately);
        assert_eq!(spread.buckets, [(7, 1), (5_119, 1)]);
    }
}
