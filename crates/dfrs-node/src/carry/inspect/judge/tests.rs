use std::collections::BTreeMap;

use super::*;
use crate::carry::inspect::sockets::{Protocol, SocketTable};

fn namespaces(of: &str) -> BTreeMap<&'static str, String> {
    let shared = ["cgroup", "net", "time", "user", "uts"].map(|kind| (kind, "node".to_owned()));
    let own = OWN_NAMESPACES.map(|kind| (kind, of.to_owned()));
    shared.into_iter().chain(own).collect()
}

fn file(path: &str) -> FileFacts {
    FileFacts {
        path: path.to_owned(),
        deleted: false,
        kind: FileKind::Regular,
        bytes: 100,
        links: 1,
        is_systems: false,
        file_system: "nfs4".to_owned(),
        is_at_its_path: true,
    }
}

fn process() -> ProcessFacts {
    ProcessFacts {
        pid: 12,
        name: "node".to_owned(),
        state: 'S',
        traced: false,
        uids: BTreeSet::from([1000]),
        privileged: false,
        no_new_privileges: false,
        terminal: false,
        is_64_bit: Some(true),
        bytes: 1 << 20,
        huge_bytes: 0,
        namespaces: namespaces("job"),
        has_usual_root: true,
        unseen: None,
        uses: Vec::new(),
    }
}

/// A job of one process, which can be carried.
fn job(change: impl FnOnce(&mut JobFacts)) -> Vec<String> {
    let mut facts = JobFacts {
        job: 17,
        uid: 1000,
        nodes: Some(1),
        namespaces: namespaces("job"),
        node_namespaces: namespaces("node"),
        processes: vec![process()],
        ..JobFacts::default()
    };
    change(&mut facts);
    let policy = SitePolicy::new(&["/tmp/shared".to_owned()], &["/scratch/".to_owned()]);
    obstacles(&facts, &policy)
        .iter()
        .map(Obstacle::to_string)
        .collect()
}

fn with_process(change: impl FnOnce(&mut ProcessFacts)) -> Vec<String> {
    job(|facts| change(&mut facts.processes[0]))
}

fn using(how: How, what: Thing) -> Vec<String> {
    with_process(|process| process.uses.push(Use { how, what }))
}

fn using_file(how: How, path: &str, change: impl FnOnce(&mut FileFacts)) -> Vec<String> {
    let mut file = file(path);
    change(&mut file);
    using(how, Thing::File(file))
}

#[test]
fn ordinary_job_can_be_carried() {
    assert_eq!(job(|_| {}), Vec::<String>::new());
}

#[test]
fn jobs_of_several_nodes_or_steps_are_refused() {
    assert_eq!(job(|facts| facts.nodes = Some(3)), ["it has 3 nodes"]);
    assert_eq!(
        job(|facts| facts.nodes = None),
        ["its number of nodes is not known"]
    );
    assert_eq!(
        job(|facts| facts.steps = vec!["0".to_owned()]),
        ["its step 0 runs (srun)"]
    );
    let outside = job(|facts| facts.outside = vec!["process 9 (sshd)".to_owned()]);
    assert!(outside[0].starts_with("process 9 (sshd) belongs to it"));
    assert_eq!(job(|facts| facts.is_frozen = true), ["it is frozen"]);
    assert_eq!(
        job(|facts| facts.own_mounts = vec!["/home/alice/m".to_owned()]),
        ["it has mounted /home/alice/m"]
    );
    let fuse = using(How::Open, Thing::Unseen("/home/alice/m/x".to_owned()));
    assert!(fuse[0].contains("uses /home/alice/m/x, which is on a user's own"));
    assert_eq!(
        job(|facts| facts.processes.clear()),
        ["its processes cannot be seen"]
    );
}

#[test]
fn namespaces_are_the_nodes_or_the_jobs_own() {
    let own_network = job(|facts| drop(facts.namespaces.insert("net", "x".to_owned())));
    assert!(own_network.contains(&"its net namespace is not the node's".to_owned()));
    let shared_ipc = job(|facts| {
        facts.namespaces.insert("ipc", "node".to_owned());
        facts.processes[0]
            .namespaces
            .insert("ipc", "node".to_owned());
    });
    assert_eq!(shared_ipc, ["it has no ipc namespace of its own"]);
    let inner = with_process(|process| drop(process.namespaces.insert("user", "x".to_owned())));
    assert_eq!(
        inner,
        ["process 12 (node) is in a user namespace of its own"]
    );
}

