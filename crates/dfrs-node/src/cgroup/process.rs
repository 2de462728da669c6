//! What `/proc` shows of processes: their user, and of which job one is the `slurmstepd`.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::CgroupError;
use super::files::{self, failed};
use super::trust::is_trusted;

/// The value of `oom_score_adj` with which the kernel never ends a process for want of memory
/// (`OOM_SCORE_ADJ_MIN`), and the usual one.
const OOM_PROTECTED: i32 = -1000;
const OOM_DEFAULT: i32 = 0;

/// The processes that a `/proc` shows.
#[derive(Debug, Clone)]
pub struct ProcessTable {
    root: PathBuf,
}

impl ProcessTable {
    /// The table at `root`: `/proc` in earnest.
    pub fn new(root: &Path) -> Self {
        Self {
            root: root.to_path_buf(),
        }
    }

    /// Whether other users' processes are shown, too: with `hidepid` they may not be (proc(5)). Process 1
    /// belongs to root and never ends.
    pub fn is_complete(&self) -> bool {
        fs::read(self.file(1, "cmdline")).is_ok_and(|line| !line.is_empty())
    }

    /// Whether root's alone are all four of its user ids; none if it has ended or is not shown. A program of
    /// root's that a user started keeps that user's id as its real one.
    pub fn is_of_root(&self, process: u32) -> Option<bool> {
        let status = self.status(process)?;
        let own = rustix::process::geteuid().as_raw();
        Some([0, own].iter().any(|user| is_of_one_user(&status, *user)))
    }

    /// The process that started it.
    pub fn parent(&self, process: u32) -> Option<u32> {
        field(&self.status(process)?, "PPid:")?.parse().ok()
    }

    /// Bytes of huge pages that they use, which no memory group counts.
    pub fn huge_pages(&self, processes: &[u32]) -> u64 {
        let kibibytes = processes.iter().filter_map(|process| {
            let status = self.status(*process)?;
            let number = field(&status, "HugetlbPages:")?.strip_suffix(" kB")?;
            number.trim().parse::<u64>().ok()
        });
        let sum = kibibytes.fold(0, u64::saturating_add);
        sum.saturating_mul(1024)
    }

    /// The process's group in a controller's tree of v1; as `/proc/PID/cgroup` has it: lines of
    /// `4:cpu,cpuacct:/path`.
    pub fn group_of(&self, controller: &str, process: u32) -> Option<PathBuf> {
        let groups = files::read(&self.file(process, "cgroup")).ok()?;
        groups.lines().find_map(|line| {
            let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
            let is_it = controllers.split(',').any(|other| other == controller);
            is_it.then(|| PathBuf::from(path.trim_start_matches('/')))
        })
    }

    /// The job and the step of which the process is the `slurmstepd`, by the title that it gives
    /// itself. Only of what is root's alone: any user can give a process of their own this name,
    /// and start a program of root's under it.
    pub fn step_daemon_of(&self, process: u32) -> Option<(u32, String)> {
        let directory = self.root.join(process.to_string());
        is_trusted(&directory).ok().filter(|trusted| *trusted)?;
        let owner = fs::metadata(&directory).ok()?.uid();
        is_of_one_user(&self.status(process)?, owner).then_some(())?;
        step_of_title(&fs::read(directory.join("cmdline")).ok()?)
    }

    /// Whether some process is a `slurmstepd` of the job. O(processes).
    ///
    /// # Errors
    ///
    /// If the processes cannot be listed.
    pub fn has_step_daemon(&self, job: u32) -> Result<bool, CgroupError> {
        let entries = fs::read_dir(&self.root).map_err(failed("read", &self.root))?;
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut processes = names.filter_map(|name| name.parse().ok());
        Ok(processes.any(|process| {
            self.step_daemon_of(process)
                .is_some_and(|(of, _)| of == job)
        }))
    }

    /// Lets the kernel end the process for want of memory, or not. A process to which a user has
    /// given a value of their own keeps it: only root can give the one that protects.
    ///
    /// # Errors
    ///
    /// If the kernel refuses, as it does without `CAP_SYS_RESOURCE`.
    pub fn set_oom_killable(&self, process: u32, killable: bool) -> Result<(), CgroupError> {
        let file = self.file(process, "oom_score_adj");
        let (known, wanted) = match killable {
            true => (OOM_PROTECTED, OOM_DEFAULT),
            false => (OOM_DEFAULT, OOM_PROTECTED),
        };
        match files::read(&file) {
            Ok(text) if text.parse() == Ok(known) => {}
            _ => return Ok(()),
        }
        match files::write(&file, &wanted.to_string()) {
            Err(error) if has_ended(&error.source) => Ok(()),
            other => other,
        }
    }

