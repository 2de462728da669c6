//! The kernel's control groups, as Slurm lays them out.
//!
//! One trait, two implementations, each rooted at a path so that tests can use a directory. Nothing
//! here decides anything, and nothing is written outside of Slurm's own directories.

pub mod core_set;
pub mod files;
pub mod process;
pub mod scope;
pub mod sluid;
pub mod trust;
pub mod v1;
pub mod v2;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::log;
use crate::quota::Quota;
use core_set::CoreSet;
use process::ProcessTable;

/// A file of a control group that cannot be read or written; one line.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} {path}: {source}")]
pub struct CgroupError {
    /// `read`, `write`, …
    pub doing: &'static str,
    /// The file.
    pub path: String,
    /// The kernel's error.
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
    /// The processes run.
    Thawed,
    /// The processes shall stop, and some have not yet (a process in the kernel may take its time).
    Freezing,
    /// All are stopped.
    Frozen,
}

/// What a job used, as far as the kernel reports it.
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
    pub resident_bytes: Option<u64>,
    /// Bytes in swap.
    pub swapped_bytes: Option<u64>,
}

impl MemoryUse {
    /// Bytes in RAM and in swap: of a frozen job the same before and after a reclaim, but for file
    /// pages, which go without swap. Where the kernel does not report what is in swap, those in
    /// RAM.
    pub fn total(&self) -> Option<u64> {
        let swapped = self.swapped_bytes.unwrap_or(0);
        self.resident_bytes
            .map(|resident| resident.saturating_add(swapped))
    }
}

/// How readily the kernel swaps by default. With 0 a reclaim of a group takes its file pages and
/// nothing else.
const DEFAULT_SWAPPINESS: u8 = 60;

/// Control groups of one version.
pub trait CgroupDriver: Send {
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

    /// Brings all user processes of the job under its cap, and returns how many were not. To be
    /// repeated: new ones appear at any time. O(p log p) for p processes of the job.
    ///
    /// # Errors
    ///
    /// If a process that still lives cannot be moved.
    fn gather(&self, job: &JobDirectory) -> Result<usize, CgroupError>;

    /// The cores to which Slurm has bound the job (`ConstrainCores=yes`), if it has a process: Slurm may
    /// leave directories of jobs that have ended. Empty: it is bound to none. O(steps of the job).
    ///
    /// # Errors
    ///
    /// If it is bound and that cannot be read.
    fn bound_cores(&self, job: &JobDirectory) -> Result<CoreSet, CgroupError>;

    /// Lets the job's processes use all cores that Slurm has on this node but those that are `held`, where Slurm
    /// has bound them to some (`ConstrainCores=yes`), and returns how many places were changed. All, if none is
    /// left. To be repeated: Slurm binds each new step. O(steps of the job), and with v1 its processes.
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    fn unbind(&self, job: &JobDirectory, held: &CoreSet) -> Result<usize, CgroupError>;

    /// Removes what [`CgroupDriver::unbind`] has made, where no process is in it.
    fn remove_unused_groups(&self);

    /// Removes what was made for the cap of a job that has ended; true if nothing is left of it.
    fn forget(&self, job: &JobDirectory) -> bool;

    /// Jobs that have ended and of which something made by [`CgroupDriver::set_cap`] is left.
    ///
    /// # Errors
    ///
    /// If Slurm's directories are there and cannot be read.
    fn leftovers(&self) -> Result<Vec<JobDirectory>, CgroupError>;

    /// Lets the job's memory go to swap, or keeps it from there: then what is beyond the job's
    /// memory limit is the job's own problem. False if it is not kept from there, because the job
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

    /// Brings the job's user processes that are in no step, as seen from the freezer, into one: so they are
    /// frozen, and ended, with it. Slurm runs a task's epilog and helpers of SPANK plugins beside its own
    /// `slurmstepd`. Returns how many are left outside; with `bring` false it only counts. Root's own
    /// processes stay where they are. O(processes of the job outside of its steps).
    ///
    /// # Errors
    ///
    /// If a list of processes cannot be read, or a process that still lives cannot be moved.
    fn enclose(&self, job: &JobDirectory, bring: bool) -> Result<usize, CgroupError>;

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

    /// The job's memory limit; none: it has none.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    fn memory_limit(&self, job: &JobDirectory) -> Result<Option<u64>, CgroupError>;