#[test]
fn each_property_of_a_process_has_its_reason() {
    type Change = fn(&mut ProcessFacts);
    let cases: [(Change, &str); 10] = [
        (|process| process.state = 'D', "state D"),
        (|process| process.traced = true, "traced"),
        (|process| process.no_new_privileges = true, "no_new_privs"),
        (|process| process.privileged = true, "capabilities"),
        (|process| process.uids.extend([0]), "another user"),
        (|process| process.terminal = true, "terminal"),
        (|process| process.is_64_bit = Some(false), "64-bit"),
        (|process| process.huge_bytes = 1, "huge pages"),
        (|process| process.has_usual_root = false, "chroot"),
        (
            |process| process.unseen = Some("fd: denied".to_owned()),
            "fd: denied",
        ),
    ];
    for (change, reason) in cases {
        let found = with_process(change);
        assert!(
            found.len() == 1 && found[0].contains(reason),
            "{found:?} {reason}"
        );
        assert!(found[0].starts_with("process 12 (node) "));
    }
    let zombie = with_process(|process| {
        process.state = 'Z';
        process.namespaces.clear();
        process.has_usual_root = false;
    });
    assert!(zombie.is_empty(), "{zombie:?}");
}

#[test]
fn the_same_reason_is_given_once() {
    let twice = with_process(|process| {
        let what = Thing::Other("anon_inode:[io_uring]".to_owned());
        let used = Use {
            how: How::Open,
            what,
        };
        process.uses = vec![used.clone(), used];
    });
    assert_eq!(twice, ["process 12 (node) uses io_uring"]);
}

#[test]
fn descriptors_that_criu_knows_are_fine() {
    for name in RESTORABLE {
        assert!(using(How::Open, Thing::Other(name.to_owned())).is_empty());
    }
    for (name, reason) in [
        ("anon_inode:[perf_event]", "uses perf_event"),
        ("anon_inode:[userfaultfd]", "uses userfaultfd"),
        ("pidfd:[12]", "uses pidfd"),
        ("mnt:[4026531840]", "uses mnt"),
    ] {
        let found = using(How::Open, Thing::Other(name.to_owned()));
        assert!(found[0].contains(reason), "{found:?}");
    }
    assert!(using(How::Open, Thing::Inotify { can_be_found: true }).is_empty());
    assert_eq!(
        using(
            How::Open,
            Thing::Inotify {
                can_be_found: false
            }
        )
        .len(),
        1
    );
}

#[test]
fn pipes_have_to_stay_within_the_job() {
    assert!(using(How::Open, Thing::Pipe(5)).is_empty());
    let shared = job(|facts| {
        facts.shared_pipes.insert(5);
        let what = Thing::Pipe(5);
        facts.processes[0].uses.push(Use {
            how: How::Open,
            what,
        });
    });
    assert_eq!(
        shared,
        ["process 12 (node) has a pipe to a process outside of the job"]
    );
}

#[test]
fn sockets_are_judged_by_their_peers() {
    let line = "0: 0100007F:1F90 00000000:0000 0A 0:0 0:0 0 1000 0 5 1\n";
    let with = |inode| {
        job(|facts| {
            facts.sockets = SocketTable::default();
            facts.sockets.add_internet(Protocol::Tcp, line);
            let what = Thing::Socket(inode);
            facts.processes[0].uses.push(Use {
                how: How::Open,
                what,
            });
        })
    };
    assert!(with(5).is_empty());
    assert!(with(6)[0].contains("socket of a kind"));
}

#[test]
fn devices_are_refused_but_those_without_state() {
    let device = |major, minor| {
        using_file(How::Open, "/dev/x", |file| {
            file.kind = FileKind::Character(major, minor)
        })
    };
    for minor in HARMLESS_DEVICES {
        assert!(device(1, minor).is_empty());
    }
    for (major, minor) in [(1, 1), (5, 0), (136, 2), (195, 0)] {
        assert_eq!(
            device(major, minor),
            ["process 12 (node) has open the device /dev/x"]
        );
    }
    let pipe = using_file(How::Open, "/home/x", |file| file.kind = FileKind::Fifo);
    assert_eq!(pipe, ["process 12 (node) has open the named pipe /home/x"]);
    let block = using_file(How::Open, "/dev/sda", |file| file.kind = FileKind::Special);
    assert_eq!(block.len(), 1);
}

