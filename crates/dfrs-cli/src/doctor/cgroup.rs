//! The kernel's cgroups, of either version.

use super::finding::Topic;

/// What the kernel offers.
#[derive(Debug, PartialEq, Eq)]
pub enum Hierarchy {
    /// One tree.
    V2,
    /// A tree for each of these controllers.
    V1(Vec<String>),
    /// Neither is mounted.
    None,
}

/// The controllers that dfrsd uses on version 1.
const V1_CONTROLLERS: [&str; 3] = ["cpu", "memory", "freezer"];
/// Controllers that version 2 needs; freezing needs none there.
pub const V2_CONTROLLERS: [&str; 2] = ["cpu", "memory"];
/// The first Linux with `memory.reclaim`, by which jobs are parked on version 2.
const FIRST_WITH_RECLAIM: (u32, u32) = (5, 19);

impl Hierarchy {
    /// From `/proc/mounts`. A host may have both: Slurm then uses the controllers of version 1.
    pub fn of_mounts(mounts: &str) -> Self {
        let mounted = |kind: &'static str| {
            mounts.lines().filter_map(move |line| {
                let fields: Vec<&str> = line.split_whitespace().collect();
                (fields.get(2) == Some(&kind)).then(|| *fields.get(3).unwrap_or(&""))
            })
        };
        let options = mounted("cgroup").flat_map(|options| options.split(','));
        let controllers: Vec<String> = options
            .filter(|option| V1_CONTROLLERS.contains(option))
            .map(str::to_owned)
            .collect();
        if !controllers.is_empty() {
            Self::V1(controllers)
        } else if mounted("cgroup2").next().is_some() {
            Self::V2
        } else {
            Self::None
        }
    }
}

/// Says what is missing. `offered`: the controllers of version 2; `kernel`: as `uname -r`.
pub fn examine(hierarchy: &Hierarchy, offered: &str, kernel: &str, topic: &mut Topic) {
    let missing: Vec<&str> = match hierarchy {
        Hierarchy::None => {
            topic.error(
                "no cgroups are mounted",
                "boot with systemd, or mount cgroup2 at /sys/fs/cgroup",
            );
            return;
        }
        Hierarchy::V1(found) => {
            let is_missing = |name: &&str| !found.iter().any(|found| found == name);
            V1_CONTROLLERS.into_iter().filter(is_missing).collect()
        }
        Hierarchy::V2 => {
            let is_missing = |name: &&str| !offered.split_whitespace().any(|found| found == *name);
            V2_CONTROLLERS.into_iter().filter(is_missing).collect()
        }
    };
    if !missing.is_empty() {
        topic.error(
            format!("the kernel has no cgroup controller {}", missing.join(", ")),
            "take cgroup_disable= out of the kernel's command line, or mount them",
        );
    }
    if *hierarchy == Hierarchy::V2 && version(kernel).is_some_and(|it| it < FIRST_WITH_RECLAIM) {
        topic.warning(
            format!("Linux {kernel} has no memory.reclaim: jobs are not parked here"),
            "use Linux 5.19 or later",
        );
    }
}

fn version(kernel: &str) -> Option<(u32, u32)> {
    let mut numbers = kernel.split(|letter: char| !letter.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}