    /// Sets the job's memory limit, or lifts it. Lowering it below what is in RAM takes as long as the disk does,
    /// and where that fails v1 refuses (`EBUSY`) and v2 ends processes of the job.
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    fn set_memory_limit(&self, job: &JobDirectory, limit: Option<u64>) -> Result<(), CgroupError>;

    /// Holds the memory of the job's tasks to what they have and `margin` bytes more in all, or lifts that. What the
    /// job's own limit leaves beyond is its `slurmstepd`'s, whatever else is touched that counts for the job: one
    /// that gets no memory fails in the middle of a system call (`EFAULT`) and answers no request any more. Slurm itself
    /// limits jobs and steps, and no tasks. O(tasks of the job).
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    fn hold_tasks(&self, job: &JobDirectory, margin: Option<u64>) -> Result<(), CgroupError>;

    /// Whether the kernel may end processes of the job when its memory limit leaves no other way.
    /// Where it may not, a process that needs the memory waits or is refused it: also a process of
    /// another job that touches pages that count for this one. O(1) with v1, O(processes of the
    /// job) with v2.
    ///
    /// # Errors
    ///
    /// If the kernel refuses, as v2 does without `CAP_SYS_RESOURCE`.
    fn set_oom_killable(&self, job: &JobDirectory, killable: bool) -> Result<(), CgroupError>;

    /// Bytes of huge pages of the job's processes, which its memory does not count. O(processes of the job).
    ///
    /// # Errors
    ///
    /// If its processes cannot be listed.
    fn huge_pages(&self, job: &JobDirectory) -> Result<u64, CgroupError>;

    /// Pushes the job's memory to swap as far as it goes, and returns how much was and is in RAM.
    /// Takes as long as the disk does: call it from a thread that has nothing else to do. Ends
    /// early when `cancel` is set, after one piece at most, or at once if the thread gets a signal.
    /// With v1 the job's memory limit is left at what its memory was pushed to.
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

    /// Why there may be processes of jobs here that are not seen, as far as the last call of
    /// [`CgroupDriver::jobs`] found; none: all are seen.
    ///
    /// # Errors
    ///
    /// If that cannot be looked up.
    fn unseen_processes(&self) -> Result<Option<String>, CgroupError>;

    /// Cores that the root of what we see may use; none: no limit.
    ///
    /// # Errors
    ///
    /// If a limit may be there and cannot be read.
    fn capacity_limit(&self) -> Result<Option<f64>, CgroupError>;

    /// CPUs that the root of what we see may run on, as `0-3,8`; none if that is unknown.
    fn processors(&self) -> Option<String>;

    /// Bytes of swap that the root of what we see may use; none: no limit.
    ///
    /// # Errors
    ///
    /// If a limit may be there and cannot be read.
    fn swap_limit(&self) -> Result<Option<u64>, CgroupError>;

    /// Ends all processes of the job that are not root's alone (SIGKILL); how many there were.
    ///
    /// # Errors
    ///
    /// If they cannot be listed or ended.
    fn end_processes(&self, job: &JobDirectory) -> Result<usize, CgroupError>;

    /// Bytes of memory that the root of what we see may use; none: no limit.
    ///
    /// # Errors
    ///
    /// If a limit may be there and cannot be read.
    fn memory_capacity(&self) -> Result<Option<u64>, CgroupError>;

    /// Another handle, for another thread.
    fn share(&self) -> Box<dyn CgroupDriver>;
}

/// What a reclaim achieved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reclaimed {
    /// Bytes in RAM before.
    pub before_bytes: u64,
    /// Bytes in RAM after.
    pub after_bytes: u64,
}

