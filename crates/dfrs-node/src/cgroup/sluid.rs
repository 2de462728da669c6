//! Whose directories of cgroup v2 are that have names by SLUID.
//!
//! Slurm 26.05 names a job's directory so, as `s21DM8A51TJE00`, unless cgroup.conf has
//! `CgroupJobIdPaths=yes` (`cgroup_p_step_create`). The name does not tell the job's id. The
//! `slurmstepd` of each of its steps does, in its command line: `slurmstepd: [17.batch]`
//! (`_set_job_log_prefix`). It is in the step's group `slurm`, where a user's epilog of a task may be, too.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::files;
use super::trust::is_trusted;

/// The first letter and 64 bits in base 32 (`print_sluid`).
const LENGTH: usize = 14;

/// Asks processes whose such directories are: each time, because one that no `slurmstepd` is in any more may
/// linger beside that of the job's next run.
#[derive(Debug, Clone)]
pub struct Sluids {
    proc: PathBuf,
}

impl Sluids {
    /// Looks at processes below `proc`: `/proc` in earnest.
    pub fn new(proc: &Path) -> Self {
        Self {
            proc: proc.to_path_buf(),
        }
    }

    /// The job whose directory this is, if its name is a SLUID and all that say so agree. What cannot be read
    /// belongs to a step that has ended.
    pub fn job(&self, name: &str, directory: &Path) -> Option<u32> {
        if !is_sluid(name) {
            return None;
        }
        let steps = files::subdirectories(directory).ok()?;
        let mut said = steps
            .iter()
            .filter(|(name, _)| name.starts_with("step_"))
            .filter_map(|(_, step)| files::own_processes(&step.join("slurm")).ok())
            .flatten()
            .filter_map(|process| self.job_of(process));
        let first = said.next()?;
        said.all(|job| job == first).then_some(first)
    }

    /// Of what root runs only, and not for others: anybody can give a process of his own this name, and start a
    /// program of root's under it.
    fn job_of(&self, process: u32) -> Option<u32> {
        let directory = self.proc.join(process.to_string());
        is_trusted(&directory).ok().filter(|trusted| *trusted)?;
        let status = fs::read_to_string(directory.join("status")).ok()?;
        is_of_one_user(&status, fs::metadata(&directory).ok()?.uid()).then_some(())?;
        job_of_title(&fs::read(directory.join("cmdline")).ok()?)
    }
}

/// Whether its real, effective, saved and file system's users are all this one.
fn is_of_one_user(status: &str, user: u32) -> bool {
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    line.is_some_and(|line| {
        let mut users = line.split_whitespace();
        users.clone().count() == 4 && users.all(|word| word.parse() == Ok(user))
    })
}

fn is_sluid(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    let rest = name.strip_prefix('s');
    name.len() == LENGTH && rest.is_some_and(|rest| rest.bytes().all(is_letter))
}

/// The job in `slurmstepd: [17.batch]`.
fn job_of_title(line: &[u8]) -> Option<u32> {
    let title = std::str::from_utf8(line.strip_prefix(b"slurmstepd: [")?).ok()?;
    title.split_once('.')?.0.parse().ok()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::scratch::Scratch;

    const NAME: &str = "s21DM8A51TJE00";

    /// A step of that directory whose slurmstepd is this process.
    fn step(scratch: &Scratch, step: &str, process: u32, title: &str) {
        let slurm = scratch.path().join(NAME).join(step).join("slurm");
        fs::create_dir_all(&slurm).unwrap();
        files::write(&slurm.join("cgroup.procs"), &format!("{process}\n")).unwrap();
        run(&scratch.path().join("proc"), process, title);
    }

    /// A process of the user that runs the test, as /proc shows it.
    pub fn run(proc: &Path, process: u32, title: &str) {
        let own = proc.join(process.to_string());
        fs::create_dir_all(&own).unwrap();
        let user = rustix::process::geteuid().as_raw();
        let status = format!("Name:\tslurmstepd\nUid:\t{user}\t{user}\t{user}\t{user}\n");
        fs::write(own.join("status"), status).unwrap();
        fs::write(own.join("cmdline"), title).unwrap();
    }

    fn job(scratch: &Scratch) -> Option<u32> {
        let sluids = Sluids::new(&scratch.path().join("proc"));
        sluids.job(NAME, &scratch.path().join(NAME))
    }

    #[test]
    fn a_directory_is_a_jobs_for_as_long_as_a_step_says_so() {
        let scratch = Scratch::new();
        step(
            &scratch,
            "step_batch",
            5,
            "/usr/sbin/slurmstepd\0infinity\0",
        );
        assert_eq!(job(&scratch), None);
        step(&scratch, "step_batch", 5, "slurmstepd: [17.batch]\0\0");
        assert_eq!(job(&scratch), Some(17));
        step(&scratch, "step_0", 6, "slurmstepd: [18.0]\0");
        assert_eq!(job(&scratch), None, "they disagree");
        step(&scratch, "step_0", 6, "slurmstepd: [17.0]\0");
        assert_eq!(job(&scratch), Some(17));
        fs::remove_dir_all(scratch.path().join("proc")).unwrap();
        assert_eq!(job(&scratch), None, "it lingers");
    }

    #[test]
    fn a_process_that_others_could_have_made_is_not_believed() {
        let scratch = Scratch::new();
        step(&scratch, "step_0", 6, "slurmstepd: [17.0]\0");
        let own = scratch.path().join("proc/6");
        let user = rustix::process::geteuid().as_raw();
        // A program of root's that a user started.
        fs::write(
            own.join("status"),
            format!("Uid:\t1000\t{user}\t{user}\t{user}\n"),
        )
        .unwrap();
        assert_eq!(job(&scratch), None);
        fs::write(own.join("status"), "").unwrap();
        assert_eq!(job(&scratch), None);
        step(&scratch, "step_0", 6, "slurmstepd: [17.0]\0");
        assert_eq!(job(&scratch), Some(17));
        if user == 0 {
            std::os::unix::fs::chown(&own, Some(65534), None).unwrap();
            assert_eq!(job(&scratch), None);
        }
    }

    #[test]
    fn names_and_titles_are_taken_as_a_whole() {
        assert!(is_sluid(NAME));
        for name in [
            "s21DM8A51TJE0",
            "s21DM8A51TJE000",
            "job_1234567890",
            "s21dm8a51tje00",
            "system",
        ] {
            assert!(!is_sluid(name), "{name}");
        }
        assert_eq!(
            job_of_title(b"slurmstepd: [4294967295.extern]"),
            Some(u32::MAX)
        );
        for title in [
            "slurmstepd: [x.0]",
            "slurmstepd: [17]",
            "slurmd: [17.0]",
            "slurmstepd: [17:namespace]",
        ] {
            assert_eq!(job_of_title(title.as_bytes()), None, "{title}");
        }
    }
}
