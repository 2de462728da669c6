//! How many cores shares are taken of.

use std::thread;

/// What the administrator says about the node's CPUs.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CapacityOptions {
    /// Cores, whatever the machine says.
    pub fixed: Option<f64>,
    /// Cores kept from jobs, for the system's own processes.
    pub reserved: f64,
}

/// The least capacity in cores: a reserve must not make a node of nothing.
pub const MINIMUM_CORES: f64 = 0.1;

impl CapacityOptions {
    /// The capacity in cores of a node with `online` usable CPUs on which our root cgroup may use
    /// `limit` cores (none: no limit). At least [`MINIMUM_CORES`].
    pub fn capacity(&self, online: f64, limit: Option<f64>) -> f64 {
        let cores = self
            .fixed
            .unwrap_or_else(|| limit.map_or(online, |limit| limit.min(online)));
        (cores - self.reserved).max(MINIMUM_CORES)
    }
}

/// CPUs that this process, and so the node, may run on.
pub fn usable_cpus() -> f64 {
    match rustix::thread::sched_getaffinity(None) {
        Ok(cpus) => f64::from(cpus.count()),
        // Not a reason to stop: the library's guess also heeds the process's own quota.
        Err(_) => thread::available_parallelism().map_or(1.0, |count| count.get() as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_containers_limit_is_its_capacity() {
        let options = CapacityOptions::default();
        assert_eq!(options.capacity(8.0, None), 8.0);
        assert_eq!(options.capacity(8.0, Some(1.5)), 1.5);
        assert_eq!(options.capacity(2.0, Some(64.0)), 2.0);
    }

    #[test]
    fn options_come_first_and_the_reserve_comes_off() {
        let options = CapacityOptions {
            fixed: Some(4.0),
            reserved: 0.5,
        };
        assert_eq!(options.capacity(8.0, Some(1.0)), 3.5);
        let greedy = CapacityOptions {
            fixed: None,
            reserved: 10.0,
        };
        assert_eq!(greedy.capacity(8.0, None), MINIMUM_CORES);
    }

    #[test]
    fn this_machine_has_a_cpu() {
        assert!(usable_cpus() >= 1.0);
    }
}
