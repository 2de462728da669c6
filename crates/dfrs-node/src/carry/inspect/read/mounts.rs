//! Which file system a path is on.

use std::path::{Path, PathBuf};

/// The mounts of a process, in their order.
#[derive(Debug, Clone, Default)]
pub struct Mounts(Vec<(PathBuf, String)>);

impl Mounts {
    /// From the text of `/proc/PID/mountinfo`.
    pub fn parse(text: &str) -> Mounts {
        let mounts = text.lines().filter_map(|line| {
            let (place, file_system) = line.split_once(" - ")?;
            let point = place.split(' ').nth(4)?;
            let kind = file_system.split(' ').next()?;
            // Blanks in a path are written as numbers.
            let point = point.replace("\\040", " ");
            Some((PathBuf::from(point), kind.to_owned()))
        });
        Mounts(mounts.collect())
    }

    /// The type of the file system that an absolute path is on; empty if it is not known. Of
    /// several mounts in one place the last counts.
    pub fn file_system_of(&self, path: &str) -> &str {
        let found = self
            .0
            .iter()
            .filter(|(point, _)| Path::new(path).starts_with(point));
        let best = found.max_by_key(|(point, _)| point.as_os_str().len());
        best.map_or("", |(_, kind)| kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deepest_and_latest_mount_counts() {
        let mounts = Mounts::parse(
            "1 0 8:1 / / rw - ext4 /dev/sda rw\n2 1 0:9 / /home rw shared:1 - nfs4 s:/ rw\n\
             3 2 0:8 / /home/a\\040b rw - tmpfs none rw\n4 1 0:7 / /home rw - ceph x rw\nodd\n",
        );
        for (path, expected) in [
            ("/etc/x", "ext4"),
            ("/home/alice", "ceph"),
            ("/home/a b/c", "tmpfs"),
            ("/homes", "ext4"),
        ] {
            assert_eq!(mounts.file_system_of(path), expected, "{path}");
        }
        assert_eq!(Mounts::parse("").file_system_of("/"), "");
    }
}
