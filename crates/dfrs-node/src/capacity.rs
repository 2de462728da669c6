//! How many cores shares are taken of.

use std::collections::BTreeSet;
use std::path::Path;

use rustix::thread::{CpuSet, sched_getaffinity};

use crate::cgroup::files;

/// What the administrator sets about the node's CPUs.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CapacityOptions {
    /// Cores, whatever the machine reports.
    pub fixed: Option<f64>,
    /// Cores kept from jobs, for the system's own processes.
    pub reserved: f64,
}

/// The least capacity in cores: a reserve must not make a node of nothing.
pub const MIN_CORES: f64 = 0.1;

impl CapacityOptions {
    /// The capacity in cores of a node with `online` usable CPUs on which our root cgroup may use
    /// `limit` cores (none: no limit). At least [`MIN_CORES`].
    pub fn capacity(&self, online: f64, limit: Option<f64>) -> f64 {
        let cores = self
            .fixed
            .unwrap_or_else(|| limit.map_or(online, |limit| limit.min(online)));
        (cores - self.reserved).max(MIN_CORES)
    }

    /// The part of this capacity that shares are parts of: not more than Slurm counts on the node,
    /// which leaves out the cores that it reserves (`CoreSpecCount`), unless the administrator sets
    /// more.
    pub fn within(&self, capacity: f64, processors: &Processors, slurm_cpus: Option<u32>) -> f64 {
        let counted = slurm_cpus.and_then(|cpus| processors.threads_of(cpus));
        let limit = counted.filter(|_| self.fixed.is_none());
        limit.map_or(capacity, |max| capacity.min(max))
    }

    /// None is given.
    pub fn are_default(&self) -> bool {
        *self == CapacityOptions::default()
    }
}

/// The CPUs that jobs of this node may run on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Processors {
    /// Hardware threads.
    pub threads: f64,
    /// The cores that these are of; none if the machine does not show them.
    pub cores: Option<f64>,
}

impl Processors {
    /// The processors of the root of the cgroups, as `0-3,8`. Where it names none those of this
    /// process, which may be fewer: `CPUAffinity=` of systemd and `isolcpus=` hold for it and not
    /// for jobs. `system`: as `/sys/devices/system/cpu`. O(threads).
    pub fn detect(of_root: Option<&str>, system: &Path) -> Processors {
        let found = of_root.map(numbers).filter(|found| !found.is_empty());
        let found = found.unwrap_or_else(own_affinity);
        let siblings = |number: &usize| {
            files::read(&system.join(format!("cpu{number}/topology/thread_siblings_list")))
        };
        let cores: Result<BTreeSet<String>, _> = found.iter().map(siblings).collect();
        Processors {
            threads: (found.len() as f64).max(1.0),
            cores: cores.ok().map(|cores| cores.len() as f64),
        }
    }

    /// In hardware threads, what Slurm counts as so many CPUs: it may count cores. Never less than
    /// that. None where it is unknown.
    pub fn threads_of(&self, slurm_cpus: u32) -> Option<f64> {
        let (cpus, cores) = (f64::from(slurm_cpus), self.cores?);
        // A Slurm that counts more than there are cores counts threads.
        let threads_each = if cpus > cores {
            1.0
        } else {
            self.threads / cores
        };
        (slurm_cpus > 0 && cores > 0.0).then_some(cpus * threads_each)
    }

    /// Slurm counts more than there is, and not as a site does that wants jobs to share.
    pub fn are_fewer_than(&self, slurm_cpus: u32) -> bool {
        let cpus = f64::from(slurm_cpus);
        cpus > self.threads && cpus % self.threads != 0.0
    }
}

/// The numbers in a list as `0-3,8`; what is none is left out.
fn numbers(list: &str) -> Vec<usize> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
    };
    list.split(',').filter_map(range).flatten().collect()
}

/// CPUs that this process may run on.
fn own_affinity() -> Vec<usize> {
    let allowed = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
    (0..CpuSet::MAX_CPU)
        .filter(|&number| allowed.is_set(number))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

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
        assert_eq!(greedy.capacity(8.0, None), MIN_CORES);
    }

    const SINGLE: Processors = Processors {
        threads: 64.0,
        cores: Some(64.0),
    };
    const DOUBLE: Processors = Processors {
        threads: 64.0,
        cores: Some(32.0),
    };

    fn within(processors: Processors, slurm_cpus: u32) -> f64 {
        CapacityOptions::default().within(64.0, &processors, Some(slurm_cpus))
    }

    #[test]
    fn cores_that_slurm_reserves_are_not_shared() {
        assert_eq!(within(SINGLE, 60), 60.0);
        assert_eq!(within(DOUBLE, 56), 56.0);
        assert_eq!(within(DOUBLE, 30), 60.0, "Slurm counts cores");
        assert_eq!(within(DOUBLE, 32), 64.0, "all of them");
        for all in [64, 128, 100] {
            assert_eq!(within(SINGLE, all), 64.0, "{all}");
        }
        let explicit = CapacityOptions {
            fixed: Some(64.0),
            reserved: 0.0,
        };
        assert_eq!(explicit.within(64.0, &SINGLE, Some(60)), 64.0);
    }

    #[test]
    fn capacity_is_unchanged_when_cores_or_slurm_cpus_are_unknown() {
        assert_eq!(within(SINGLE, 0), 64.0);
        let secret = Processors {
            cores: None,
            ..SINGLE
        };
        assert_eq!(within(secret, 30), 64.0);
        let options = CapacityOptions::default();
        assert_eq!(options.within(64.0, &SINGLE, None), 64.0);
        assert_eq!(options.within(0.44, &SINGLE, Some(4)), 0.44, "a container");
    }

    #[test]
    fn slurm_counts_too_many_if_it_is_no_multiple() {
        let fewer = [32, 64, 100, 128].map(|cpus| SINGLE.are_fewer_than(cpus));
        assert_eq!(fewer, [false, false, true, false]);
    }

    #[test]
    fn processors_are_those_of_the_root_and_their_cores_are_counted() {
        let scratch = Scratch::new();
        for (number, siblings) in ["0,4", "1,5", "2,6", "3,7", "0,4", "1,5"]
            .iter()
            .enumerate()
        {
            let topology = scratch.path().join(format!("cpu{number}/topology"));
            std::fs::create_dir_all(&topology).unwrap();
            files::write(&topology.join("thread_siblings_list"), siblings).unwrap();
        }
        let look = |list| Processors::detect(Some(list), scratch.path());
        let processors = |threads, cores| Processors { threads, cores };
        assert_eq!(look("0-2,4"), processors(4.0, Some(3.0)));
        assert_eq!(look("0-7"), processors(8.0, None), "cpu7 has no data");
    }

    #[test]
    fn this_machine_has_a_cpu() {
        for of_root in [None, Some("")] {
            let here = Processors::detect(of_root, Path::new("/sys/devices/system/cpu"));
            assert!(here.threads >= 1.0);
        }
    }
}