/// Finds out which version is mounted at `root`, which Slurm uses too: v2 if it is there alone, v1
/// if there are hierarchies by controller (also beside a v2 that has no controllers, "hybrid").
///
/// # Errors
///
/// One line, if `root` is neither.
pub fn open(root: &Path, node: &str) -> Result<Box<dyn CgroupDriver>, String> {
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

/// Memory is reclaimed in pieces of this size, so that a thaw need not wait for all of it.
const PIECE_BYTES: u64 = 64 << 20;
/// A reclaim has ended when this many pieces in a row achieved next to nothing.
const FRUITLESS_PIECES: u32 = 3;
/// Next to nothing, in bytes.
const MIN_PROGRESS_BYTES: u64 = 128 << 10;

/// Reclaims piece by piece, from `resident_bytes()` bytes on, until nothing more can be had or `cancel` is set: `piece`
/// is given what is in RAM and how much of it shall go, and may fail to get it.
fn reclaim_in_pieces(
    cancel: &AtomicBool,
    resident: impl Fn() -> Result<u64, CgroupError>,
    mut piece: impl FnMut(u64, u64) -> Result<(), CgroupError>,
) -> Result<Reclaimed, CgroupError> {
    let before = resident()?;
    let (mut after, mut fruitless) = (before, 0);
    while after > 0 && fruitless < FRUITLESS_PIECES && !cancel.load(Ordering::SeqCst) {
        match piece(after, after.min(PIECE_BYTES)) {
            // A signal, to see whether it was cancelled.
            Err(error) if error.source.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        }
        let left = resident()?;
        fruitless = if after.saturating_sub(left) < MIN_PROGRESS_BYTES {
            fruitless + 1
        } else {
            0
        };
        after = left;
    }
    Ok(Reclaimed {
        before_bytes: before,
        after_bytes: after,
    })
}

/// The processes in the group itself that are not root's alone, and how many there are of which that cannot be
/// seen.
fn user_processes(
    group: &Path,
    processes: &ProcessTable,
) -> Result<(Vec<u32>, usize), CgroupError> {
    let (mut users, mut unknown) = (Vec::new(), Vec::new());
    for process in files::own_processes(group)? {
        match processes.is_of_root(process) {
            Some(true) => {}
            Some(false) => users.push(process),
            None => unknown.push(process),
        }
    }
    if !unknown.is_empty() {
        // What has ended meanwhile is not there any more.
        let still = files::own_processes(group)?;
        unknown.retain(|process| still.contains(process));
    }
    Ok((users, unknown.len()))
}

/// Ends the processes in the group, and in those below it, that are not root's alone; how many.
fn end_user_processes(group: &Path, processes: &ProcessTable) -> Result<usize, CgroupError> {
    let (users, _) = user_processes(group, processes)?;
    let mut ended = users.len();
    for process in users {
        processes
            .end(process)
            .map_err(files::failed("end a process of", group))?;
    }
    for (_, below) in files::subdirectories(group)? {
        ended += end_user_processes(&below, processes)?;
    }
    Ok(ended)
}

/// Moves a process to the group of which this is `cgroup.procs`; one that has ended need not be.
fn move_process(process: u32, target: &Path) -> Result<(), CgroupError> {
    match files::write(target, &process.to_string()) {
        Err(error) if process::has_ended(&error.source) => Ok(()),
        other => other,
    }
}

/// The directories of tasks in a step's.
fn tasks(step: &Path) -> Result<Vec<PathBuf>, CgroupError> {
    let found = files::subdirectories(step)?.into_iter();
    let tasks = found.filter(|(name, _)| name.starts_with("task_"));
    Ok(tasks.map(|(_, path)| path).collect())
}

/// Limits the memory of each group, by its file of that name, to what it has by the file `current` and a part of
/// `margin`, or lifts that by the word `unlimited`. One that has no such file, or has ended, is left out.
fn hold_groups(
    groups: &[PathBuf],
    [current, limit]: [&str; 2],
    margin: Option<u64>,
    unlimited: &str,
) -> Result<(), CgroupError> {
    let limited: Vec<&PathBuf> = groups
        .iter()
        .filter(|group| group.join(limit).exists())
        .collect();
    let part = margin.map(|margin| margin / (limited.len() as u64).max(1));
    for group in limited {
        let text = match part {
            None => Ok(unlimited.to_owned()),
            Some(part) => files::read_number(&group.join(current))
                .map(|bytes| bytes.saturating_add(part).to_string()),
        };
        match text.and_then(|text| files::write_once(&group.join(limit), &text)) {
            Err(error) if files::has_vanished(&error.source) => {}
            other => other?,
        }
    }
    Ok(())
}

/// Says that a directory which could be Slurm's is left alone.
fn log_ignored(path: &Path) {
    log::line(format_args!(
        "{} is not Slurm's: others than root can write there; it is ignored",
        path.display()
    ));
}

/// The number in a directory name like `job_17`.
fn numbered(name: &str, prefix: &str) -> Option<u32> {
    name.strip_prefix(prefix)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_complete_directory_names_match() {
        assert_eq!(numbered("job_17", "job_"), Some(17));
        assert_eq!(numbered("job_17x", "job_"), None);
        assert_eq!(numbered("job_", "job_"), None);
        assert_eq!(numbered("step_17", "job_"), None);
    }
}
