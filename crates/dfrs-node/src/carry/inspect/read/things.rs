//! Reads what a process has open, maps, runs and works in.

use nix::sys::stat::{major, minor};
use nix::sys::statfs::{HUGETLBFS_MAGIC, statfs};
use std::collections::BTreeSet;
use std::fs::{self, Metadata, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use nix::fcntl::OFlag;

use super::mounts::Mounts;
use crate::carry::inspect::facts::{FileFacts, FileKind, How, Thing, Use};
use crate::carry::inspect::judge::{HUGE_PAGES, is_memory};
use crate::carry::procfs;

const DELETED: &str = " (deleted)";
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// All things that a process uses.
///
/// # Errors
///
/// What cannot be looked at.
pub fn read(process: u32, mounts: &Mounts) -> Result<Vec<Use>, String> {
    let mut uses = Vec::new();
    for (name, how) in [("exe", How::Program), ("cwd", How::WorkingDirectory)] {
        uses.extend(linked(process, name, how, mounts)?);
    }
    let entries = fs::read_dir(procfs::file(process, "fd"));
    for entry in entries.map_err(|error| format!("fd: {error}"))? {
        let entry = entry.map_err(|error| format!("fd: {error}"))?;
        let name = format!("fd/{}", entry.file_name().to_string_lossy());
        uses.extend(linked(process, &name, How::Open, mounts)?);
    }
    let maps = procfs::text(process, "maps").map_err(|error| format!("maps: {error}"))?;
    let mut seen = BTreeSet::new();
    for line in maps.lines() {
        let Some((range, path)) = mapped_path(line) else {
            continue;
        };
        if seen.insert(path) {
            let name = format!("map_files/{}", plain_range(range));
            uses.push(match linked(process, &name, How::Mapped, mounts)? {
                Some(used) => used,
                // The mapping went meanwhile, or has no file behind it.
                None => Use {
                    how: How::Mapped,
                    what: Thing::Other(path.to_owned()),
                },
            });
        }
    }
    Ok(uses)
}

/// The range and the path of a line of `maps` that has a file, or what stands for one.
fn mapped_path(line: &str) -> Option<(&str, &str)> {
    let mut rest = line;
    let mut range = "";
    for field in 0..5 {
        let (word, behind) = rest.split_once(' ')?;
        if field == 0 {
            range = word;
        }
        rest = behind.trim_start();
    }
    // The stack, the heap and what has a name only.
    (!rest.is_empty() && !rest.starts_with('[')).then_some((range, rest))
}

/// A range as `map_files` has it: without the leading zeros of `maps`.
fn plain_range(range: &str) -> String {
    let plain = |end: &str| {
        let trimmed = end.trim_start_matches('0');
        if trimmed.is_empty() {
            "0".to_owned()
        } else {
            trimmed.to_owned()
        }
    };
    let (start, end) = range.split_once('-').unwrap_or((range, ""));
    format!("{}-{}", plain(start), plain(end))
}

/// What criu restores as one end only: a read from it would see the end of the pipe.
const BOTH_ENDS: &str = "both ends of a pipe by one descriptor";

/// What a link of a process leads to; none if it is gone.
fn linked(process: u32, name: &str, how: How, mounts: &Mounts) -> Result<Option<Use>, String> {
    let gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    let link = procfs::file(process, name);
    let target = match fs::read_link(&link) {
        Ok(target) => target.to_string_lossy().into_owned(),
        Err(error) if gone(&error) => return Ok(None),
        Err(error) => return Err(format!("{name}: {error}")),
    };
    let what = if target.starts_with('/') {
        match is_looked_at(&link, &target, how, mounts) {
            Ok(true) => {}
            Ok(false) => {
                return Ok(Some(Use {
                    how,
                    what: Thing::Unseen(target),
                }));
            }
            Err(error) if gone(&error) => return Ok(None),
            Err(error) => return Err(format!("{name}: {error}")),
        }
        match fs::metadata(&link) {
            Ok(found) => Thing::File(file(
                process,
                &target,
                &found,
                has_huge_pages(&link),
                mounts,
            )),
            Err(error) if gone(&error) => return Ok(None),
            Err(error) => return Err(format!("{name}: {error}")),
        }
    } else if let Some(inode) = inode(&target, "socket") {
        Thing::Socket(inode)
    } else if let Some(inode) = inode(&target, "pipe") {
        match is_both_ends(&link) {
            true => Thing::Other(BOTH_ENDS.to_owned()),
            false => Thing::Pipe(inode),
        }
    } else if target == "anon_inode:inotify" {
        let watches = procfs::text(process, &name.replacen("fd/", "fdinfo/", 1));
        Thing::Inotify {
            can_be_found: watches.is_ok_and(|text| can_be_found(&text)),
        }
    } else {
        Thing::Other(target)
    };
    Ok(Some(Use { how, what }))
}

/// Whether a descriptor is for reading and for writing: the permissions of its link say so.
fn is_both_ends(link: &Path) -> bool {
    fs::symlink_metadata(link).is_ok_and(|found| found.mode() & 0o600 == 0o600)
}

/// Whether what a link leads to is on a file system that answers: opened for nothing it is not asked.
fn is_looked_at(link: &Path, target: &str, how: How, mounts: &Mounts) -> io::Result<bool> {
    if mounts.is_a_users(target) {
        return Ok(false);
    }
    let mut options = OpenOptions::new();
    let file = options
        .read(true)
        .custom_flags(OFlag::O_PATH.bits())
        .open(link)?;
    let about = fs::read_to_string(format!("/proc/self/fdinfo/{}", file.as_raw_fd()))?;
    Ok(
        match mount_number(&about).and_then(|number| mounts.is_number_a_users(number)) {
            Some(is_a_users) => !is_a_users,
            // Memory is on no mount that is seen, nor, on some kernels, what is mapped of overlays.
            None => {
                is_memory(target)
                    || matches!(how, How::Mapped | How::Program)
                    || !target.starts_with('/')
            }
        },
    )
}

/// The number in the line `mnt_id:` of `/proc/PID/fdinfo`.
fn mount_number(about: &str) -> Option<u64> {
    let mut lines = about.lines();
    lines.find_map(|line| line.strip_prefix("mnt_id:")?.trim().parse().ok())
}

/// The inode in `socket:[4711]`.
pub fn inode(target: &str, kind: &str) -> Option<u64> {
    let rest = target.strip_prefix(kind)?.strip_prefix(":[")?;
    rest.strip_suffix(']')?.parse().ok()
}

/// Whether the file is memory in huge pages, which need not have a path.
fn has_huge_pages(link: &Path) -> bool {
    statfs(link).is_ok_and(|found| found.filesystem_type() == HUGETLBFS_MAGIC)
}

fn file(process: u32, target: &str, found: &Metadata, is_huge: bool, mounts: &Mounts) -> FileFacts {
    let by_path = fs::metadata(procfs::file(process, &format!("root{target}")));
    let is_at_its_path =
        by_path.is_ok_and(|other| (other.dev(), other.ino()) == (found.dev(), found.ino()));
    // A file may be called that.
    let deleted = !is_at_its_path && target.ends_with(DELETED);
    let path = if deleted {
        target.strip_suffix(DELETED)
    } else {
        None
    }
    .unwrap_or(target);
    let kind = kind_of(found);
    FileFacts {
        path: path.to_owned(),
        deleted,
        kind,
        bytes: found.len(),
        links: found.nlink(),
        // In a directory of root's users may make files; it itself is on all nodes.
        is_systems: found.uid() == 0
            && (kind == FileKind::Directory || found.mode() & WRITABLE_BY_OTHERS == 0),
        file_system: match is_huge {
            true => HUGE_PAGES.to_owned(),
            false => mounts.file_system_of(path).to_owned(),
        },
        is_at_its_path,
    }
}

fn kind_of(found: &Metadata) -> FileKind {
    let kind = found.file_type();
    if kind.is_file() {
        FileKind::Regular
    } else if kind.is_fifo() {
        FileKind::Fifo
    } else if kind.is_dir() {
        FileKind::Directory
    } else if kind.is_char_device() {
        let device = found.rdev();
        FileKind::Character(major(device), minor(device))
    } else {
        FileKind::Special
    }
}

/// Whether all watches in the text of `/proc/PID/fdinfo` have a handle, on a file system with a
/// device: NFS, tmpfs and overlays have none that another node could use.
fn can_be_found(text: &str) -> bool {
    let mut watches = text.lines().filter(|line| line.starts_with("inotify "));
    watches.all(|line| {
        let field = |name: &str| line.split(' ').find_map(|word| word.strip_prefix(name));
        let device = field("sdev:").and_then(|device| u64::from_str_radix(device, 16).ok());
        // Major and minor number, of 12 and 20 bits.
        device.is_some_and(|device| device >> 20 != 0) && field("f_handle:").is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;
    use std::fs::File;
    use std::os::unix::net::UnixStream;
    use std::path::Path;

    fn own_uses() -> Vec<Use> {
        let own = std::process::id();
        let mounts = Mounts::parse(&procfs::text(own, "mountinfo").unwrap());
        read(own, &mounts).unwrap()
    }

    fn files(uses: &[Use]) -> impl Iterator<Item = &FileFacts> {
        uses.iter().filter_map(|used| match &used.what {
            Thing::File(file) => Some(file),
            _ => None,
        })
    }

    #[test]
    fn pipe_that_is_open_for_both_differs_from_its_ends() {
        let (one, _other) = io::pipe().unwrap();
        let path = format!("/proc/self/fd/{}", one.as_raw_fd());
        let both = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .unwrap();
        let link = |file: i32| std::path::PathBuf::from(format!("/proc/self/fd/{file}"));
        assert!(!is_both_ends(&link(one.as_raw_fd())));
        assert!(is_both_ends(&link(both.as_raw_fd())));
        let uses = own_uses();
        let is_both = |used: &Use| used.what == Thing::Other(BOTH_ENDS.to_owned());
        assert!(uses.iter().any(is_both));
    }

    #[test]
    fn lines_of_maps_are_read() {
        let path = |line| mapped_path(line);
        assert_eq!(
            path("7f00-7f01 r--p 00000000 08:01 123      /lib/a b.so"),
            Some(("7f00-7f01", "/lib/a b.so"))
        );
        assert_eq!(path("7f00-7f01 rw-p 00000000 00:00 0 "), None);
        assert_eq!(
            path("7f00-7f01 rw-p 00000000 00:00 0          [heap]"),
            None
        );
        assert_eq!(path("x"), None);
        assert_eq!(plain_range("00400000-00401000"), "400000-401000");
    }

    #[test]
    fn open_deleted_and_mapped_files_are_found() {
        let scratch = Scratch::new();
        let (kept, gone) = (scratch.path().join("kept"), scratch.path().join("gone"));
        fs::write(&kept, "1").unwrap();
        fs::write(&gone, "123").unwrap();
        let _open = [File::open(&kept).unwrap(), File::open(&gone).unwrap()];
        fs::remove_file(&gone).unwrap();
        let _pair = UnixStream::pair().unwrap();
        let uses = own_uses();
        let found = |path: &Path| {
            files(&uses)
                .find(|file| Path::new(&file.path) == path)
                .cloned()
                .unwrap()
        };
        let (kept, gone) = (found(&kept), found(&gone));
        assert!(kept.is_at_its_path && !kept.deleted && !kept.file_system.is_empty());
        assert!(gone.deleted && gone.bytes == 3 && gone.links == 0);
        assert!(
            uses.iter()
                .any(|used| matches!(used.what, Thing::Socket(_)))
        );
        let own = std::env::current_exe().unwrap();
        for how in [How::Program, How::Mapped] {
            let mut of_kind = uses.iter().filter(|used| used.how == how);
            assert!(of_kind.any(|used| {
                matches!(&used.what, Thing::File(file) if Path::new(&file.path) == own)
            }));
        }
    }

    #[test]
    fn files_of_users_file_systems_are_not_looked_at() {
        let scratch = Scratch::new();
        let path = scratch.path().join("file");
        let file = File::create(&path).unwrap();
        let link = procfs::file(std::process::id(), &format!("fd/{}", file.as_raw_fd()));
        let about = fs::read_to_string(format!("/proc/self/fdinfo/{}", file.as_raw_fd())).unwrap();
        let number = mount_number(&about).unwrap();
        let target = path.to_str().unwrap();
        let looked =
            |how, mounts: &str| is_looked_at(&link, target, how, &Mounts::parse(mounts)).unwrap();
        let by_number =
            |kind: &str, place: &str| format!("{number} 0 0:5 / {place} rw - {kind} x rw\n");
        assert!(looked(How::Open, &by_number("ext4", "/")));
        assert!(!looked(How::Open, &by_number("fuse.x", "/")));
        assert!(!looked(How::Mapped, &by_number("fuse.x", "/elsewhere")));
        // Of a mount that is gone.
        assert!(!looked(How::Open, "") && looked(How::Mapped, ""));
    }

    #[test]
    fn devices_have_their_numbers() {
        let null = fs::metadata("/dev/null").unwrap();
        assert_eq!(kind_of(&null), FileKind::Character(1, 3));
    }

    #[test]
    fn watches_need_a_device_and_a_handle() {
        let good = "pos:\t0\ninotify wd:1 ino:2 sdev:800001 mask:2 fhandle-bytes:8 fhandle-type:1 f_handle:ab\n";
        assert!(can_be_found(good) && can_be_found("pos:\t0\n"));
        assert!(!can_be_found(
            "inotify wd:1 ino:2 sdev:2b mask:2 f_handle:ab\n"
        ));
        assert!(!can_be_found("inotify wd:1 ino:2 sdev:800001 mask:2\n"));
    }
}
