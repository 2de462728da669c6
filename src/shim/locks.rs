//! For how long the shim has held slurmctld's locks, and waited for them.

use std::fmt;

use super::bindings::{dfrs_lock_counts_t, dfrs_lock_statistics_t};

/// Times in microseconds since the plugin was loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockCounts {
    /// How often the locks were taken.
    pub count: u64,
    /// Sum of all holds.
    pub held: u64,
    /// Sum of all waits.
    pub waited: u64,
    /// Longest hold.
    pub longest: u64,
    /// Longest hold since these counts were last asked for.
    pub longest_lately: u64,
    /// Longest wait.
    pub longest_wait: u64,
    /// How many holds took `2^(i-1)` up to below `2^i`; the last: and more.
    pub holds: Vec<u64>,
    /// As `holds`, for waits.
    pub waits: Vec<u64>,
}

/// Both sets of locks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockStatistics {
    /// For looking.
    pub reads: LockCounts,
    /// For changing something.
    pub writes: LockCounts,
}

impl LockCounts {
    /// What 99 of 100 holds took at most: the upper end of their bucket, or the longest one.
    #[must_use]
    pub fn hold_p99(&self) -> u64 {
        p99(&self.holds).min(self.longest)
    }

    /// What 99 of 100 waits took at most, as [`Self::hold_p99`].
    #[must_use]
    pub fn wait_p99(&self) -> u64 {
        p99(&self.waits).min(self.longest_wait)
    }
}

impl fmt::Display for LockCounts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "taken {} times; held {} us at p99, {} us at most; waited for {} us at p99, {} us at most",
            self.count,
            self.hold_p99(),
            self.longest,
            self.wait_p99(),
            self.longest_wait,
        )
    }
}

/// Upper end of the bucket with the 99th of 100.
fn p99(buckets: &[u64]) -> u64 {
    let all: u64 = buckets.iter().sum();
    let rank = all - all / 100;
    let mut passed = 0;
    let bucket = buckets.iter().position(|&count| {
        passed += count;
        passed >= rank
    });
    match bucket {
        Some(bucket) if bucket + 1 < buckets.len() => 1 << bucket,
        _ => u64::MAX,
    }
}

impl From<&dfrs_lock_counts_t> for LockCounts {
    fn from(raw: &dfrs_lock_counts_t) -> Self {
        Self {
            count: raw.count,
            held: raw.held,
            waited: raw.waited,
            longest: raw.longest,
            longest_lately: raw.longest_lately,
            longest_wait: raw.longest_wait,
            holds: raw.holds.to_vec(),
            waits: raw.waits.to_vec(),
        }
    }
}

impl From<&dfrs_lock_statistics_t> for LockStatistics {
    fn from(raw: &dfrs_lock_statistics_t) -> Self {
        Self {
            reads: (&raw.reads).into(),
            writes: (&raw.writes).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(holds: &[(usize, u64)], longest: u64) -> LockCounts {
        let mut raw = dfrs_lock_statistics_t::default();
        for &(bucket, count) in holds {
            raw.writes.holds[bucket] = count;
        }
        raw.writes.longest = longest;
        LockStatistics::from(&raw).writes
    }

    #[test]
    fn one_in_a_hundred_is_beyond_the_percentile() {
        assert_eq!(counts(&[(3, 99), (9, 1)], 400).hold_p99(), 8);
        assert_eq!(counts(&[(3, 98), (9, 2)], 400).hold_p99(), 400);
        assert_eq!(counts(&[(3, 98), (9, 2)], 700).hold_p99(), 512);
    }

    #[test]
    fn the_last_bucket_has_no_end() {
        let last = dfrs_lock_counts_t::default().holds.len() - 1;
        assert_eq!(counts(&[(last, 1)], 12_345_678).hold_p99(), 12_345_678);
        assert_eq!(counts(&[], 0).hold_p99(), 0);
    }
}
