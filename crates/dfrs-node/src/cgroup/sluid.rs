//! To which job a directory of cgroup v2 belongs that has a name by SLUID.
//!
//! Slurm 26.05 names a job's directory so, as `s21DM8A51TJE00`, unless cgroup.conf has
//! `CgroupJobIdPaths=yes` (`cgroup_p_step_create`). The name does not contain the job's id. The
//! `slurmstepd` of each of its steps does, in its command line: `slurmstepd: [17.batch]`
//! (`_set_job_log_prefix`). It is in the step's group `slurm`, where a user's epilog of a task may
//! be, too.

use std::path::Path;

use super::CgroupError;
use super::files;
use super::process::ProcessTable;

/// The letter `s` and 64 bits in base 32 (`print_sluid`).
const LENGTH: usize = 14;

/// To which job a directory belongs whose name is a SLUID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// This job: all its `slurmstepd`s show its id.
    Job(u32),
    /// No job's any more: no process is in it. It may stay beside that of the job's next run.
    Ended,
    /// Unknown, though there are processes: the job is being started, or `/proc` does not show
    /// them.
    Unknown,
}

/// To which job this directory belongs; none if its name is no SLUID. To be repeated, as jobs end.
/// O(steps).
///
/// # Errors
///
/// If the directory, or a list of processes in it, cannot be read.
pub fn owner(
    name: &str,
    directory: &Path,
    processes: &ProcessTable,
) -> Result<Option<Owner>, CgroupError> {
    if !is_sluid(name) {
        return Ok(None);
    }
    let mut daemons = Vec::new();
    for (step, path) in files::subdirectories(directory)? {
        if step.starts_with("step_") {
            daemons.extend(files::own_processes(&path.join("slurm"))?);
        }
    }
    let mut jobs = daemons
        .iter()
        .filter_map(|process| processes.step_daemon_of(*process))
        .map(|(job, _)| job);
    let first = jobs.next();
    Ok(Some(match first {
        Some(job) if jobs.all(|other| other == job) => Owner::Job(job),
        None if files::processes(directory)?.is_empty() => Owner::Ended,
        _ => Owner::Unknown,
    }))
}

/// Whether a directory's name is a SLUID.
pub fn is_sluid(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    let rest = name.strip_prefix('s');
    name.len() == LENGTH && rest.is_some_and(|rest| rest.bytes().all(is_letter))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::process::tests::{run, run_as};
    use super::*;
    use crate::scratch::Scratch;

    const NAME: &str = "s21DM8A51TJE00";

    /// A step of that directory, with this process as its slurmstepd.
    fn step(scratch: &Scratch, step: &str, process: u32, title: &str) {
        let slurm = scratch.path().join(NAME).join(step).join("slurm");
        fs::create_dir_all(&slurm).unwrap();
        files::write(&slurm.join("cgroup.procs"), &format!("{process}\n")).unwrap();
        run(&scratch.path().join("proc"), process, title);
    }

    fn owner_of(scratch: &Scratch) -> Owner {
        let processes = ProcessTable::new(&scratch.path().join("proc"));
        let found = owner(NAME, &scratch.path().join(NAME), &processes);
        found.unwrap().unwrap()
    }

    #[test]
    fn directory_belongs_to_the_job_named_by_its_slurmstepds() {
        let scratch = Scratch::new();
        step(
            &scratch,
            "step_batch",
            5,
            "/usr/sbin/slurmstepd\0infinity\0",
        );
        assert_eq!(owner_of(&scratch), Owner::Unknown);
        step(&scratch, "step_batch", 5, "slurmstepd: [17.batch]\0\0");
        assert_eq!(owner_of(&scratch), Owner::Job(17));
        step(&scratch, "step_0", 6, "slurmstepd: [18.0]\0");
        assert_eq!(owner_of(&scratch), Owner::Unknown, "they disagree");
        step(&scratch, "step_0", 6, "slurmstepd: [17.0]\0");
        assert_eq!(owner_of(&scratch), Owner::Job(17));
        fs::remove_dir_all(scratch.path().join("proc")).unwrap();
        assert_eq!(owner_of(&scratch), Owner::Unknown, "/proc hides them");
        for step in ["step_batch", "step_0"] {
            let slurm = scratch.path().join(NAME).join(step).join("slurm");
            files::write(&slurm.join("cgroup.procs"), "").unwrap();
        }
        assert_eq!(owner_of(&scratch), Owner::Ended, "it lingers");
    }

    #[test]
    fn slurmstepd_title_of_a_user_process_is_ignored() {
        let scratch = Scratch::new();
        step(&scratch, "step_0", 6, "slurmstepd: [17.0]\0");
        let proc = scratch.path().join("proc");
        run_as(&proc, 6, "slurmstepd: [17.0]\0", 65_534);
        assert_eq!(owner_of(&scratch), Owner::Unknown);
    }

    #[test]
    fn unreadable_process_list_is_an_error() {
        let scratch = Scratch::new();
        step(&scratch, "step_0", 6, "slurmstepd: [17.0]\0");
        let list = scratch.path().join(NAME).join("step_0/slurm/cgroup.procs");
        fs::remove_file(&list).unwrap();
        fs::create_dir(&list).unwrap();
        let processes = ProcessTable::new(&scratch.path().join("proc"));
        assert!(owner(NAME, &scratch.path().join(NAME), &processes).is_err());
    }

    #[test]
    fn only_complete_sluids_match() {
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
    }
}
