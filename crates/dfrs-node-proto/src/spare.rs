//! What RAM a node has beyond what Slurm gives to jobs (ADR 44): half of it is what parked jobs may
//! keep, the other half is the system's. dfrsd goes by it, and `dfrs doctor` says the same.

/// What any parked job may keep in RAM, in bytes: where there is less, none is parked.
pub const MIN_BYTES_PER_JOB: u64 = 32 << 20;

/// Bytes of RAM, by what `/proc/meminfo` says.
pub fn installed(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kibibytes.saturating_mul(1024))
}

/// Bytes that parked jobs may keep together of those that a node has, where Slurm gives so many to
/// jobs (`RealMemory` less `MemSpecLimit`).
pub fn for_parked_jobs(installed: u64, given_to_jobs: u64) -> u64 {
    installed.saturating_sub(given_to_jobs) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn installed_memory_is_read_in_bytes() {
        assert_eq!(
            installed("MemFree: 1 kB\nMemTotal:   2048 kB\n"),
            Some(2 << 20)
        );
        assert_eq!(installed("MemTotal: 2048 MB\n"), None);
        assert_eq!(installed(""), None);
    }

    #[test]
    fn half_of_the_memory_beyond_slurm_is_for_parked_jobs() {
        assert_eq!(for_parked_jobs(100, 60), 20);
        assert_eq!(for_parked_jobs(60, 100), 0);
    }
}
