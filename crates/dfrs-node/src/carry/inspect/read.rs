//! Reads the facts about a job from `/proc`. Nothing here decides anything.

mod mounts;
mod process;
mod things;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::facts::{JobFacts, Thing};
use super::sockets::{Protocol, SocketTable};
use super::unix_peers;
use crate::carry::cgroups;
use crate::carry::groups::JobGroups;
use crate::carry::procfs::{self, ProcessStatus};
use crate::carry::tree::{JobTree, variable};
use crate::cgroup::process::ProcessTable;
use mounts::Mounts;

/// Steps of which every job has one: its batch script, and what Slurm keeps beside it.
const USUAL_STEPS: [&str; 2] = ["batch", "extern"];

/// What criu runs while it dumps and restores TCP connections.
const PACKET_FILTERS: [&str; 2] = ["/usr/sbin/iptables-restore", "/usr/sbin/ip6tables-restore"];
/// Namespaces that are in the image.
const RESTORED_NAMESPACES: [&str; 2] = ["ipc", "time"];

/// All facts about a job, or, if criu has all of it stopped, with these processes of its own.
///
/// # Errors
///
/// If the node's processes cannot be listed.
pub fn facts(tree: &JobTree, criu: Option<&BTreeSet<u32>>) -> Result<JobFacts, String> {
    let is_of_criu = |process: &u32| criu.is_some_and(|own| own.contains(process));
    let mut everything = procfs::processes()?;
    everything.retain(|process| !is_of_criu(process));
    let mut inside = tree.inside()?;
    inside.retain(|process| !is_of_criu(process));
    let mounts = Mounts::parse(&procfs::text(&tree.init, "mountinfo").unwrap_or_default());
    let mut processes: Vec<_> = inside
        .iter()
        .filter_map(|process| process::read(*process, tree, &mounts))
        .collect();
    if criu.is_some() {
        // There is no other tracer beside it.
        processes.iter_mut().for_each(|process| {
            process.traced = false;
            process.state = if process.state == 'Z' { 'Z' } else { 'T' };
        });
    }
    let daemon = ProcessStatus::read(&tree.monitor).and_then(|status| status.parent());
    let of_daemon = daemon.and_then(|daemon| procfs::text(daemon, "mountinfo").ok());
    let of_daemon = Mounts::parse(&of_daemon.unwrap_or_default());
    let things = processes.iter().flat_map(|process| &process.uses);
    let (mut sockets, mut pipes) = (BTreeSet::new(), BTreeSet::new());
    for used in things {
        match used.what {
            Thing::Socket(inode) => drop(sockets.insert(inode)),
            Thing::Pipe(inode) => drop(pipes.insert(inode)),
            _ => {}
        }
    }
    let strangers: Vec<u32> = everything
        .iter()
        .copied()
        .filter(|process| !inside.contains(process))
        .collect();
    Ok(JobFacts {
        job: tree.job,
        uid: tree.uid,
        nodes: nodes_of(&inside),
        steps: running_steps(tree.job, &everything),
        outside: outside(tree, &strangers),
        is_frozen: cgroups::is_frozen(tree.root)?,
        own_mounts: mounts.beside(&of_daemon),
        namespaces: usual_namespaces(tree),
        node_namespaces: procfs::namespaces(std::process::id()),
        sockets: socket_table(tree, &sockets),
        shared_pipes: pipes_of(&strangers, &pipes),
        processes,
    })
}

/// The namespaces of the job: those of its first process, but for two, of which criu makes new ones
/// when it restores a tree: these are the root's.
fn usual_namespaces(tree: &JobTree) -> BTreeMap<&'static str, String> {
    let mut namespaces = procfs::namespaces(&tree.init);
    let of_root = procfs::namespaces(tree.root);
    for kind in RESTORED_NAMESPACES {
        match of_root.get(kind) {
            Some(namespace) => drop(namespaces.insert(kind, namespace.clone())),
            None => drop(namespaces.remove(kind)),
        }
    }
    namespaces
}

/// `SLURM_JOB_NUM_NODES` of the job's processes: the largest, if they differ.
fn nodes_of(inside: &[u32]) -> Option<u32> {
    let counts = inside.iter().filter_map(|process| {
        let environment = procfs::text(*process, "environ").ok()?;
        variable(&environment, "SLURM_JOB_NUM_NODES")?.parse().ok()
    });
    counts.max()
}

fn running_steps(job: u32, everything: &[u32]) -> Vec<String> {
    let table = ProcessTable::new(Path::new("/proc"));
    let mut steps: Vec<String> = everything
        .iter()
        .filter_map(|process| table.step_daemon_of(*process))
        .filter(|(of, step)| *of == job && !USUAL_STEPS.contains(&step.as_str()))
        .map(|(_, step)| step)
        .collect();
    steps.sort();
    steps.dedup();
    steps
}

/// The job's processes, by its control groups, that a dump would leave out: what a plugin or a
/// session by ssh has started.
fn outside(tree: &JobTree, strangers: &[u32]) -> Vec<String> {
    let Ok(groups) = procfs::text(&tree.monitor, "cgroup") else {
        return vec!["its monitor".to_owned()];
    };
    let groups = JobGroups::of_batch_step(&groups);
    let table = ProcessTable::new(Path::new("/proc"));
    let own = [tree.monitor.number(), tree.init.number()];
    let found = strangers.iter().filter(|process| !own.contains(process));
    let found = found.filter_map(|process| {
        let status = ProcessStatus::read(*process)?;
        // Root's are Slurm's, and a child of slurmstepd is a task that it waits for.
        let is_slurms = status.numbers("Uid").iter().all(|uid| *uid == 0)
            || table.step_daemon_of(status.parent()?).is_some();
        let is_jobs = groups.has(&procfs::text(*process, "cgroup").ok()?);
        (is_jobs && !is_slurms).then(|| format!("process {process} ({})", status.field("Name")))
    });
    found.collect()
}

fn socket_table(tree: &JobTree, own: &BTreeSet<u64>) -> SocketTable {
    let mut table = SocketTable::default();
    if own.is_empty() {
        return table;
    }
    let text = |name: &str| procfs::text(&tree.init, &format!("net/{name}")).unwrap_or_default();
    for (protocol, names) in [
        (Protocol::Tcp, ["tcp", "tcp6"]),
        (Protocol::Udp, ["udp", "udp6"]),
    ] {
        names
            .iter()
            .for_each(|name| table.add_internet(protocol, &text(name)));
    }
    table.add_unix(&text("unix"));
    if PACKET_FILTERS
        .iter()
        .all(|program| Path::new(program).exists())
    {
        table.set_holds_packets();
    }
    if let Ok(peers) = unix_peers::read() {
        table.set_peers(peers);
    }
    own.iter().for_each(|inode| table.own(*inode));
    table
}

/// Which of the job's pipes one of these processes has open, too.
fn pipes_of(processes: &[u32], pipes: &BTreeSet<u64>) -> BTreeSet<u64> {
    let mut found = BTreeSet::new();
    if pipes.is_empty() {
        return found;
    }
    for process in processes {
        for descriptor in procfs::names(*process, "fd") {
            let target = procfs::link(*process, &format!("fd/{descriptor}"));
            if let Some(inode) = target
                .as_deref()
                .and_then(|target| things::inode(target, "pipe"))
                && pipes.contains(&inode)
            {
                found.insert(inode);
            }
        }
    }
    found
}
