//! When a frozen job's memory counts as gone from RAM. Pure.

use std::time::Duration;

/// What may stay in RAM of any parked job, in bytes: `slurmstepd` lives in the job's cgroup too, is
/// never frozen, and reads its own pages back.
pub const ALWAYS_TOLERATED_BYTES: u64 = 32 << 20;

/// Of a large job, this fraction (one in so many) may stay in RAM: page tables and pinned pages.
pub const TOLERATED_FRACTION: u64 = 16;

/// What may stay in RAM of any parked job at most, in bytes, unless the administrator says
/// otherwise: Slurm counts the job's memory as free, and of a very large job a sixteenth is much.
pub const MOST_TOLERATED_BYTES: u64 = 1 << 30;

/// How long to wait after a reclaim that left too much before the next.
pub const RETRY_AFTER: Duration = Duration::from_secs(2);

/// Is a job that had `before` bytes in RAM and in swap when it was frozen, and has `after` in RAM
/// now, out of RAM, if `most` bytes may stay of it?
pub fn is_out_of_memory(before: u64, after: u64, most: u64) -> bool {
    let tolerated = ALWAYS_TOLERATED_BYTES.max(before / TOLERATED_FRACTION);
    after <= tolerated.min(most.max(ALWAYS_TOLERATED_BYTES))
}

/// How far a job is on its way to swap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parking {
    /// It is not frozen by all of its steps.
    Running,
    /// Frozen; a reclaim was asked for and has not ended.
    Reclaiming,
    /// Frozen; the last reclaim left too much in RAM: try again then.
    Retry {
        /// When.
        at: Duration,
    },
    /// Frozen and out of RAM.
    Parked,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_may_stay_of_little_a_sixteenth_of_much_and_no_more_than_is_allowed() {
        let is_out = |before, after| is_out_of_memory(before, after, MOST_TOLERATED_BYTES);
        assert!(is_out(40 << 20, 500 << 10));
        assert!(!is_out(100 << 20, 33 << 20));
        assert!(is_out(1 << 30, 64 << 20));
        assert!(!is_out(1 << 30, (64 << 20) + 1));
        assert!(is_out(512 << 30, 1 << 30));
        assert!(!is_out(512 << 30, (1 << 30) + 1));
        assert!(is_out_of_memory(1 << 30, 32 << 20, 0));
        assert!(!is_out_of_memory(1 << 30, (32 << 20) + 1, 0));
    }
}
