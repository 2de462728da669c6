//! Whose directories of cgroup v2 are that have names by SLUID.
//!
//! Slurm 26.05 names a job's directory so, as `s21DM8A51TJE00`, unless cgroup.conf has
//! `CgroupJobIdPaths=yes` (`cgroup_p_step_create`). The name does not tell the job's id. The
//! `slurmstepd` of each of its steps does, in its command line: `slurmstepd: [17.batch]`
//! (`_set_job_log_prefix`); it is alone in the step's group `slurm`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::files;
use super::trust::is_trusted;

/// The first letter and 64 bits in base 32 (`print_sluid`).
const LENGTH: usize = 14;

/// The jobs of such directories, which are asked for once each.
#[derive(Debug, Clone)]
pub struct Sluids {
    proc: PathBuf,
    known: BTreeMap<String, u32>,
}

impl Sluids {
    /// Looks at processes below `proc`: `/proc` in earnest.
    pub fn new(proc: &Path) -> Self {
        Self {
            proc: proc.to_path_buf(),
            known: BTreeMap::new(),
        }
    }

    /// Learns whose those are that were not there before, and forgets those that are gone. A job whose first
    /// `slurmstepd` has not said its name yet is found by a later call.
    pub fn look_at(&mut self, directories: &[(String, PathBuf)]) {
        let named: Vec<_> = directories
            .iter()
            .filter(|(name, _)| is_sluid(name))
            .collect();
        self.known
            .retain(|known, _| named.iter().any(|(name, _)| name == known));
        for (name, path) in named {
            if !self.known.contains_key(name) {
                let id = self.job_in(path);
                self.known.extend(id.map(|id| (name.clone(), id)));
            }
        }
    }

    /// The job whose directory has this name, as far as it is known.
    pub fn job(&self, name: &str) -> Option<u32> {
        self.known.get(name).copied()
    }

    /// What cannot be read belongs to a step that has ended: the next one tells.
    fn job_in(&self, directory: &Path) -> Option<u32> {
        let steps = files::subdirectories(directory).ok()?;
        let mut daemons = steps
            .iter()
            .filter(|(name, _)| name.starts_with("step_"))
            .filter_map(|(_, step)| files::processes(&step.join("slurm")).ok())
            .flatten();
        daemons.find_map(|process| self.job_of(process))
    }

    /// Of what root runs only: anybody can give a process of his own this name.
    fn job_of(&self, process: u32) -> Option<u32> {
        let directory = self.proc.join(process.to_string());
        is_trusted(&directory).ok().filter(|trusted| *trusted)?;
        job_of_title(&fs::read(directory.join("cmdline")).ok()?)
    }
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
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    const NAME: &str = "s21DM8A51TJE00";

    /// A step of that directory whose slurmstepd is this process.
    fn step(scratch: &Scratch, step: &str, process: u32, title: &str) -> Vec<(String, PathBuf)> {
        let slurm = scratch.path().join(NAME).join(step).join("slurm");
        fs::create_dir_all(&slurm).unwrap();
        files::write(&slurm.join("cgroup.procs"), &format!("{process}\n")).unwrap();
        let own = scratch.path().join("proc").join(process.to_string());
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("cmdline"), title).unwrap();
        vec![(NAME.to_owned(), scratch.path().join(NAME))]
    }

    fn sluids(scratch: &Scratch) -> Sluids {
        Sluids::new(&scratch.path().join("proc"))
    }

    #[test]
    fn a_step_says_whose_its_directory_is_as_soon_as_it_can() {
        let scratch = Scratch::new();
        let mut sluids = sluids(&scratch);
        let found = step(
            &scratch,
            "step_batch",
            5,
            "/usr/sbin/slurmstepd\0infinity\0",
        );
        sluids.look_at(&found);
        assert_eq!(sluids.job(NAME), None);
        step(&scratch, "step_batch", 5, "slurmstepd: [17.batch]\0\0");
        sluids.look_at(&found);
        assert_eq!(sluids.job(NAME), Some(17));
        // Asked once; and no longer known when it is gone.
        step(&scratch, "step_batch", 5, "slurmstepd: [18.batch]\0");
        sluids.look_at(&found);
        assert_eq!(sluids.job(NAME), Some(17));
        sluids.look_at(&[]);
        assert_eq!(sluids.job(NAME), None);
    }

    #[test]
    fn a_process_that_others_could_have_made_is_not_believed() {
        use std::os::unix::fs::PermissionsExt;
        let scratch = Scratch::new();
        let found = step(&scratch, "step_0", 6, "slurmstepd: [17.0]\0");
        let own = scratch.path().join("proc/6");
        fs::set_permissions(&own, fs::Permissions::from_mode(0o777)).unwrap();
        let mut sluids = sluids(&scratch);
        sluids.look_at(&found);
        assert_eq!(sluids.job(NAME), None);
        // Another step tells.
        sluids.look_at(&step(&scratch, "step_1", 7, "slurmstepd: [17.1]\0"));
        assert_eq!(sluids.job(NAME), Some(17));
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
