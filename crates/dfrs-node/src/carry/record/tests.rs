use std::fs::{self, File};
use std::path::Path;

use super::*;
use crate::scratch::Scratch;

const GROUPS: &str = "0::/job_7/step_batch\n";

fn file(path: &str) -> FileRecord {
    FileRecord {
        path: path.to_owned(),
        access: 4,
        mode: 0o100_644,
        uid: 1000,
        gid: 1000,
        inode: 77,
        device: 0,
        links: 1,
    }
}

fn thread() -> ThreadRecord {
    let field = |name: &str, numbers: &[u32]| (name.to_owned(), numbers.to_vec());
    ThreadRecord {
        ids: BTreeMap::from([field("Uid", &[1000; 4]), field("Groups", &[1000, 27])]),
        capabilities: BTreeMap::from([("CapEff".to_owned(), 0), ("CapBnd".to_owned(), 0xff)]),
        limits: BTreeMap::from([field("NoNewPrivs", &[0]), field("Seccomp", &[0])]),
        groups: GROUPS.to_owned(),
    }
}

fn process() -> ProcessRecord {
    ProcessRecord {
        pid: 301,
        threads: BTreeMap::from([(301, thread()), (302, thread())]),
        files: BTreeMap::from([
            ("cwd".to_owned(), file("/home/alice")),
            ("fd/3".to_owned(), file("/home/alice/in")),
            ("exe".to_owned(), file("/usr/bin/x")),
        ]),
        mapped: BTreeSet::from([file("/home/alice/map"), file("/usr/lib/x.so")]),
    }
}

/// What is said after this change of what was restored.
fn restored(change: impl FnOnce(&mut ProcessRecord)) -> Result<(), String> {
    let mut now = process();
    change(&mut now);
    check(&[process()], &[now], GROUPS, &|path| {
        path.starts_with("/usr")
    })
}

fn with_file(name: &str, change: impl FnOnce(&mut FileRecord)) -> Result<(), String> {
    restored(|now| change(now.files.get_mut(name).unwrap()))
}

#[test]
fn the_same_is_let_go_on() {
    assert_eq!(restored(|_| ()), Ok(()));
    // Less is nothing that a user could gain by.
    assert_eq!(restored(|now| drop(now.files.remove("fd/3"))), Ok(()));
    assert_eq!(with_file("fd/3", |file| file.access = 0), Ok(()));
}