#[test]
fn files_have_to_be_on_all_nodes() {
    let on = |path: &str, file_system: &str| {
        using_file(How::Open, path, |file| {
            file.file_system = file_system.to_owned()
        })
    };
    for (path, file_system) in [
        ("/home/alice/x", "nfs4"),
        ("/home/alice/x", "ext4"),
        ("/tmpfile", "ext4"),
        ("/tmp/shared/x", "tmpfs"),
        ("/proc/12/status", "proc"),
        ("/proc/stat", "proc"),
        ("/var/spool/slurmd/job00017/slurm_script", "overlay"),
    ] {
        assert!(on(path, file_system).is_empty(), "{path}");
    }
    for (path, file_system) in [
        ("/proc/kallsyms", "proc"),
        ("/proc/12/pagemap", "proc"),
        ("/tmp/x", "ext4"),
        ("/tmp", "ext4"),
        ("/scratch/x", "xfs"),
        ("/var/spool/slurmd/job00018/slurm_script", "ext4"),
        ("/opt/x", "overlay"),
        ("/mnt/x", "tmpfs"),
        ("/dev/shm/x", "tmpfs"),
        ("/sys/x", "sysfs"),
        ("/q", "mqueue"),
    ] {
        assert_eq!(on(path, file_system).len(), 1, "{path}");
    }
    let program = using_file(How::Program, "/tmp/a.out", |_| {});
    assert_eq!(
        program,
        ["process 12 (node) runs /tmp/a.out, which other nodes do not have"]
    );
    let systems = using_file(How::Mapped, "/usr/lib/x.so", |file| {
        (file.file_system, file.is_systems) = ("overlay".to_owned(), true);
    });
    assert!(systems.is_empty());
    let replaced = using_file(How::Open, "/home/x", |file| file.is_at_its_path = false);
    assert!(replaced[0].contains("another file by now"));
}

#[test]
fn deleted_files_go_along_only_if_their_directory_is_the_jobs() {
    let deleted = |path: &str, change: fn(&mut FileFacts)| {
        using_file(How::Open, path, |file| {
            (file.deleted, file.is_at_its_path, file.links) = (true, false, 0);
            change(file);
        })
    };
    let in_memory = |bytes: u64, path: &str| {
        using_file(How::Mapped, path, |file| {
            (file.deleted, file.is_at_its_path, file.links) = (true, false, 0);
            file.bytes = bytes;
            file.file_system = "tmpfs".to_owned();
        })
    };
    assert!(in_memory(MAX_DELETED_FILE_BYTES, "/dev/shm/x").is_empty());
    assert!(in_memory(65 << 20, "/dev/shm/x")[0].contains("of 65 MiB"));
    for path in ["/dev/shm/a/x", "/dev/shmx", "/tmp/x"] {
        assert_eq!(in_memory(0, path).len(), 1, "{path}");
    }
    let linked = using_file(How::Open, "/dev/shm/x", |file| {
        (file.deleted, file.is_at_its_path) = (true, false);
        file.file_system = "tmpfs".to_owned();
    });
    assert_eq!(linked.len(), 1, "another name is left");
    for path in ["/home/x", "/tmp/x", "/dev/shm/x"] {
        let found = deleted(path, |_| {});
        assert_eq!(
            found,
            [format!(
                "process 12 (node) has open the deleted file {path}"
            )]
        );
    }
    assert!(deleted("/memfd:x", |file| file.bytes = 1 << 30).is_empty());
    assert!(deleted("/SYSV00000001", |_| {}).is_empty());
    let huge = deleted("/memfd:x", |file| file.file_system = HUGE_PAGES.to_owned());
    assert_eq!(
        huge,
        ["process 12 (node) has open /memfd:x, which has huge pages"]
    );
    assert_eq!(
        using_file(How::Open, "/home/.nfs0001", |_| {}).len(),
        1,
        "NFS keeps it by this name"
    );
    assert_eq!(
        deleted("/home/d", |file| file.kind = FileKind::Directory).len(),
        1
    );
}

#[test]
fn memory_of_special_kinds_is_refused() {
    for (path, reason) in [
        ("/[aio]", "uses [aio]"),
        ("/anon_hugepage", "uses anon_hugepage"),
    ] {
        let found = using_file(How::Mapped, path, |file| file.deleted = true);
        assert_eq!(found, [format!("process 12 (node) {reason}")]);
    }
    let mapped = Thing::Other("anon_inode:[io_uring]".to_owned());
    assert_eq!(
        using(How::Mapped, mapped),
        ["process 12 (node) uses io_uring"]
    );
}
