//! Joins the control groups of a job: what criu restores is born where criu runs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::held::HeldProcess;
use super::procfs;

/// Moves this process to all control groups of another.
///
/// # Errors
///
/// If a group cannot be joined, as of a hierarchy that is not mounted here; one line.
pub fn join(process: &HeldProcess) -> Result<(), String> {
    let of = process.number();
    let groups = procfs::text(process, "cgroup");
    let groups = groups.map_err(|error| format!("/proc/{of}/cgroup: {error}"))?;
    let mounts = procfs::text(std::process::id(), "mountinfo");
    let mounts = mounts.map_err(|error| format!("/proc/self/mountinfo: {error}"))?;
    let lists = process_lists(&groups, &mounts);
    if lists.is_empty() {
        return Err(format!(
            "process {of} is in no control group that is seen here"
        ));
    }
    for list in lists {
        let own = std::process::id().to_string();
        fs::write(&list, own)
            .map_err(|error| format!("cannot join {}: {error}", list.display()))?;
    }
    let joined = procfs::text(std::process::id(), "cgroup");
    let joined = joined.map_err(|error| format!("/proc/self/cgroup: {error}"))?;
    match missed(&groups, &joined) {
        None => Ok(()),
        Some(group) => Err(format!(
            "cannot join {group} of process {of}: its hierarchy is not mounted here"
        )),
    }
}

/// The first group in one text of `/proc/PID/cgroup` that is not in another.
fn missed<'a>(groups: &'a str, joined: &str) -> Option<&'a str> {
    let mut groups = groups.lines();
    groups.find(|group| joined.lines().all(|other| other != *group))
}

/// Whether a process is in a group that is frozen, or about to be: criu would wait for it.
///
/// # Errors
///
/// If its groups are not known; one line.
pub fn is_frozen(process: u32) -> Result<bool, String> {
    let named = |error: io::Error| format!("process {process}: control groups: {error}");
    let groups = procfs::text(process, "cgroup").map_err(named)?;
    let mounts = procfs::text(std::process::id(), "mountinfo").map_err(named)?;
    let lists = process_lists(&groups, &mounts);
    Ok(lists.iter().any(|list| {
        let state = |name: &str| fs::read_to_string(list.with_file_name(name)).unwrap_or_default();
        is_state_frozen(&state("cgroup.events"), &state("freezer.state"))
    }))
}

/// By `cgroup.events` of v2, or `freezer.state` of v1; empty where there is none.
fn is_state_frozen(events: &str, state: &str) -> bool {
    events.lines().any(|line| line == "frozen 1") || !["", "THAWED"].contains(&state.trim())
}

/// The `cgroup.procs` of the groups in the text of `/proc/PID/cgroup`, below mounts in that of
/// `mountinfo`.
fn process_lists(groups: &str, mounts: &str) -> Vec<PathBuf> {
    let mounts: Vec<Mount> = mounts.lines().filter_map(Mount::parse).collect();
    let groups = groups.lines().filter_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        let mount = mounts.iter().find(|mount| mount.has(controllers, path))?;
        let below = Path::new(path).strip_prefix(mount.root).ok()?;
        Some(Path::new(mount.point).join(below).join("cgroup.procs"))
    });
    let mut lists: Vec<PathBuf> = groups.collect();
    // Controllers of one hierarchy may be named in several places.
    lists.sort();
    lists.dedup();
    lists
}

struct Mount<'a> {
    root: &'a str,
    point: &'a str,
    kind: &'a str,
    options: &'a str,
}

impl<'a> Mount<'a> {
    /// A line like `31 24 0:27 / /sys/fs/cgroup/cpu rw shared:9 - cgroup cgroup rw,cpu,cpuacct`.
    fn parse(line: &'a str) -> Option<Mount<'a>> {
        let (place, file_system) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        let (root, point) = (place.next()?, place.next()?);
        let mut file_system = file_system.split(' ');
        let kind = file_system.next()?;
        let options = file_system.nth(1)?;
        Some(Mount {
            root,
            point,
            kind,
            options,
        })
    }

    fn has(&self, controllers: &str, path: &str) -> bool {
        let is_hierarchy = match (self.kind, controllers) {
            ("cgroup2", "") => true,
            ("cgroup", "") | ("cgroup2", _) => false,
            // v1 names the hierarchy in the options, as `cpu,cpuacct` or `name=systemd`.
            ("cgroup", _) => {
                let has = |wanted: &str| self.options.split(',').any(|option| option == wanted);
                controllers.split(',').all(has)
            }
            _ => false,
        };
        is_hierarchy && Path::new(path).starts_with(self.root)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
24 1 0:5 / /proc rw - proc proc rw
31 24 0:27 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct
32 24 0:28 /docker/x /sys/fs/cgroup/freezer rw - cgroup cgroup rw,freezer
33 24 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw,nsdelegate
34 24 0:30 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd
";

    #[test]
    fn process_list_of_a_cgroup_is_found_in_each_hierarchy() {
        let groups = "\
9:name=systemd:/system
5:freezer:/docker/x/slurm/job_1/step_batch
4:cpuacct,cpu:/slurm/job_1
3:memory:/slurm/job_1
2:freezer:/elsewhere
0::/own
";
        let found = process_lists(groups, MOUNTS);
        let expected = [
            "/sys/fs/cgroup/cpu,cpuacct/slurm/job_1/cgroup.procs",
            "/sys/fs/cgroup/freezer/slurm/job_1/step_batch/cgroup.procs",
            "/sys/fs/cgroup/systemd/system/cgroup.procs",
            "/sys/fs/cgroup/unified/own/cgroup.procs",
        ];
        assert_eq!(found, expected.map(PathBuf::from));
    }

    #[test]
    fn group_that_was_not_joined_is_missed() {
        let groups = "2:cpu:/slurm/job_1\n1:name=systemd:/a\n0::/\n";
        assert_eq!(missed(groups, groups), None);
        let joined = "2:cpu:/slurm/job_1\n1:name=systemd:/b\n0::/\n";
        assert_eq!(missed(groups, joined), Some("1:name=systemd:/a"));
        assert_eq!(missed(groups, ""), Some("2:cpu:/slurm/job_1"));
    }

    #[test]
    fn frozen_groups_are_known_on_both_versions() {
        assert!(is_state_frozen("populated 1\nfrozen 1\n", ""));
        assert!(is_state_frozen("", "FROZEN\n") && is_state_frozen("", "FREEZING\n"));
        assert!(!is_state_frozen("populated 1\nfrozen 0\n", "THAWED\n"));
        assert!(!is_state_frozen("", ""));
    }

    #[test]
    fn v2_alone_has_one_list() {
        let mounts = "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n";
        let found = process_lists("0::/system.slice/x\n", mounts);
        assert_eq!(
            found,
            [Path::new("/sys/fs/cgroup/system.slice/x/cgroup.procs")]
        );
    }

    #[test]
    fn odd_lines_are_left_out() {
        for (groups, mounts) in [
            ("", ""),
            ("x", "x - y"),
            ("1:cpu:/a", "1 2 3 - cgroup x cpu"),
        ] {
            assert!(process_lists(groups, mounts).is_empty());
        }
    }
}
