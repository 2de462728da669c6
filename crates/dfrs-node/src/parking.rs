//! When a frozen job's memory counts as gone from RAM, and what it is held to then. Pure.

use std::time::Duration;

/// What may stay in RAM of any parked job, in bytes: `slurmstepd` lives in the job's cgroup too, is
/// never frozen, and reads its own pages back.
pub const MIN_TOLERATED_BYTES: u64 = dfrs_node_proto::spare::MIN_BYTES_PER_JOB;

/// Of a large job, this fraction (one in so many) may stay in RAM: page tables and pinned pages.
pub const TOLERATED_FRACTION: u64 = 16;

/// What may stay in RAM of any parked job at most, in bytes, unless the administrator sets it: of a
/// very large job a sixteenth is much. Of all parked jobs of a node it may be so much, too, where
/// it is not known what the node has beyond what Slurm gives to jobs.
pub const MAX_TOLERATED_BYTES: u64 = 1 << 30;

/// A parked job's memory limit is what stayed in RAM and so much more, in bytes: its `slurmstepd` is never
/// frozen, and needs some when the job is signalled.
pub const LIMIT_MARGIN_BYTES: u64 = 8 << 20;

/// Of that its tasks may have so much, in bytes, as when another job touches memory that it shares with them; the
/// rest is for `slurmstepd`.
pub const TASKS_MARGIN_BYTES: u64 = LIMIT_MARGIN_BYTES / 2;

/// The largest page of a kernel that Slurm runs on, in bytes: limits are whole pages, so that they are read as they
/// were written.
const PAGE_BYTES: u64 = 64 << 10;

/// How long to wait after a reclaim that left too much before the next.
pub const RETRY_AFTER: Duration = Duration::from_secs(2);

/// How long a process that is in no step is let end by itself before it is frozen with one: Slurm gives a user's
/// epilog of a task five seconds (`_run_script_as_user` of 22.05 and 24.11), and ends it then.
pub const EPILOG_TIMEOUT: Duration = Duration::from_secs(10);

/// CPU that a parked job may use, in cores: its `slurmstepd` does little, and what is not frozen yet should do
/// little, too.
pub const PARKED_CORES: f64 = 0.05;

/// Why a frozen job of which the reclaim has ended is not parked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParkingRefusal {
    /// More stays in RAM than may: bytes that stay, and that it had.
    StaysInRam {
        /// Bytes in RAM.
        resident: u64,
        /// Bytes in RAM and in swap when it was frozen.
        before: u64,
    },
    /// What parked jobs keep is more than the node has beyond what Slurm gives to jobs: bytes of both.
    NodeIsFull {
        /// Bytes that parked jobs would keep.
        kept: u64,
        /// Bytes that there are for that.
        spare: u64,
    },
}

/// What is known of a job that is to be parked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// Bytes in RAM and in swap when it was frozen.
    pub before_bytes: u64,
    /// What may stay of it by the administrator's setting, in bytes.
    pub max_resident_bytes: u64,
}

impl Claim {
    /// Bytes that it may have in RAM while it is parked.
    pub fn tolerated(self) -> u64 {
        let by_size = (self.before_bytes / TOLERATED_FRACTION).max(MIN_TOLERATED_BYTES);
        by_size.min(self.max_resident_bytes.max(MIN_TOLERATED_BYTES))
    }

    /// The memory limit of the parked job, of which so many bytes stay in RAM; none if these are too many.
    pub fn limit(self, resident: u64) -> Option<u64> {
        let limit = resident.saturating_add(LIMIT_MARGIN_BYTES) / PAGE_BYTES * PAGE_BYTES;
        (limit <= self.tolerated()).then_some(limit)
    }
}

/// How far a job is on its way to swap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parking {
    /// Not frozen by all of its steps.
    Running,
    /// Frozen; a reclaim was requested and has not ended.
    Reclaiming,
    /// Frozen; the last reclaim left too much in RAM: try again then.
    Retry {
        /// When.
        at: Duration,
    },
    /// Frozen, out of RAM, and held to that.
    Parked,
}

/// Whether the job itself keeps its memory in RAM: so much of it stays although there is so much free swap. Else the
/// node is slow, or its swap is full.
pub fn is_stuck(resident: u64, free_swap: u64) -> bool {
    free_swap > resident.saturating_add(LIMIT_MARGIN_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(before: u64, resident: u64, max: u64) -> Option<u64> {
        Claim {
            before_bytes: before,
            max_resident_bytes: max,
        }
        .limit(resident)
    }

    #[test]
    fn tolerated_memory_is_a_sixteenth_within_its_bounds() {
        let is_out = |before, after| limit(before, after, MAX_TOLERATED_BYTES).is_some();
        assert!(is_out(40 << 20, 500 << 10));
        assert!(!is_out(100 << 20, 33 << 20));
        assert!(is_out(1 << 30, 56 << 20));
        assert!(!is_out(1 << 30, 57 << 20));
        assert!(is_out(512 << 30, 1016 << 20));
        assert!(!is_out(512 << 30, 1017 << 20));
        assert!(limit(1 << 30, 24 << 20, 0).is_some());
        assert!(limit(1 << 30, 25 << 20, 0).is_none());
    }

    #[test]
    fn limit_is_resident_memory_and_a_margin_when_tolerated() {
        let of = |resident| limit(1 << 30, resident, MAX_TOLERATED_BYTES);
        assert_eq!(of(1 << 20), Some(9 << 20));
        // slurmstepd has what it needs, whatever stays.
        assert_eq!(of(56 << 20), Some(64 << 20));
        assert_eq!(of(60 << 20), None);
        // Whole pages, of whatever size.
        assert_eq!(of((1 << 20) + 4096), Some(9 << 20));
        assert_eq!(limit(0, 24 << 20, MAX_TOLERATED_BYTES), Some(32 << 20));
    }

    #[test]
    fn job_is_stuck_when_free_swap_exceeds_its_resident_memory() {
        assert!(is_stuck(100 << 20, 200 << 20));
        assert!(!is_stuck(100 << 20, 100 << 20));
    }
}
