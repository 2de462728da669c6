//! Finds the processes of a job that can be carried.
//!
//! `slurmstepd -- monitor -- init (PID 1 of the job's namespace) -- root (reap) -- batch script`
//!
//! All of them but `slurmstepd` run as the job's user, so nothing that a user can set is believed:
//! they are found by which process started which, by the program's file, which is root's, by
//! control groups, and by namespaces, which a user cannot make without a user namespace of their
//! own. A `slurmstepd` is one by these, too: a program that takes root's ids, as sudo, keeps the
//! title that its user gave it.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::groups;
use super::held::HeldProcess;
use super::procfs::{self, Process, ProcessStatus};
use crate::cgroup::process::ProcessTable;
use crate::cgroup::trust::is_trusted_down_to;
use crate::log;

/// The name of the carrier's program, perhaps with a version behind it.
const CARRIER: &str = "dfrs-carrier";
/// The name of Slurm's program that starts a batch script; Debian has an end of its own behind it.
const STEP_DAEMON: &str = "slurmstepd";
const DELETED: &str = " (deleted)";
/// Root's directories in which criu and what it loads are. In the job's mount namespace they must
/// be the node's own, as criu runs there as root.
const SYSTEM_DIRECTORIES: [&str; 3] = ["/", "/usr", "/etc"];
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// Namespaces of a job that are entered, and that root has made.
#[derive(Debug)]
pub struct Namespaces {
    /// Of mounts.
    pub mounts: File,
    /// Of PIDs.
    pub pids: File,
}

/// The processes between Slurm and the batch script of a job, by their numbers on the node.
#[derive(Debug)]
pub struct JobTree {
    /// Slurm's job id.
    pub job: u32,
    /// The job's user.
    pub uid: u32,
    /// How often the job was requeued before this run.
    pub restarts: u32,
    /// The task that Slurm knows.
    pub monitor: HeldProcess,
    /// PID 1 of the job's namespace.
    pub init: HeldProcess,
    /// The namespaces of that.
    pub namespaces: Namespaces,
    /// The process that is dumped, with all below it.
    pub root: u32,
    /// Its number in the namespace.
    pub root_pid: u32,
}

impl JobTree {
    /// The tree of a job that runs on this node.
    ///
    /// # Errors
    ///
    /// If it is not here, or was not started so that it can be carried; one line.
    pub fn find(job: u32) -> Result<JobTree, String> {
        let named = |text: &str| format!("{}: {text}", log::job(job));
        let processes = procfs::processes()?;
        let monitor = find_monitor(job, &processes).ok_or_else(|| {
            named("no batch script of it runs below dfrs-carrier on this node (plugstack.conf)")
        })?;
        let init = only_child(monitor.number(), &processes)
            .and_then(|init| HeldProcess::open(init).ok())
            .filter(|init| is_carrier(init) && is_first_of_namespace(init))
            .ok_or_else(|| named("its first process is not there (yet); try again"))?;
        let namespaces = open_namespaces(&monitor, &init).map_err(|error| named(&error))?;
        let root = only_child(init.number(), &processes)
            .ok_or_else(|| named("its batch script is not there (yet); try again"))?;
        let status = ProcessStatus::read(root);
        let (uid, root_pid) = status
            .and_then(|status| {
                let uid = status.numbers("Uid").first().copied()?;
                Some((uid, status.own_number()?))
            })
            .ok_or_else(|| named("its batch script has just ended"))?;
        Ok(JobTree {
            job,
            uid,
            restarts: restarts_of(&monitor).map_err(|error| named(&error))?,
            monitor,
            init,
            namespaces,
            root,
            root_pid,
        })
    }

    /// All processes in the job's PID namespace but its init, by their numbers on the node.
    ///
    /// # Errors
    ///
    /// If they cannot be listed.
    pub fn inside(&self) -> Result<Vec<u32>, String> {
        inside(&self.init)
    }
}

/// All processes in the PID namespace of an init but itself, by their numbers on the node.
///
/// # Errors
///
/// If they cannot be listed.
pub fn inside(init: &HeldProcess) -> Result<Vec<u32>, String> {
    let namespace = procfs::link(init, "ns/pid");
    let mut inside = procfs::processes()?;
    inside.retain(|process| {
        *process != init.number()
            && namespace.is_some()
            && procfs::link(*process, "ns/pid") == namespace
    });
    Ok(inside)
}

