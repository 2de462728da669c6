//! The mounts of a process, and which file system a path is on.

use std::path::{Path, PathBuf};

/// The mounts of a process, in their order.
#[derive(Debug, Clone, Default)]
pub struct Mounts(Vec<JobMount>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct JobMount {
    id: u64,
    /// Device, directory of the file system, and source: what is mounted.
    what: [String; 3],
    point: PathBuf,
    kind: String,
    /// Of the file system.
    options: String,
}

/// What the plugin mounts for each job: kind, source and place.
const OF_THE_PLUGIN: [[&str; 3]; 2] = [
    ["proc", "proc", "/proc"],
    ["tmpfs", "dfrs-carry", "/dev/shm"],
];

impl JobMount {
    /// A line like `31 24 0:27 / /home rw shared:9 - nfs4 server:/home rw,hard`.
    fn parse(line: &str) -> Option<JobMount> {
        let (place, file_system) = line.split_once(" - ")?;
        let place: Vec<&str> = place.split(' ').collect();
        let mut file_system = file_system.split(' ');
        let (kind, source) = (file_system.next()?, file_system.next()?);
        Some(JobMount {
            id: place.first()?.parse().ok()?,
            what: [*place.get(2)?, *place.get(3)?, source].map(str::to_owned),
            // Blanks in a path are written as numbers.
            point: PathBuf::from(place.get(4)?.replace("\\040", " ")),
            kind: kind.to_owned(),
            options: file_system.next().unwrap_or_default().to_owned(),
        })
    }

    fn is_of_the_plugin(&self) -> bool {
        OF_THE_PLUGIN.iter().any(|[kind, source, point]| {
            self.kind == *kind && self.what[2] == *source && self.point == Path::new(point)
        })
    }

    /// Its files are what a program of a user's says. That of root's is as any file server.
    fn is_a_users(&self) -> bool {
        let is_fuse =
            self.kind == "fuse" || self.kind == "fuseblk" || self.kind.starts_with("fuse.");
        is_fuse && self.options.split(',').all(|option| option != "user_id=0")
    }
}

impl Mounts {
    /// From the text of `/proc/PID/mountinfo`.
    pub fn parse(text: &str) -> Mounts {
        Mounts(text.lines().filter_map(JobMount::parse).collect())
    }

    /// The type of the file system that an absolute path is on; empty if it is not known.
    pub fn file_system_of(&self, path: &str) -> &str {
        self.of(path).map_or("", |mount| mount.kind.as_str())
    }

    /// Whether an absolute path is on a file system of a user's.
    pub fn is_a_users(&self, path: &str) -> bool {
        self.of(path).is_some_and(JobMount::is_a_users)
    }

    /// Whether the mount of this number is one of a user's; none if it is not there.
    pub fn is_number_a_users(&self, number: u64) -> Option<bool> {
        let found = self.0.iter().find(|mount| mount.id == number)?;
        Some(found.is_a_users())
    }

    /// The places of mounts that are not those of another process, nor of the plugin.
    pub fn beside(&self, others: &Mounts) -> Vec<String> {
        let is_there = |mount: &JobMount| {
            let mut others = others.0.iter();
            others.any(|other| (&other.what, &other.point) == (&mount.what, &mount.point))
        };
        let own = self.0.iter();
        let own = own.filter(|mount| !is_there(mount) && !mount.is_of_the_plugin());
        own.map(|mount| mount.point.display().to_string()).collect()
    }

    /// Of several mounts in one place the last counts.
    fn of(&self, path: &str) -> Option<&JobMount> {
        let mounts = self.0.iter();
        let found = mounts.filter(|mount| Path::new(path).starts_with(&mount.point));
        found.max_by_key(|mount| mount.point.as_os_str().len())
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

    #[test]
    fn file_systems_of_users_are_known() {
        let mounts = Mounts::parse(
            "1 0 0:5 / / rw - fuse.overlay x rw,user_id=0,group_id=0\n\
             2 1 0:9 / /home/a rw - fuse.sshfs s rw,user_id=1000,group_id=0\n\
             3 1 0:10 / /b rw - fuseblk /dev/sdb rw,user_id=10\n4 1 0:11 / /c rw - ext4 x rw\n",
        );
        let is_a_users = |path| mounts.is_a_users(path);
        assert!(is_a_users("/home/a/x") && is_a_users("/b"));
        assert!(!is_a_users("/x") && !is_a_users("/c/x"));
        let by_number = |number| mounts.is_number_a_users(number);
        assert_eq!(
            [by_number(1), by_number(2), by_number(9)],
            [Some(false), Some(true), None]
        );
    }

    #[test]
    fn mounts_of_the_job_are_those_that_slurm_has_not() {
        let of_slurm = "1 0 8:1 / / rw - ext4 /dev/sda rw\n2 1 0:9 / /proc rw - proc proc rw\n";
        let of_job = "11 0 8:1 / / rw master:1 - ext4 /dev/sda rw\n\
            12 1 0:9 / /proc rw - proc proc rw\n13 1 0:30 / /proc rw - proc proc rw\n\
            14 1 0:31 / /dev/shm rw - tmpfs dfrs-carry rw\n";
        let beside =
            |more: &str| Mounts::parse(&format!("{of_job}{more}")).beside(&Mounts::parse(of_slurm));
        assert!(beside("").is_empty());
        for (line, place) in [
            (
                "15 1 0:40 / /home/a/m rw - fuse.x x rw,user_id=1000\n",
                "/home/a/m",
            ),
            (
                "15 1 8:1 /home/b /home/a rw - ext4 /dev/sda rw\n",
                "/home/a",
            ),
            ("15 1 0:41 / /home/a rw - tmpfs dfrs-carry rw\n", "/home/a"),
        ] {
            assert_eq!(beside(line), [place]);
        }
    }
}
