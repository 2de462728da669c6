//! For how long the shim has held slurmctld's locks, and waited for them.

use super::bindings::{dfrs_lock_counts_t, dfrs_lock_statistics_t};
use crate::histogram::Histogram;
use crate::measures::LockTimes;

impl From<&dfrs_lock_statistics_t> for LockTimes {
    fn from(raw: &dfrs_lock_statistics_t) -> Self {
        Self {
            read_holds: holds(&raw.reads),
            read_waits: waits(&raw.reads),
            write_holds: holds(&raw.writes),
            write_waits: waits(&raw.writes),
        }
    }
}

fn holds(raw: &dfrs_lock_counts_t) -> Histogram {
    Histogram::of(raw.holds, raw.longest)
}

fn waits(raw: &dfrs_lock_counts_t) -> Histogram {
    Histogram::of(raw.waits, raw.longest_wait)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histograms_are_assigned_by_name() {
        let mut raw = dfrs_lock_statistics_t::default();
        raw.writes.holds[9] = 3;
        raw.writes.longest = 9;
        raw.reads.waits[7] = 2;
        raw.reads.longest_wait = 7;
        let times = LockTimes::from(&raw);
        assert_eq!(
            (times.write_holds.count(), times.write_holds.percentile(99)),
            (3, 9)
        );
        assert_eq!(
            (times.read_waits.count(), times.read_waits.longest_us()),
            (2, 7)
        );
        assert_eq!(times.read_holds.count() + times.write_waits.count(), 0);
    }
}
