//! Whether a job can be carried: a judgement over facts, without looking at anything.
//!
//! When in doubt it cannot: a refused job goes on undisturbed, one whose restore fails is held.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use super::SitePolicy;
use super::facts::{FileFacts, FileKind, How, JobFacts, ProcessFacts, Thing, Use};
use super::sockets::SocketVerdict;
use crate::carry::criu::MAX_DELETED_FILE_BYTES;

/// A reason why a job cannot be carried, in words for its user.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Obstacle(String);

impl Obstacle {
    fn new(text: impl Into<String>) -> Obstacle {
        Obstacle(text.into())
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Namespaces that the job must share with its node; the others are its own from the start.
const SHARED_NAMESPACES: [&str; 4] = ["cgroup", "net", "user", "uts"];
/// Namespaces that are the job's own.
const OWN_NAMESPACES: [&str; 3] = ["ipc", "mnt", "pid"];
/// Descriptors without a path that criu restores.
const RESTORABLE: [&str; 4] = [
    "anon_inode:[eventpoll]",
    "anon_inode:[eventfd]",
    "anon_inode:[signalfd]",
    "anon_inode:[timerfd]",
];
/// What the kernel maps under names of its own, and criu knows.
const SHARED_MEMORY: [&str; 3] = ["/dev/zero", "/SYSV", "/memfd:"];
/// Where a restore makes deleted files again: the job has one of its own there by then, which no
/// other process sees.
const OWN_MEMORY_FILES: &str = "/dev/shm";
/// File systems that show the node itself.
const OF_THE_NODE: [&str; 13] = [
    "sysfs",
    "cgroup",
    "cgroup2",
    "mqueue",
    "hugetlbfs",
    "devpts",
    "debugfs",
    "tracefs",
    "bpf",
    "securityfs",
    "configfs",
    "pstore",
    "autofs",
];
/// Files of `/proc`, by the end of their path, in which the kernel shows root nothing that it does
/// not show all: criu opens them again as root.
const SHOWN_TO_ALL: [&str; 14] = [
    "cgroup",
    "cmdline",
    "comm",
    "cpuinfo",
    "filesystems",
    "limits",
    "loadavg",
    "meminfo",
    "mounts",
    "stat",
    "statm",
    "status",
    "uptime",
    "version",
];
/// File systems that other nodes do not see.
const LOCAL: [&str; 5] = ["tmpfs", "ramfs", "overlay", "squashfs", "iso9660"];
/// The major number of null, zero, full, random and urandom, and their minor ones.
const MEMORY_DEVICES: u64 = 1;
const HARMLESS_DEVICES: [u64; 5] = [3, 5, 7, 8, 9];

/// All reasons why the job cannot be carried, each once; none: it can be.
pub fn obstacles(facts: &JobFacts, policy: &SitePolicy) -> Vec<Obstacle> {
    let mut found = BTreeSet::new();
    match facts.nodes {
        Some(1) => {}
        Some(nodes) => drop(found.insert(Obstacle::new(format!("it has {nodes} nodes")))),
        None => drop(found.insert(Obstacle::new("its number of nodes is not known"))),
    }
    for step in &facts.steps {
        found.insert(Obstacle::new(format!("its step {step} runs (srun)")));
    }
    for process in &facts.outside {
        found.insert(Obstacle::new(format!(
            "{process} belongs to it and is outside of its batch script's namespace"
        )));
    }
    if facts.is_frozen {
        found.insert(Obstacle::new("it is frozen"));
    }
    for mount in &facts.own_mounts {
        found.insert(Obstacle::new(format!("it has mounted {mount}")));
    }
    found.extend(of_namespaces(facts));
    if facts.processes.is_empty() {
        found.insert(Obstacle::new("its processes cannot be seen"));
    }
    for process in &facts.processes {
        let name = format!("process {} ({})", process.pid, process.name);
        let mut reasons = of_process(process, facts);
        for used in &process.uses {
            reasons.extend(of_use(used, facts, policy));
        }
        for reason in reasons {
            found.insert(Obstacle::new(format!("{name} {reason}")));
        }
    }
    found.into_iter().collect()
}

fn of_namespaces(facts: &JobFacts) -> Vec<Obstacle> {
    let kind_of = |kind: &&str| {
        (
            facts.namespaces.get(*kind),
            facts.node_namespaces.get(*kind),
        )
    };
    let mut found = Vec::new();
    for kind in SHARED_NAMESPACES {
        let (job, node) = kind_of(&kind);
        if job.is_none() || job != node {
            found.push(Obstacle::new(format!(
                "its {kind} namespace is not the node's"
            )));
        }
    }
    for kind in OWN_NAMESPACES {
        let (job, node) = kind_of(&kind);
        if job.is_none() || job == node {
            found.push(Obstacle::new(format!(
                "it has no {kind} namespace of its own"
            )));
        }
    }
    found
}

fn of_process(process: &ProcessFacts, facts: &JobFacts) -> Vec<String> {
    let mut found = Vec::new();
    let mut add = |is_so: bool, text: &str| {
        if is_so {
            found.push(text.to_owned());
        }
    };
    // Of a zombie nothing but its end is left.
    if process.state == 'Z' {
        return found;
    }
    add(
        process.state == 'D',
        "waits for a device or a file server (state D); try again",
    );
    add(
        process.traced || process.state == 't',
        "is traced by a debugger",
    );
    add(
        process.no_new_privileges,
        "has given up new privileges (no_new_privs): perhaps a sandbox, as Landlock",
    );
    add(process.privileged, "has capabilities");
    add(
        process.uids.iter().any(|uid| *uid != facts.uid),
        "runs as another user",
    );
    add(process.terminal, "has a terminal");
    add(process.is_64_bit == Some(false), "is no 64-bit program");
    add(process.huge_bytes > 0, "uses huge pages");
    add(
        !process.has_usual_root,
        "has a root directory of its own (chroot)",
    );
    for (kind, namespace) in &facts.namespaces {
        let own = process.namespaces.get(kind);
        if own != Some(namespace) {
            found.push(format!("is in a {kind} namespace of its own"));
        }
    }
    if let Some(unseen) = &process.unseen {
        found.push(format!("cannot be looked at: {unseen}"));
    }
    found
}

fn of_use(used: &Use, facts: &JobFacts, policy: &SitePolicy) -> Option<String> {
    match &used.what {
        Thing::File(file) => of_file(used.how, file, facts.job, policy),
        Thing::Socket(inode) => match facts.sockets.judge(*inode) {
            SocketVerdict::Fine => None,
            SocketVerdict::Refused(reason) => Some(reason),
        },
        Thing::Pipe(inode) => facts
            .shared_pipes
            .contains(inode)
            .then(|| "has a pipe to a process outside of the job".to_owned()),
        Thing::Inotify { can_be_found } => (!can_be_found)
            .then(|| "watches files by inotify that cannot be found again".to_owned()),
        Thing::Unseen(path) => Some(format!(
            "uses {path}, which is on a user's own file system (FUSE), or one that is not mounted"
        )),
        Thing::Other(name) if RESTORABLE.contains(&name.as_str()) => None,
        Thing::Other(name) => Some(other_reason(name)),
    }
}

fn other_reason(name: &str) -> String {
    if name.contains("io_uring") {
        return "uses io_uring".to_owned();
    }
    let name = name.trim_start_matches("anon_inode:");
    format!("uses {}", name.trim_matches(['[', ']']))
}

fn of_file(how: How, file: &FileFacts, job: u32, policy: &SitePolicy) -> Option<String> {
    let path = &file.path;
    let verb = match how {
        How::Open => "has open",
        How::Mapped => "maps",
        How::Program => "runs",
        How::WorkingDirectory => "works in",
    };
    if path.contains("io_uring") {
        return Some("uses io_uring".to_owned());
    }
    if how == How::Mapped && (path.starts_with("/[aio]") || path.contains("hugepage")) {
        return Some(format!("uses {}", path.trim_start_matches('/')));
    }
    match file.kind {
        FileKind::Character(MEMORY_DEVICES, minor) if HARMLESS_DEVICES.contains(&minor) => {
            return None;
        }
        FileKind::Character(..) | FileKind::Special => {
            return Some(format!("{verb} the device {path}"));
        }
        // To open one waits for the other end, and what it holds is written to what is there by then.
        FileKind::Fifo => return Some(format!("{verb} the named pipe {path}")),
        FileKind::Regular | FileKind::Directory => {}
    }
    if file.deleted {
        return of_deleted(file, verb);
    }
    let file_system = file.file_system.as_str();
    if OF_THE_NODE.contains(&file_system) {
        return Some(format!(
            "{verb} {path}, which is the node's ({file_system})"
        ));
    }
    if file_system == "proc" {
        let is_alike = file.kind == FileKind::Directory || is_shown_to_all(path);
        return (!is_alike).then(|| format!("{verb} {path}, which criu would open as root"));
    }
    if is_script(path, job) {
        return None;
    }
    if !file.is_at_its_path {
        return Some(format!("{verb} {path}, which is another file by now"));
    }
    // The same on all nodes, as the programs of the system are.
    if file.is_systems || !is_local(file, policy) {
        return None;
    }
    Some(format!("{verb} {path}, which other nodes do not have"))
}

/// The file system of memory files of huge pages.
pub(super) const HUGE_PAGES: &str = "hugetlbfs";

fn is_shown_to_all(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    SHOWN_TO_ALL.contains(&name)
}

/// Whether the kernel shows memory by this path.
pub(super) fn is_memory(path: &str) -> bool {
    SHARED_MEMORY.iter().any(|name| path.starts_with(name))
}

fn of_deleted(file: &FileFacts, verb: &str) -> Option<String> {
    let path = &file.path;
    if is_memory(path) {
        let is_huge = file.file_system == HUGE_PAGES;
        return is_huge.then(|| format!("{verb} {path}, which has huge pages"));
    }
    if file.kind == FileKind::Directory {
        return Some(format!("{verb} the removed directory {path}"));
    }
    // criu makes it again by its name, as root, in a directory that may be another by then.
    let is_below = Path::new(path).parent() == Some(Path::new(OWN_MEMORY_FILES));
    if !is_below || file.file_system != "tmpfs" || file.links > 0 {
        return Some(format!("{verb} the deleted file {path}"));
    }
    if file.bytes > MAX_DELETED_FILE_BYTES {
        let (size, limit) = (file.bytes >> 20, MAX_DELETED_FILE_BYTES >> 20);
        return Some(format!(
            "{verb} the deleted file {path} of {size} MiB (limit {limit} MiB)"
        ));
    }
    None
}

/// The copy of the batch script in `SlurmdSpoolDir`: Slurm writes the same on each node.
pub fn is_script(path: &str, job: u32) -> bool {
    let mut parts = path.rsplit('/');
    let (name, directory) = (parts.next(), parts.next());
    let number = directory.and_then(|directory| directory.strip_prefix("job")?.parse().ok());
    name == Some("slurm_script") && number == Some(job)
}

fn is_local(file: &FileFacts, policy: &SitePolicy) -> bool {
    let is_below = |directory: &String| {
        let rest = file.path.strip_prefix(directory.trim_end_matches('/'));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    if policy.shared.iter().any(is_below) {
        return false;
    }
    // NFS keeps a deleted file by a name that goes with the process.
    file.path.contains("/.nfs")
        || LOCAL.contains(&file.file_system.as_str())
        || policy.local.iter().any(is_below)
}

#[cfg(test)]
mod tests;
