//! What swap a node has to park jobs in: dfrsd goes by it, and `dfrs doctor` says the same.

use dfrs_proto::message::EIGHTHS;

/// Swap devices of these names keep what they hold in RAM, which no cgroup counts: a job there
/// looks as if it had left RAM, and would go on filling it.
const IN_RAM: [&str; 2] = ["/dev/zram", "/dev/ram"];

/// Why nothing is parked where the kernel keeps in RAM what it has swapped, and counts it for no
/// job.
pub const KEPT_BY_ZSWAP: &str = "zswap keeps parked memory in RAM, and cgroup v1 does not count it: no job is parked here; \
    echo N > /sys/module/zswap/parameters/enabled";

/// How many eighths of the swap that is counted on can hold parked jobs, where so much of it holds
/// some and so much is free; the rest is in use by jobs that came back and by others. All amounts
/// in the same unit.
pub fn swap_eighths(counted: u64, parked: u64, free: u64) -> u8 {
    let there = u128::from(parked.saturating_add(free)) * u128::from(EIGHTHS);
    let eighths = there.checked_div(u128::from(counted));
    let eighths = eighths.and_then(|eighths| u8::try_from(eighths).ok());
    eighths.unwrap_or(EIGHTHS).min(EIGHTHS)
}

/// The machine's swap, as in `/proc/swaps`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swap {
    /// Bytes outside of RAM.
    pub outside_ram_bytes: u64,
    /// Bytes that stay in RAM, compressed.
    pub in_ram_bytes: u64,
    /// Bytes outside of RAM that are free.
    pub free_bytes: u64,
    /// Some of what stays in RAM is filled before, or together with, some that is outside.
    pub fills_ram_first: bool,
}

impl Swap {
    /// Of what that file says. What is no device, as its first line, is passed over.
    pub fn parse(swaps: &str) -> Swap {
        let (in_ram, outside): (Vec<Device>, Vec<Device>) = swaps
            .lines()
            .filter_map(Device::parse)
            .partition(|device| device.in_ram);
        let sum = |devices: &[Device], of: fn(&Device) -> u64| {
            let sizes = devices.iter().map(of);
            sizes.fold(0, u64::saturating_add)
        };
        let bytes = |devices: &[Device]| sum(devices, |device| device.bytes);
        let first = in_ram.iter().map(|device| device.priority).max();
        let last = outside.iter().map(|device| device.priority).min();
        Swap {
            outside_ram_bytes: bytes(&outside),
            in_ram_bytes: bytes(&in_ram),
            free_bytes: sum(&outside, |device| device.bytes.saturating_sub(device.used)),
            fills_ram_first: first.zip(last).is_some_and(|(first, last)| first >= last),
        }
    }

    /// Bytes that parked jobs can use, of which this cgroup may use at most `limit`; 0 where memory
    /// that is swapped may stay in RAM.
    pub fn usable(self, limit: Option<u64>) -> u64 {
        if self.fills_ram_first {
            return 0;
        }
        self.outside_ram_bytes.min(limit.unwrap_or(u64::MAX))
    }

    /// What an administrator should know, if there is something.
    pub fn warning(self) -> Option<&'static str> {
        if self.in_ram_bytes > 0 && self.outside_ram_bytes == 0 {
            Some(
                "all of it is zram, from which parked memory would not leave RAM: no job is parked here; \
                 add swap on a disk (swapon)",
            )
        } else if self.fills_ram_first {
            Some(
                "zram is filled before the disk, and what is parked there would stay in RAM: no job is parked here; \
                 give the disk a higher priority (swapon -p), or turn zram off",
            )
        } else {
            None
        }
    }
}

/// One line of `/proc/swaps`: name, kind, KiB, KiB in use, priority.
struct Device {
    in_ram: bool,
    bytes: u64,
    used: u64,
    priority: i32,
}

impl Device {
    /// None for what is no device, as the first line.
    fn parse(line: &str) -> Option<Device> {
        let mut words = line.split_whitespace();
        let name = words.next()?;
        let kibibytes: u64 = words.nth(1)?.parse().ok()?;
        let used: u64 = words.next()?.parse().ok()?;
        Some(Device {
            in_ram: IN_RAM.iter().any(|prefix| name.starts_with(prefix)),
            bytes: kibibytes.checked_mul(1024)?,
            used: used.checked_mul(1024)?,
            priority: words.next()?.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TITLE: &str = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n";
    const FILE: &str = "/swap/a\\040b\\040(deleted)      file\t\t2048\t\t36\t\t-2\n";
    const ZRAM: &str = "/dev/zram0                    partition\t1024\t\t0\t\t100\n";

    fn parse(lines: &[&str]) -> Swap {
        Swap::parse(&format!("{TITLE}{}", lines.concat()))
    }

    #[test]
    fn swap_on_disks_is_counted_and_zram_is_not() {
        let disk = "/dev/sda2                    partition\t1024\t\t0\t\t5\n";
        let swap = parse(&[FILE, disk]);
        assert_eq!((swap.outside_ram_bytes, swap.warning()), (3 << 20, None));
        assert_eq!(swap.free_bytes, (3 << 20) - (36 << 10));
        assert_eq!(parse(&[]), Swap::default());
        assert_eq!(parse(&[]).warning(), None);

        let only = parse(&[ZRAM]);
        assert_eq!((only.outside_ram_bytes, only.in_ram_bytes), (0, 1 << 20));
        assert!(only.warning().unwrap().contains("no job is parked here"));
    }

    #[test]
    fn zram_filled_before_the_disk_disables_parking() {
        let both = parse(&[FILE, ZRAM]);
        assert_eq!((both.outside_ram_bytes, both.usable(None)), (2 << 20, 0));
        assert!(both.warning().unwrap().contains("higher priority"));
        let later = ZRAM.replace("100", "-3");
        let later = parse(&[FILE, &later]);
        assert_eq!((later.usable(None), later.warning()), (2 << 20, None));
    }

    #[test]
    fn swap_in_use_by_jobs_that_run_is_not_counted() {
        assert_eq!(swap_eighths(800, 300, 500), 8);
        assert_eq!(swap_eighths(800, 300, 499), 7);
        assert_eq!(swap_eighths(800, 0, 99), 0);
        assert_eq!(swap_eighths(0, 0, 0), 8);
        assert_eq!(swap_eighths(u64::MAX, u64::MAX, u64::MAX), 8);
    }

    #[test]
    fn a_container_has_no_more_than_its_limit() {
        assert_eq!(parse(&[FILE]).usable(Some(4096)), 4096);
    }
}
