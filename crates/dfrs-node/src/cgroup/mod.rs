//! The kernel's control groups, as Slurm lays them out.
//!
//! One trait, two implementations, each rooted at a path so that tests can use a directory. Nothing
//! here decides anything, and nothing is written outside the directories of Slurm's jobs.

pub mod files;
pub mod scope;
mod sluid;
pub mod trust;
pub mod v1;
pub mod v2;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use crate::quota::Quota;

/// A file of a control group that cannot be read or written; one line.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} {path}: {source}")]
pub struct CgroupError {
    /// `read`, `write`, …
    pub doing: &'static str,
    /// The file.
    pub path: String,
    /// What the kernel said.
    pub source: std::io::Error,
}

/// A job's directory, below the root of a hierarchy (v1 has the same path in each).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobDirectory {
    /// Slurm's job id.
    pub id: u32,
    /// As `slurm_n1/uid_1000/job_17` or `system.slice/n1_slurmstepd.scope/job_17`.
    pub path: PathBuf,
}

/// The directory with a step's user processes, and only these: what may be frozen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepDirectory {
    /// As `step_batch`.
    pub name: String,
    /// Below the root of the hierarchy.
    pub path: PathBuf,
}

/// Whether processes are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freezer {
    /// They run.
    Thawed,
    /// They shall stop, and some have not yet (a process in the kernel may take its time).
    Freezing,
    /// All are stopped.
    Frozen,
}

/// What a job used, as far as the kernel tells.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CpuUse {
    /// CPU time, in seconds.
    pub used_seconds: Option<f64>,
    /// Time in which its cap held it back, in seconds summed over CPUs.
    pub throttled_seconds: Option<f64>,
}

/// What a job has in memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// Bytes in RAM, page cache included.
    pub resident: Option<u64>,
    /// Bytes in swap.
    pub swapped: Option<u64>,
}

impl MemoryUse {
    /// Bytes in RAM and in swap: of a frozen job the same before and after a reclaim, but for file
    /// pages, which go without swap. Where the kernel does not tell what is in swap, those in RAM.
    pub fn total(&self) -> Option<u64> {
        let swapped = self.swapped.unwrap_or(0);
        self.resident
            .map(|resident| resident.saturating_add(swapped))
    }
}

/// How readily the kernel swaps unless it is told otherwise. With 0 a reclaim of a group takes its file
/// pages and nothing else.
const USUAL_SWAPPINESS: u8 = 60;

/// Control groups of one version.
pub trait Cgroups: Send {
    /// `v1` or `v2`.
    fn version(&self) -> &'static str;

    /// All jobs that have processes on this node now, by id. O(users + jobs).
    ///
    /// # Errors
    ///
    /// If Slurm's directories are there and cannot be read.
    fn jobs(&mut self) -> Result<Vec<JobDirectory>, CgroupError>;

    /// The cap in the kernel, if there is one.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    fn cap(&self, job: &JobDirectory) -> Result<Option<Quota>, CgroupError>;

    /// Sets or lifts the cap.
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    fn set_cap(&self, job: &JobDirectory, cap: Option<Quota>) -> Result<(), CgroupError>;

    /// Brings all user processes of the job under its cap, and tells how many were not. To be
    /// repeated: new ones appear at any time. O(processes of the job).
    ///
    /// # Errors
    ///
    /// If a process that still lives cannot be moved.
    fn gather(&self, job: &JobDirectory) -> Result<usize, CgroupError>;

    /// Lets the job's processes use all cores that Slurm has on this node, where Slurm has bound them to
    /// some (`ConstrainCores=yes`), and tells how many places were changed. To be repeated: Slurm binds each
    /// new step. O(steps of the job), and with v1 its processes.
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    fn unbind(&self, job: &JobDirectory) -> Result<usize, CgroupError>;

    /// Removes what was made for the cap of a job that has ended; true if nothing is left of it.
    fn forget(&self, job: &JobDirectory) -> bool;

    /// Jobs that have ended and of which something made by [`Cgroups::set_cap`] is left.
    ///
    /// # Errors
    ///
    /// If Slurm's directories are there and cannot be read.
    fn leftovers(&self) -> Result<Vec<JobDirectory>, CgroupError>;