    /// Ends the process (SIGKILL). One that is not there any more has ended.
    ///
    /// # Errors
    ///
    /// If the kernel refuses, as it does without `CAP_KILL`.
    pub fn end(&self, process: u32) -> io::Result<()> {
        // Numbers of another table are not the kernel's, and 0 is this daemon's own group.
        let number = i32::try_from(process).ok().filter(|number| *number > 1);
        let (Some(number), true) = (number, self.root == Path::new(PROC_ROOT)) else {
            return Ok(());
        };
        match kill(Pid::from_raw(number), Signal::SIGKILL) {
            Ok(()) | Err(Errno::ESRCH) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn status(&self, process: u32) -> Option<String> {
        fs::read_to_string(self.file(process, "status")).ok()
    }

    fn file(&self, process: u32, name: &str) -> PathBuf {
        self.root.join(process.to_string()).join(name)
    }
}

/// Where the kernel shows its processes.
const PROC_ROOT: &str = "/proc";

/// No such process (`ESRCH`): it ended after its file was opened, or before it could be moved.
const NO_SUCH_PROCESS: i32 = 3;

/// Whether that is why something could not be done with a process.
pub fn has_ended(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(NO_SUCH_PROCESS)
}

fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.map(str::trim)
}

/// Whether its real, effective, saved and file system's users are all this one.
fn is_of_one_user(status: &str, user: u32) -> bool {
    field(status, "Uid:").is_some_and(|line| {
        let mut users = line.split_whitespace();
        users.clone().count() == 4 && users.all(|word| word.parse() == Ok(user))
    })
}

/// The job and the step in `slurmstepd: [17.batch]`.
fn step_of_title(line: &[u8]) -> Option<(u32, String)> {
    let title = std::str::from_utf8(line.strip_prefix(b"slurmstepd: [")?).ok()?;
    let (job, rest) = title.split_once('.')?;
    // A title may be cut short by the room that there is for it.
    let step = rest.split([']', '\0']).next()?;
    Some((job.parse().ok()?, step.to_owned()))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::scratch::Scratch;

    /// A process of this user below `proc`.
    pub(crate) fn run_as(proc: &Path, process: u32, title: &str, user: u32) {
        let own = proc.join(process.to_string());
        fs::create_dir_all(&own).unwrap();
        let status = format!("Name:\tx\nPPid:\t1\nUid:\t{user}\t{user}\t{user}\t{user}\n");
        fs::write(own.join("status"), status).unwrap();
        fs::write(own.join("cmdline"), title).unwrap();
    }

    /// A process of the user that runs the test.
    pub(crate) fn run(proc: &Path, process: u32, title: &str) {
        run_as(proc, process, title, rustix::process::geteuid().as_raw());
    }

    #[test]
    fn process_is_root_only_when_all_its_users_are() {
        let scratch = Scratch::new();
        let table = ProcessTable::new(scratch.path());
        assert_eq!(table.is_of_root(5), None);
        run(scratch.path(), 5, "slurmstepd: [17.0]\0");
        assert_eq!(table.is_of_root(5), Some(true));
        run_as(scratch.path(), 6, "x", 65_534);
        assert_eq!(table.is_of_root(6), Some(false));
        let own = rustix::process::geteuid().as_raw();
        let started_by_a_user = format!("Uid:\t1000\t{own}\t{own}\t{own}\n");
        fs::write(scratch.path().join("5/status"), started_by_a_user).unwrap();
        assert_eq!(table.is_of_root(5), Some(false));
    }

    #[test]
    fn step_daemon_is_recognised_only_when_it_is_root() {
        let scratch = Scratch::new();
        let table = ProcessTable::new(scratch.path());
        run(scratch.path(), 5, "slurmstepd: [17.batch]\0\0");
        assert_eq!(table.step_daemon_of(5), Some((17, "batch".to_owned())));
        assert!(table.has_step_daemon(17).unwrap());
        assert!(!table.has_step_daemon(1).unwrap());
        run_as(scratch.path(), 5, "slurmstepd: [17.batch]\0\0", 65_534);
        assert_eq!(table.step_daemon_of(5), None);
        assert!(!table.has_step_daemon(17).unwrap());
        fs::write(scratch.path().join("5/status"), "").unwrap();
        assert_eq!(table.step_daemon_of(5), None);
        run(scratch.path(), 5, "slurmstepd: [17.batch]\0\0");
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(scratch.path().join("5"), Some(65_534), None).unwrap();
            assert_eq!(table.step_daemon_of(5), None);
        }
    }

    #[test]
    fn job_and_step_are_read_from_slurmstepd_titles() {
        let job = |title: &[u8]| step_of_title(title).map(|(job, _)| job);
        assert_eq!(job(b"slurmstepd: [4294967295.extern]"), Some(u32::MAX));
        assert_eq!(
            step_of_title(b"slurmstepd: [17.ba"),
            Some((17, "ba".to_owned()))
        );
        for title in [
            "slurmstepd: [x.0]",
            "slurmstepd: [17]",
            "slurmd: [17.0]",
            "slurmstepd: [17:namespace]",
        ] {
            assert_eq!(job(title.as_bytes()), None, "{title}");
        }
    }

    #[test]
    fn table_is_complete_when_it_shows_process_1() {
        let scratch = Scratch::new();
        let table = ProcessTable::new(scratch.path());
        assert!(!table.is_complete());
        run(scratch.path(), 1, "/sbin/init\0");
        assert!(table.is_complete());
    }

    #[test]
    fn huge_pages_are_read_in_bytes() {
        let scratch = Scratch::new();
        run(scratch.path(), 5, "x");
        let table = ProcessTable::new(scratch.path());
        assert_eq!(table.huge_pages(&[5]), 0);
        fs::write(
            scratch.path().join("5/status"),
            "Uid:\t1\t1\t1\t1\nHugetlbPages:\t    4096 kB\n",
        )
        .unwrap();
        assert_eq!(table.huge_pages(&[5]), 4 << 20);
    }

    #[test]
    fn only_default_oom_scores_are_changed_and_restored() {
        let scratch = Scratch::new();
        run(scratch.path(), 5, "x");
        let table = ProcessTable::new(scratch.path());
        let file = scratch.path().join("5/oom_score_adj");
        for (before, protected, after) in [("0", "-1000", "0"), ("500", "500", "500")] {
            fs::write(&file, before).unwrap();
            table.set_oom_killable(5, false).unwrap();
            assert_eq!(files::read(&file).unwrap(), protected);
            table.set_oom_killable(5, true).unwrap();
            assert_eq!(files::read(&file).unwrap(), after);
        }
        table.set_oom_killable(6, false).unwrap(); // has ended
    }
}