/// A process and all below it.
///
/// # Errors
///
/// If processes cannot be listed.
pub fn below(process: u32) -> Result<BTreeSet<u32>, String> {
    let parents: Vec<(u32, u32)> = procfs::processes()?
        .into_iter()
        .filter_map(|child| Some((child, ProcessStatus::read(child)?.parent()?)))
        .collect();
    let (mut found, mut queue) = (BTreeSet::new(), vec![process]);
    while let Some(process) = queue.pop() {
        if found.insert(process) {
            let children = parents.iter().filter(|(_, parent)| *parent == process);
            queue.extend(children.map(|(child, _)| *child));
        }
    }
    Ok(found)
}

/// The monitor of a job on this node of which nothing else is left, as after a dump.
pub fn lone_monitor(job: u32) -> Option<HeldProcess> {
    let processes = procfs::processes().ok()?;
    let monitor = find_monitor(job, &processes)?;
    let is_alone = children(monitor.number(), &processes).next().is_none();
    is_alone.then_some(monitor)
}

/// The namespaces of an init. It is refused if it does not belong to the monitor, or is in
/// namespaces that root did not make.
///
/// # Errors
///
/// What is wrong; a part of a line.
pub fn open_namespaces(monitor: &HeldProcess, init: &HeldProcess) -> Result<Namespaces, String> {
    let own = std::process::id();
    let open = |name: &str| {
        File::open(procfs::file(init, name))
            .map_err(|error| format!("process {}: {name}: {error}", init.number()))
    };
    let namespaces = Namespaces {
        mounts: open("ns/mnt")?,
        pids: open("ns/pid")?,
    };
    let parent = ProcessStatus::read(init).and_then(|status| status.parent());
    if parent != Some(monitor.number()) || !is_first_of_namespace(init) {
        return Err(format!(
            "process {} is not PID 1 below process {}",
            init.number(),
            monitor.number()
        ));
    }
    for directory in SYSTEM_DIRECTORIES {
        let inner = format!("root{directory}");
        if !procfs::is_same_file(&procfs::file(init, &inner), Path::new(directory)) {
            return Err(format!("{directory} is not the node's own in it"));
        }
    }
    // Last: a user's process that ever leaves the node's user namespace never comes back, and one
    // that is there has no right to make other namespaces, or enter them. The monitor, which was
    // the parent, is still the one that is held.
    for process in [monitor, init] {
        let namespace = procfs::link(process, "ns/user");
        if namespace.is_none() || namespace != procfs::link(own, "ns/user") {
            let number = process.number();
            return Err(format!("process {number} is in another user namespace"));
        }
    }
    Ok(namespaces)
}

fn find_monitor(job: u32, processes: &[u32]) -> Option<HeldProcess> {
    let table = ProcessTable::new(Path::new("/proc"));
    let mut found = processes.iter().filter_map(|process| {
        let daemon = table.parent(*process)?;
        let (of, step) = table.step_daemon_of(daemon)?;
        let monitor = HeldProcess::open(*process).ok()?;
        let is_it = of == job
            && step == "batch"
            && is_batch_daemon(&HeldProcess::open(daemon).ok()?, job, &monitor)
            && is_carrier(&monitor)
            && ProcessStatus::read(&monitor)?.parent() == Some(daemon);
        is_it.then_some(monitor)
    });
    found.next()
}

/// Whether it runs Slurm's program, in the control groups of the job that the process is of.
fn is_batch_daemon(daemon: impl Process, job: u32, process: impl Process) -> bool {
    let of_daemon = procfs::text(daemon, "cgroup").unwrap_or_default();
    let of_process = procfs::text(process, "cgroup").unwrap_or_default();
    program_of_root(daemon).is_some_and(|name| name.starts_with(STEP_DAEMON))
        && groups::is_of_batch_step(&of_daemon, &of_process, job)
}

/// Whether it runs the carrier.
pub fn is_carrier(process: impl Process) -> bool {
    program_of_root(process).is_some_and(|name| name.starts_with(CARRIER))
}