    /// Lets the job's memory go to swap, or keeps it from there: then what is beyond the job's
    /// memory limit is the job's own trouble. False if it is not kept from there, because the job
    /// has no such limit (yet), or the kernel does not count swap.
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    fn set_swap_allowed(&self, job: &JobDirectory, allowed: bool) -> Result<bool, CgroupError>;

    /// The job's steps.
    ///
    /// # Errors
    ///
    /// If the job's directory cannot be read.
    fn steps(&self, job: &JobDirectory) -> Result<Vec<StepDirectory>, CgroupError>;

    /// Whether the step is held.
    ///
    /// # Errors
    ///
    /// If that cannot be read.
    fn freezer(&self, step: &StepDirectory) -> Result<Freezer, CgroupError>;

    /// Freezes or thaws the step, by the very file that Slurm's own suspend and resume use.
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    fn set_frozen(&self, step: &StepDirectory, frozen: bool) -> Result<(), CgroupError>;

    /// CPU time used.
    fn cpu_use(&self, job: &JobDirectory) -> CpuUse;

    /// Memory used.
    fn memory_use(&self, job: &JobDirectory) -> MemoryUse;

    /// Pushes the job's memory to swap as far as it goes, and tells how much was and is in RAM.
    /// Takes as long as the disk does: call it from a thread that has nothing else to do. Ends early
    /// when `cancel` is set, as soon as the kernel lets it.
    ///
    /// # Errors
    ///
    /// If the kernel cannot reclaim.
    fn reclaim(&self, job: &JobDirectory, cancel: &AtomicBool) -> Result<Reclaimed, CgroupError>;

    /// Whether this kernel can reclaim a job's memory at all.
    fn can_reclaim(&self) -> bool;

    /// Whether a reclaim would push nothing to swap, because `vm.swappiness` is 0 and this kernel takes no
    /// other for one reclaim.
    fn ignores_swap(&self) -> bool;

    /// Cores that the root of what we see may use; none: no limit.
    ///
    /// # Errors
    ///
    /// If a limit may be there and cannot be read.
    fn capacity_limit(&self) -> Result<Option<f64>, CgroupError>;

    /// CPUs that the root of what we see may run on, as `0-3,8`; none if that is not told.
    fn processors(&self) -> Option<String>;

    /// Bytes of swap that the root of what we see may use; none: no limit.
    ///
    /// # Errors
    ///
    /// If a limit may be there and cannot be read.
    fn swap_limit(&self) -> Result<Option<u64>, CgroupError>;

    /// Another handle, for another thread.
    fn share(&self) -> Box<dyn Cgroups>;
}

/// What a reclaim achieved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reclaimed {
    /// Bytes in RAM before.
    pub before: u64,
    /// Bytes in RAM after.
    pub after: u64,
}

/// Finds out which version is mounted at `root`, which Slurm uses too: v2 if it is there alone, v1
/// if there are hierarchies by controller (also beside a v2 that has no controllers, "hybrid").
///
/// # Errors
///
/// One line, if `root` is neither.
pub fn open(root: &Path, node: &str) -> Result<Box<dyn Cgroups>, String> {
    if root.join("cgroup.controllers").exists() {
        return Ok(Box::new(v2::CgroupV2::new(root, node)));
    }
    if root.join("freezer").is_dir() && root.join("cpu").is_dir() {
        return Ok(Box::new(v1::CgroupV1::new(root, node)));
    }
    Err(format!(
        "{}: neither cgroup v2 nor the v1 hierarchies cpu and freezer are mounted here; give --cgroup-root",
        root.display()
    ))
}

/// The number in a directory name like `job_17`.
fn numbered(name: &str, prefix: &str) -> Option<u32> {
    name.strip_prefix(prefix)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_names_count() {
        assert_eq!(numbered("job_17", "job_"), Some(17));
        assert_eq!(numbered("job_17x", "job_"), None);
        assert_eq!(numbered("job_", "job_"), None);
        assert_eq!(numbered("step_17", "job_"), None);
    }
}