#[test]
fn another_file_in_its_place_is_found() {
    for (change, expected) in [
        (
            (|file| file.path = "/home/bob/secret".to_owned()) as fn(&mut FileRecord),
            "process 301: fd/3: /home/bob/secret was not there",
        ),
        (|file| file.inode = 78, "/home/alice/in is another file"),
        (|file| file.uid = 0, "is another file"),
        (|file| file.gid = 0, "is another file"),
        (|file| file.mode = 0o100_600, "is another file"),
        (|file| file.mode = 0o010_644, "is another file"),
        (|file| file.access = 6, "was not opened in this way"),
    ] {
        let error = with_file("fd/3", change).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    assert!(with_file("cwd", |file| file.inode = 1).is_err());
    let more = restored(|now| drop(now.files.insert("fd/4".to_owned(), file("/home/alice/in"))));
    assert!(
        more.unwrap_err()
            .contains("fd/4: /home/alice/in was not there")
    );
    let mapped = restored(|now| {
        now.mapped.insert(file("/etc/shadow"));
    });
    assert!(
        mapped
            .unwrap_err()
            .contains("maps /etc/shadow was not there")
    );
}

#[test]
fn files_of_the_system_have_other_inodes_on_another_node() {
    assert_eq!(with_file("exe", |file| file.inode = 1), Ok(()));
    assert!(with_file("exe", |file| file.mode |= 0o4000).is_err());
    assert!(with_file("exe", |file| file.uid = 0).is_err());
}

#[test]
fn devices_and_processes_are_known_by_what_they_are() {
    let place = |path: &str, mode: u32, device: u64, inode: u64| {
        let mut place = process();
        let file = place.files.get_mut("fd/3").unwrap();
        file.path = path.to_owned();
        (file.mode, file.device, file.inode) = (mode, device, inode);
        place
    };
    let compare =
        |then: ProcessRecord, now: ProcessRecord| check(&[then], &[now], GROUPS, &|_| false);
    let null = |device, inode| place("/dev/null", 0o020_666, device, inode);
    assert_eq!(compare(null(3, 1), null(3, 2)), Ok(()));
    assert!(compare(null(3, 1), null(4, 1)).is_err());
    let status = |mode, inode| place("/proc/301/status", mode, 0, inode);
    let mut of_roots = status(0o100_444, 2);
    of_roots.files.get_mut("fd/3").unwrap().uid = 0;
    assert_eq!(compare(status(0o100_444, 1), of_roots), Ok(()));
    assert!(compare(status(0o100_444, 1), status(0o100_400, 1)).is_err());
}

#[test]
fn memory_is_opened_by_no_path() {
    let memory = |path: &str, links: u64| {
        with_file("fd/3", |file| {
            (file.path, file.links) = (path.to_owned(), links)
        })
    };
    assert_eq!(memory("/memfd:x (deleted)", 0), Ok(()));
    assert_eq!(memory("/dev/shm/x (deleted)", 0), Ok(()));
    for (path, links) in [
        ("/memfd:x (deleted)", 1),
        ("/memfd:x", 0),
        ("/home/x (deleted)", 0),
        ("/dev/shm/x", 1),
    ] {
        assert!(memory(path, links).is_err(), "{path}");
    }
}

#[test]
fn threads_may_do_no_more_than_before() {
    let with_thread =
        |change: fn(&mut ThreadRecord)| restored(|now| change(now.threads.get_mut(&302).unwrap()));
    for (change, expected) in [
        (
            (|thread| drop(thread.ids.insert("Uid".to_owned(), vec![1000, 0, 0, 0])))
                as fn(&mut ThreadRecord),
            "process 301: thread 302 has other users or groups",
        ),
        (
            |thread| {
                thread.capabilities.insert("CapEff".to_owned(), 1);
            },
            "more capabilities (CapEff)",
        ),
        (
            |thread| {
                thread.capabilities.insert("CapBnd".to_owned(), 0x1ff);
            },
            "more capabilities (CapBnd)",
        ),
        (
            |thread| drop(thread.limits.insert("Seccomp".to_owned(), vec![2])),
            "Seccomp",
        ),
        (
            |thread| thread.groups = "0::/\n".to_owned(),
            "other control groups",
        ),
    ] {
        let error = with_thread(change).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    let fewer = with_thread(|thread| {
        thread.capabilities.insert("CapBnd".to_owned(), 0xf);
    });
    assert_eq!(fewer, Ok(()));
    assert!(restored(|now| drop(now.threads.insert(303, thread()))).is_err());
    assert!(
        restored(|now| now.pid = 9)
            .unwrap_err()
            .contains("process 9: was not in it")
    );
}

#[test]
fn this_process_is_recorded_with_how_its_files_are_open() {
    let scratch = Scratch::new();
    let path = scratch.path().join("file");
    let writing = File::create(&path).unwrap();
    let reading = File::open(&path).unwrap();
    let own = read(std::process::id()).unwrap().unwrap();
    let access = |file: &File| {
        use std::os::fd::AsRawFd;
        own.files[&format!("fd/{}", file.as_raw_fd())].access
    };
    assert_eq!((access(&writing), access(&reading)), (2, 4));
    let program = std::env::current_exe().unwrap();
    assert_eq!(Path::new(&own.files["exe"].path), program);
    assert!(
        own.mapped
            .iter()
            .any(|file| Path::new(&file.path) == program)
    );
    assert_eq!(own.threads[&own.pid].ids["Uid"].len(), 4);
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap();
    let text = serde_json::to_string(&own).unwrap();
    let mut again: ProcessRecord = serde_json::from_str(&text).unwrap();
    again.threads.clear();
    let mut now = own.clone();
    now.threads.clear();
    assert_eq!(check(&[again], &[now], &groups, &|_| false), Ok(()));
    assert!(read(u32::MAX).unwrap().is_none());
}