/// The name of the program that it runs, if only root can have put it there: a link by a user to
/// a file of root's is none. It may have been replaced meanwhile.
fn program_of_root(process: impl Process) -> Option<String> {
    let path = procfs::link(process, "exe")?;
    let path = Path::new(path.strip_suffix(DELETED).unwrap_or(&path));
    let file = fs::metadata(procfs::file(process, "exe")).ok()?;
    let directory = path.parent()?.strip_prefix("/").ok()?;
    let is_roots = file.uid() == 0
        && file.mode() & WRITABLE_BY_OTHERS == 0
        && is_trusted_down_to(Path::new("/"), directory).ok()?;
    let name = path.file_name()?.to_str()?;
    is_roots.then(|| name.to_owned())
}

fn is_first_of_namespace(process: impl Process) -> bool {
    let own = procfs::link(std::process::id(), "ns/pid");
    let namespace = procfs::link(process, "ns/pid");
    let number = ProcessStatus::read(process).and_then(|status| status.own_number());
    number == Some(1) && namespace.is_some() && namespace != own
}

/// The one child of a process that has not ended.
fn only_child(process: u32, processes: &[u32]) -> Option<u32> {
    let mut children = children(process, processes);
    let first = children.next()?;
    children.next().is_none().then_some(first)
}

fn children(process: u32, processes: &[u32]) -> impl Iterator<Item = u32> {
    processes.iter().copied().filter(move |child| {
        ProcessStatus::read(*child)
            .is_some_and(|status| status.parent() == Some(process) && status.state() != 'Z')
    })
}

/// How often the job had been requeued when this monitor was started, which says it on its command
/// line (`carrier/carrier.c`): `dfrs-carrier monitor INIT_PID FD RESTARTS`.
///
/// # Errors
///
/// If it does not; a part of a line.
pub fn restarts_of(monitor: &HeldProcess) -> Result<u32, String> {
    let line = procfs::text(monitor, "cmdline").unwrap_or_default();
    let number = line.split('\0').nth(4).and_then(|word| word.parse().ok());
    number.ok_or_else(|| {
        format!(
            "process {}: how often the job was requeued is not on its command line; was \
             dfrs-carrier replaced since?",
            monitor.number()
        )
    })
}

/// A variable in the text of `/proc/PID/environ`.
pub fn variable<'a>(environment: &'a str, name: &str) -> Option<&'a str> {
    let mut variables = environment.split('\0');
    variables.find_map(|variable| variable.strip_prefix(name)?.strip_prefix('='))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    #[test]
    fn variables_are_found_by_their_whole_name() {
        let environment = "A_B=1\0A=2=3\0AA=4\0";
        assert_eq!(variable(environment, "A"), Some("2=3"));
        assert_eq!(variable(environment, "B"), None);
        assert_eq!(variable("", "A"), None);
    }

    #[test]
    fn job_that_is_not_here_is_one_line() {
        let error = JobTree::find(4_000_000_000).unwrap_err();
        assert!(
            error.starts_with("JobId=4000000000: no batch script"),
            "{error}"
        );
        assert!(!error.contains('\n'));
    }

    #[test]
    fn this_process_is_no_init_of_another() {
        let own = std::process::id();
        let held = HeldProcess::open(own).unwrap();
        assert!(open_namespaces(&held, &held).is_err());
        assert!(lone_monitor(4_000_000_000).is_none());
        assert!(below(own).unwrap().contains(&own));
        assert!(!is_carrier(own) && !is_first_of_namespace(own));
        assert!(!is_batch_daemon(own, 7, own));
    }

    #[test]
    fn programs_are_roots_by_their_directories_too() {
        let program = |path: &Path| {
            let mut command = Command::new(path);
            let mut child = command.arg("60").spawn().unwrap();
            let name = program_of_root(child.id());
            child.kill().unwrap();
            child.wait().unwrap();
            name
        };
        let usual = fs::canonicalize("/bin/sleep").unwrap();
        let name = usual.file_name().unwrap().to_str().unwrap().to_owned();
        assert_eq!(program(&usual), Some(name));
        // As of a user who may link to a program of root's.
        let scratch = Scratch::new();
        let linked = scratch.path().join(STEP_DAEMON);
        fs::copy(&usual, &linked).unwrap();
        let others = Permissions::from_mode(0o777);
        fs::set_permissions(scratch.path(), others).unwrap();
        assert_eq!(program(&linked), None);
    }
}
