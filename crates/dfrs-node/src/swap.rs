//! How much swap this node has.

use std::path::Path;

use crate::cgroup::files;

/// Bytes of swap that jobs could use: the machine's (`SwapTotal` in `meminfo`, kibibytes there), at
/// most `limit`; 0 if it cannot be read.
pub fn total(meminfo: &Path, limit: Option<u64>) -> u64 {
    let machine = files::read(meminfo)
        .ok()
        .and_then(|text| swap_total(&text))
        .unwrap_or(0);
    machine.min(limit.unwrap_or(u64::MAX))
}

fn swap_total(meminfo: &str) -> Option<u64> {
    let value = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("SwapTotal:"))?;
    let kibibytes: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swap_is_read_from_meminfo() {
        assert_eq!(
            swap_total("MemTotal: 10 kB\nSwapTotal:       2048 kB\nSwapFree: 1 kB\n"),
            Some(2 << 20)
        );
        assert_eq!(swap_total("MemTotal: 10 kB\n"), None);
    }

    #[test]
    fn a_container_has_no_more_than_its_limit() {
        assert_eq!(total(Path::new("/proc/meminfo"), Some(0)), 0);
        assert_eq!(total(Path::new("/no/such/file"), None), 0);
    }
}
