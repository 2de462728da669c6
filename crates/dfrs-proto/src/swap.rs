//! What swap a node has to park jobs in: dfrsd goes by it, and `dfrs doctor` says the same.

/// Swap devices of these names keep what they hold in RAM, which no cgroup counts: a job there looks as
/// if it had left RAM, and would go on filling it.
const IN_RAM: [&str; 2] = ["/dev/zram", "/dev/ram"];

/// The machine's swap, as `/proc/swaps` tells it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swap {
    /// Bytes outside of RAM.
    pub outside: u64,
    /// Bytes that stay in RAM, compressed.
    pub in_ram: u64,
    /// Some of what stays in RAM is filled before, or together with, some that is outside.
    pub fills_ram_first: bool,
}

impl Swap {
    /// Of what that file says. What is no device, as its first line, is passed over.
    #[must_use]
    pub fn parse(swaps: &str) -> Swap {
        let (in_ram, outside): (Vec<Device>, Vec<Device>) = swaps
            .lines()
            .filter_map(Device::parse)
            .partition(|device| device.in_ram);
        let bytes = |devices: &[Device]| {
            let sizes = devices.iter().map(|device| device.bytes);
            sizes.fold(0, u64::saturating_add)
        };
        let first = in_ram.iter().map(|device| device.priority).max();
        let last = outside.iter().map(|device| device.priority).min();
        Swap {
            outside: bytes(&outside),
            in_ram: bytes(&in_ram),
            fills_ram_first: first.zip(last).is_some_and(|(first, last)| first >= last),
        }
    }

    /// Bytes that parked jobs can use, of which this cgroup may use at most `limit`.
    #[must_use]
    pub fn usable(self, limit: Option<u64>) -> u64 {
        self.outside.min(limit.unwrap_or(u64::MAX))
    }

    /// What an administrator should know, if there is something.
    #[must_use]
    pub fn trouble(self) -> Option<&'static str> {
        if self.in_ram > 0 && self.outside == 0 {
            Some(
                "all of it is zram, from which parked memory would not leave RAM: no job is parked here; \
                 add swap on a disk (swapon)",
            )
        } else if self.fills_ram_first {
            Some(
                "zram is filled before the disk, and what is parked there stays in RAM; \
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
    priority: i32,
}

impl Device {
    /// None for what is no device, as the first line.
    fn parse(line: &str) -> Option<Device> {
        let mut words = line.split_whitespace();
        let name = words.next()?;
        let kibibytes: u64 = words.nth(1)?.parse().ok()?;
        Some(Device {
            in_ram: IN_RAM.iter().any(|prefix| name.starts_with(prefix)),
            bytes: kibibytes.checked_mul(1024)?,
            priority: words.nth(1)?.parse().ok()?,
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
        assert_eq!((swap.outside, swap.trouble()), (3 << 20, None));
        assert_eq!(parse(&[]), Swap::default());
        assert_eq!(parse(&[]).trouble(), None);

        let only = parse(&[ZRAM]);
        assert_eq!((only.outside, only.in_ram), (0, 1 << 20));
        assert!(only.trouble().unwrap().contains("no job is parked here"));
    }

    #[test]
    fn it_is_told_where_parked_memory_would_stay_in_ram_though_there_is_a_disk() {
        let both = parse(&[FILE, ZRAM]);
        assert_eq!(both.usable(None), 2 << 20);
        assert!(both.trouble().unwrap().contains("higher priority"));
        let later = ZRAM.replace("100", "-3");
        assert_eq!(parse(&[FILE, &later]).trouble(), None);
    }

    #[test]
    fn a_container_has_no_more_than_its_limit() {
        assert_eq!(parse(&[FILE]).usable(Some(4096)), 4096);
    }
}
