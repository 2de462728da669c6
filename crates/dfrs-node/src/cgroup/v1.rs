//! Control groups version 1: a tree for each controller.
//!
//! Slurm (22.05 and 24.11, `src/plugins/cgroup/v1/`) makes `slurm_<node>/uid_<user>/job_<id>/step_<name>`
//! (`slurm/…` if it was built for one `slurmd` a host) in the trees of the controllers that its
//! plugins use: `freezer` for proctrack/cgroup, `memory` and `cpuacct` for jobacct_gather/cgroup,
//! `memory`, `cpuset` and `devices` for task/cgroup. In `freezer` the step's `slurmstepd` is in the
//! job's group and the user's processes are in the step's: the step is what Slurm's own suspend
//! freezes. In `memory` `slurmstepd` is in the step's group, in `cpuacct` it is not.
//!
//! Slurm never makes a `cpu` tree. Where `cpu` is mounted by itself the same path is made there,
//! and user processes (those of the steps in `freezer`, so never `slurmstepd`) are moved into it.
//! Where `cpu` is mounted together with `cpuacct` Slurm's directory is there already, with the
//! processes in it, and only the cap is written.
//!
//! In `cpuset` the groups stay as Slurm made them: for each new step Slurm binds the whole job again, and the
//! kernel would refuse that if another step had more cores. The user processes are moved from there to
//! Slurm's base, which has all cores. Where other jobs hold some of these, the user processes go to a group of
//! ours below the base, which has the others; it is there as long as it has processes.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use super::core_set::CoreSet;
use super::files::{self, failed, malformed};
use super::process::ProcessTable;
use super::trust::is_trusted;
use super::{
    CgroupDriver, CgroupError, CpuUse, DEFAULT_SWAPPINESS, Freezer, JobDirectory, MemoryUse,
    Reclaimed, StepDirectory, end_user_processes, hold_groups, log_ignored, move_process, numbered,
    reclaim_in_pieces, tasks, user_processes,
};
use crate::log;
use crate::quota::{LONG_PERIOD, Quota};

/// The kernel's "no limit" for memory is the largest page-aligned number; no node has half of it.
const NO_MEMORY_LIMIT: u64 = u64::MAX / 4;

/// `cpu.shares` of a job with a cap of one core; also the kernel's default, and what one process
/// outside of all groups weighs.
const ONE_CORE_SHARES: u64 = 1024;
/// The kernel's bounds for `cpu.shares`.
const SHARES: (u64, u64) = (2, 262_144);

/// Our group in `cpuset`, below Slurm's base, where Slurm has `uid_…` only.
const LEFT_CORES: &str = "dfrs";
/// Not writable by others, whatever the umask is: else it would not be trusted.
const GROUP_MODE: u32 = 0o755;

/// See the module.
#[derive(Debug, Clone)]
pub struct CgroupV1 {
    root: PathBuf,
    bases: [String; 2],
    processes: ProcessTable,
    warned_ignored: bool,
}

impl CgroupV1 {
    /// The trees mounted below `root` (as `root/cpu`), for the Slurm node `node`.
    pub fn new(root: &Path, node: &str) -> CgroupV1 {
        CgroupV1::with_processes(root, node, Path::new("/proc"))
    }

    /// As `new()`, with the processes that are shown at `proc`.
    pub(crate) fn with_processes(root: &Path, node: &str, proc: &Path) -> CgroupV1 {
        CgroupV1 {
            root: root.to_path_buf(),
            bases: [format!("slurm_{node}"), "slurm".to_string()],
            processes: ProcessTable::new(proc),
            warned_ignored: false,
        }
    }

    /// The job's group in a controller's tree.
    fn group(&self, controller: &str, job: &JobDirectory) -> PathBuf {
        self.root.join(controller).join(&job.path)
    }

    fn file(&self, controller: &str, job: &JobDirectory, name: &str) -> PathBuf {
        self.group(controller, job).join(name)
    }

    fn freezer_state(&self, step: &StepDirectory) -> PathBuf {
        let group = self.root.join("freezer").join(&step.path);
        group.join("freezer.state")
    }

    /// Jobs in one controller's tree, by id. The node's own base first: should a job be in both, a
    /// nameless base is another program's. What others than root can have made is left out.
    fn jobs_in(&self, controller: &str) -> Result<Vec<JobDirectory>, CgroupError> {
        let mut found: Vec<JobDirectory> = Vec::new();
        for base in &self.bases {
            let base_path = self.root.join(controller).join(base);
            for (user, user_path) in trusted_subdirectories(&base_path)? {
                if numbered(&user, "uid_").is_none() {
                    continue;
                }
                for (name, _) in trusted_subdirectories(&user_path)? {
                    let Some(id) = numbered(&name, "job_") else {
                        continue;
                    };
                    if found.iter().all(|job| job.id != id) {
                        found.push(JobDirectory {
                            id,
                            path: Path::new(base).join(&user).join(&name),
                        });
                    }
                }
            }
        }
        found.sort_by_key(|job| job.id);
        Ok(found)
    }

    /// Once: logs that a base is there which is not trusted.
    fn warn_ignored(&mut self) {
        let bases = self
            .bases
            .iter()
            .map(|base| self.root.join("freezer").join(base));
        let mut ignored = bases.filter(|path| path.exists() && !is_trusted(path).unwrap_or(false));
        if let Some(path) = ignored.next().filter(|_| !self.warned_ignored) {
            log_ignored(&path);
            self.warned_ignored = true;
        }
    }

    /// The groups of the job's tasks in `memory`. There only with jobacct_gather/cgroup: else tasks count for their
    /// step, as `slurmstepd` does.
    fn memory_of_tasks(&self, job: &JobDirectory) -> Result<Vec<PathBuf>, CgroupError> {
        let mut groups = Vec::new();
        for (_, step) in files::subdirectories(&self.group("memory", job))? {
            groups.extend(tasks(&step)?);
        }
        Ok(groups)
    }

    /// Gives the user's directory and Slurm's base, in the `cpu` tree, the weight of all jobs below:
    /// made by us, they would otherwise weigh as much as one process, however many jobs they hold.
    fn weigh_parents(&self, job: &JobDirectory) -> Result<(), CgroupError> {
        for parent in job.path.ancestors().skip(1).take(2) {
            let directory = self.root.join("cpu").join(parent);
            let below = files::subdirectories(&directory)?;
            let shares = below
                .iter()
                .filter_map(|(_, path)| files::read_number(&path.join("cpu.shares")).ok());
            let sum = shares.sum::<u64>().clamp(SHARES.0, SHARES.1);
            let file = directory.join("cpu.shares");
            if files::read_number(&file).ok() != Some(sum) {
                files::write(&file, &sum.to_string())?;
            }
        }
        Ok(())
    }

    /// Moves the user processes of the job that are not `there` to `group` in this controller's
    /// tree, and returns how many. O(p log p) for p processes of the job and those there.
    fn bring(
        &self,
        job: &JobDirectory,
        controller: &str,
        group: &Path,
        there: Vec<u32>,
    ) -> Result<usize, CgroupError> {
        let there: BTreeSet<u32> = there.into_iter().collect();
        let target = self.root.join(controller).join(group).join("cgroup.procs");
        let directory = self.group("freezer", job);
        let (outside, _) = user_processes(&directory, &self.processes)?;
        let mut total = self.bring_all(controller, &directory, outside, &there, &target)?;
        for step in self.steps(job)? {
            let step = self.root.join("freezer").join(&step.path);
            let found = files::processes(&step)?;
            total += self.bring_all(controller, &step, found, &there, &target)?;
        }
        Ok(total)
    }

    /// As `bring()`, for what was `found` in a group of `freezer`.
    fn bring_all(
        &self,
        controller: &str,
        freezer: &Path,
        mut found: Vec<u32>,
        there: &BTreeSet<u32>,
        target: &Path,
    ) -> Result<usize, CgroupError> {
        found.retain(|process| !there.contains(process));
        for &process in &found {
            move_process(process, target)?;
        }
        if !found.is_empty() {
            self.return_foreign_processes(controller, freezer, &found)?;
        }
        Ok(found.len())
    }

    /// Of the processes that were moved, those that are not in the `freezer` group are strangers: a process
    /// ended and another got its number before it was moved. They go where their parents are.
    fn return_foreign_processes(
        &self,
        controller: &str,
        freezer: &Path,
        moved: &[u32],
    ) -> Result<(), CgroupError> {
        let own: BTreeSet<u32> = files::processes(freezer)?.into_iter().collect();
        for process in moved.iter().filter(|process| !own.contains(process)) {
            let origin = self.origin(controller, *process);
            move_process(*process, &origin.join("cgroup.procs"))?;
        }
        Ok(())
    }

    /// The group in `cpuset` for the user processes of a job below `base`: that itself, or ours if others hold
    /// some of its cores, and not all. That is made, or changed, as it has to be.
    fn group_of_left_cores(&self, base: &Path, held: &CoreSet) -> Result<PathBuf, CgroupError> {
        if held.is_empty() {
            return Ok(base.to_path_buf());
        }
        let parent = self.root.join("cpuset").join(base);
        let all = files::read_cores(&parent.join("cpuset.cpus"))?;
        let left = all.left_by(held);
        if left == all {
            return Ok(base.to_path_buf());
        }
        let group = parent.join(LEFT_CORES);
        make_trusted(&parent, &group)?;
        // Both, or the kernel lets no process in.
        let nodes = files::read(&parent.join("cpuset.mems"))?;
        files::change(&group.join("cpuset.mems"), &nodes)?;
        files::change(&group.join("cpuset.cpus"), &left.to_string())?;
        Ok(base.join(LEFT_CORES))
    }

    /// The step of whose `slurmstepd` the process is a child, or else the first.
    fn step_of(&self, process: u32, steps: &[StepDirectory]) -> Option<PathBuf> {
        let parent = self.processes.parent(process)?;
        let own = self.processes.step_daemon_of(parent);
        let name = own.map(|(_, step)| format!("step_{step}"));
        let step = steps.iter().find(|step| Some(&step.name) == name.as_ref());
        step.or(steps.first()).map(|step| step.path.clone())
    }

    /// The group, in the controller's tree, that a process was born in: its parent's; the root
    /// where that is unknown.
    fn origin(&self, controller: &str, process: u32) -> PathBuf {
        let tree = self.root.join(controller);
        let path = self
            .processes
            .parent(process)
            .and_then(|parent| self.processes.group_of(controller, parent));
        path.map(|path| tree.join(path))
            .filter(|group| group.is_dir())
            .unwrap_or(tree)
    }
}

/// Subdirectories of a directory that is trusted, which are trusted themselves.
fn trusted_subdirectories(directory: &Path) -> Result<Vec<(String, PathBuf)>, CgroupError> {
    if !is_trusted(directory).map_err(failed("look at", directory))? {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for (name, path) in files::subdirectories(directory)? {
        if is_trusted(&path).map_err(failed("look at", &path))? {
            found.push((name, path));
        }
    }
    Ok(found)
}

/// Makes the `group` below `parent`, if it is not there.
fn make_trusted(parent: &Path, group: &Path) -> Result<(), CgroupError> {
    let check = |directory: &Path| match is_trusted(directory) {
        Ok(true) => Ok(()),
        Ok(false) => Err(io::ErrorKind::PermissionDenied.into()),
        Err(error) => Err(error),
    };
    check(parent).map_err(failed("use", parent))?;
    match fs::DirBuilder::new().mode(GROUP_MODE).create(group) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(failed("create", group)(error));
        }
        _ => {}
    }
    check(group).map_err(failed("use", group))
}

/// Where the group, or one below it, never swaps (inherited from `vm.swappiness`, or set by cgroup.conf's
/// `MemorySwappiness`), lets it, and adds the file to `changed`: of such a group the kernel reclaims file
/// pages only. O(groups).
fn let_swap(group: &Path, changed: &mut Vec<PathBuf>) -> Result<(), CgroupError> {
    let swappiness = group.join("memory.swappiness");
    if files::read(&swappiness).is_ok_and(|text| text == "0") {
        files::write(&swappiness, &DEFAULT_SWAPPINESS.to_string())?;
        changed.push(swappiness);
    }
    files::subdirectories(group)?
        .iter()
        .try_for_each(|(_, below)| let_swap(below, changed))
}

fn set_oom_killable(oom_control: &Path, killable: bool) -> Result<(), CgroupError> {
    let is_so = files::read_keyed(oom_control, "oom_kill_disable")? == Some(u64::from(!killable));
    if is_so {
        return Ok(());
    }
    files::write(oom_control, if killable { "0" } else { "1" })
}

/// Something stayed, as is usual while processes live in the group: what counts is how much.
fn is_busy(error: CgroupError) -> Result<(), CgroupError> {
    match error.source.kind() {
        io::ErrorKind::ResourceBusy => Ok(()),
        _ => Err(error),
    }
}

impl CgroupDriver for CgroupV1 {
    fn version(&self) -> &'static str {
        "v1"
    }

    fn jobs(&mut self) -> Result<Vec<JobDirectory>, CgroupError> {
        self.warn_ignored();
        self.jobs_in("freezer")
    }

    fn cap(&self, job: &JobDirectory) -> Result<Option<Quota>, CgroupError> {
        let path = self.file("cpu", job, "cpu.cfs_quota_us");
        let quota = match files::read(&path) {
            Ok(text) => text,
            Err(error) if error.source.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        if quota.starts_with('-') {
            return Ok(None);
        }
        let period = files::read(&self.file("cpu", job, "cpu.cfs_period_us"))?;
        let parsed = quota.parse().ok().zip(period.parse().ok());
        let cap = parsed.and_then(|(quota, period)| Quota::from_kernel(quota, period));
        cap.map(Some).ok_or_else(|| malformed(&path))
    }

    fn set_cap(&self, job: &JobDirectory, cap: Option<Quota>) -> Result<(), CgroupError> {
        let directory = self.group("cpu", job);
        let quota_file = directory.join("cpu.cfs_quota_us");
        let period_file = directory.join("cpu.cfs_period_us");
        let shares_file = directory.join("cpu.shares");
        let Some(cap) = cap else {
            if !directory.is_dir() {
                return Ok(());
            }
            files::write(&shares_file, &ONE_CORE_SHARES.to_string())?;
            self.weigh_parents(job)?;
            files::write(&quota_file, "-1")?;
            return files::write(&period_file, &LONG_PERIOD.to_string());
        };
        fs::create_dir_all(&directory).map_err(failed("create", &directory))?;
        let shares = cap.weight(ONE_CORE_SHARES, SHARES.0, SHARES.1);
        files::write(&shares_file, &shares.to_string())?;
        self.weigh_parents(job)?;
        let mut writes = [
            (&period_file, cap.period()),
            (&quota_file, cap.microseconds()),
        ];
        // Between the two writes the cap is never more than the larger of the two: the kernel refuses a group
        // more than the one above it has.
        if self
            .cap(job)?
            .is_some_and(|old| cap.period() < old.period())
        {
            writes.reverse();
        }
        writes
            .iter()
            .try_for_each(|(file, number)| files::write(file, &number.to_string()))
    }

    fn gather(&self, job: &JobDirectory) -> Result<usize, CgroupError> {
        let capped = files::processes(&self.group("cpu", job))?;
        self.bring(job, "cpu", &job.path, capped)
    }

    fn bound_cores(&self, job: &JobDirectory) -> Result<CoreSet, CgroupError> {
        let cores = files::read_cores_if_there(&self.file("cpuset", job, "cpuset.cpus"))?;
        let has_processes = !cores.is_empty() && files::has_processes(&self.group("cpuset", job))?;
        Ok(Some(cores).filter(|_| has_processes).unwrap_or_default())
    }

    fn unbind(&self, job: &JobDirectory, held: &CoreSet) -> Result<usize, CgroupError> {
        let tree = self.root.join("cpuset");
        // Without ConstrainCores Slurm makes no groups here.
        if !tree.join(&job.path).is_dir() {
            return Ok(0);
        }
        let base: PathBuf = job.path.components().take(1).collect();
        let group = self.group_of_left_cores(&base, held)?;
        let there = files::own_processes(&tree.join(&group))?;
        self.bring(job, "cpuset", &group, there)
    }

    fn remove_unused_groups(&self) {
        for base in &self.bases {
            // Refused while a process is inside.
            let _ = fs::remove_dir(self.root.join("cpuset").join(base).join(LEFT_CORES));
        }
    }

    fn forget(&self, job: &JobDirectory) -> bool {
        let directory = self.group("cpu", job);
        // Refused while a process is inside, or Slurm's own directories where it shares the tree.
        let gone = match fs::remove_dir(&directory) {
            Ok(()) => true,
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        if let Some(user) = directory.parent().filter(|_| gone) {
            // Succeeds with the user's last job only.
            let _ = fs::remove_dir(user);
        }
        gone
    }

    fn leftovers(&self) -> Result<Vec<JobDirectory>, CgroupError> {
        let alive = self.jobs_in("freezer")?;
        let mut made = self.jobs_in("cpu")?;
        made.retain(|job| !alive.contains(job));
        Ok(made)
    }

    fn set_swap_allowed(&self, job: &JobDirectory, allowed: bool) -> Result<bool, CgroupError> {
        let both = self.file("memory", job, "memory.memsw.limit_in_bytes");
        if !both.exists() {
            return Ok(allowed);
        }
        let memory = files::read_number(&self.file("memory", job, "memory.limit_in_bytes"))?;
        let forbidden = memory < NO_MEMORY_LIMIT && !allowed;
        let limit = if forbidden {
            memory.to_string()
        } else {
            "-1".to_string()
        };
        match files::write(&both, &limit) {
            // The job has more than its limit in both together already: what it has it keeps, and
            // gets no more. It is kept to its limit when it has given that back.
            Err(error) if error.source.kind() == io::ErrorKind::ResourceBusy => {
                let used =
                    files::read_number(&self.file("memory", job, "memory.memsw.usage_in_bytes"))?;
                files::write(&both, &used.to_string()).or_else(is_busy)?;
                Ok(false)
            }
            other => other.map(|()| allowed || forbidden),
        }
    }

    fn steps(&self, job: &JobDirectory) -> Result<Vec<StepDirectory>, CgroupError> {
        let found = files::subdirectories(&self.group("freezer", job))?;
        let step = |name: String| StepDirectory {
            path: job.path.join(&name),
            name,
        };
        Ok(found
            .into_iter()
            .filter(|(name, _)| name.starts_with("step_"))
            .map(|(name, _)| step(name))
            .collect())
    }

    fn enclose(&self, job: &JobDirectory, bring: bool) -> Result<usize, CgroupError> {
        let tree = self.root.join("freezer");
        let (users, mut left) = user_processes(&tree.join(&job.path), &self.processes)?;
        if users.is_empty() {
            return Ok(left);
        }
        let steps = self.steps(job)?;
        for process in users {
            match self.step_of(process, &steps).filter(|_| bring) {
                Some(step) => move_process(process, &tree.join(step).join("cgroup.procs"))?,
                None => left += 1,
            }
        }
        Ok(left)
    }

    fn end_processes(&self, job: &JobDirectory) -> Result<usize, CgroupError> {
        end_user_processes(&self.group("freezer", job), &self.processes)
    }

    fn freezer(&self, step: &StepDirectory) -> Result<Freezer, CgroupError> {
        let path = self.freezer_state(step);
        match files::read(&path)?.as_str() {
            "THAWED" => Ok(Freezer::Thawed),
            "FREEZING" => Ok(Freezer::Freezing),
            "FROZEN" => Ok(Freezer::Frozen),
            _ => Err(malformed(&path)),
        }
    }

    fn set_frozen(&self, step: &StepDirectory, frozen: bool) -> Result<(), CgroupError> {
        let state = if frozen { "FROZEN" } else { "THAWED" };
        files::write(&self.freezer_state(step), state)
    }

    fn cpu_use(&self, job: &JobDirectory) -> CpuUse {
        let used = files::read_number(&self.file("cpuacct", job, "cpuacct.usage")).ok();
        let stat = files::read_keyed(&self.file("cpu", job, "cpu.stat"), "throttled_time");
        let throttled = stat.ok().flatten();
        CpuUse {
            used_seconds: used.map(files::seconds_from_nanoseconds),
            throttled_seconds: throttled.map(files::seconds_from_nanoseconds),
        }
    }

    fn memory_use(&self, job: &JobDirectory) -> MemoryUse {
        let resident = files::read_number(&self.file("memory", job, "memory.usage_in_bytes"));
        let swapped = files::read_keyed(&self.file("memory", job, "memory.stat"), "total_swap");
        MemoryUse {
            resident_bytes: resident.ok(),
            swapped_bytes: swapped.ok().flatten(),
        }
    }

    fn memory_limit(&self, job: &JobDirectory) -> Result<Option<u64>, CgroupError> {
        let limit = files::read_number(&self.file("memory", job, "memory.limit_in_bytes"))?;
        Ok(Some(limit).filter(|&limit| limit < NO_MEMORY_LIMIT))
    }

    fn set_memory_limit(&self, job: &JobDirectory, limit: Option<u64>) -> Result<(), CgroupError> {
        let text = limit.map_or("-1".to_owned(), |limit| limit.to_string());
        files::write_once(&self.file("memory", job, "memory.limit_in_bytes"), &text)
    }

    fn hold_tasks(&self, job: &JobDirectory, margin: Option<u64>) -> Result<(), CgroupError> {
        let names = ["memory.usage_in_bytes", "memory.limit_in_bytes"];
        hold_groups(&self.memory_of_tasks(job)?, names, margin, "-1")
    }

    fn set_oom_killable(&self, job: &JobDirectory, killable: bool) -> Result<(), CgroupError> {
        set_oom_killable(&self.file("memory", job, "memory.oom_control"), killable)?;
        // What counts is the word of the group that is at its limit, which may be a task's.
        for task in self.memory_of_tasks(job)? {
            match set_oom_killable(&task.join("memory.oom_control"), killable) {
                Err(error) if files::has_vanished(&error.source) => {}
                other => other?,
            }
        }
        Ok(())
    }

    fn huge_pages(&self, job: &JobDirectory) -> Result<u64, CgroupError> {
        let processes = files::processes(&self.group("freezer", job))?;
        Ok(self.processes.huge_pages(&processes))
    }

    fn reclaim(&self, job: &JobDirectory, cancel: &AtomicBool) -> Result<Reclaimed, CgroupError> {
        let usage = self.file("memory", job, "memory.usage_in_bytes");
        let mut held_back = Vec::new();
        let asked = let_swap(&self.group("memory", job), &mut held_back);
        // Not memory.force_empty: what it does cannot be cancelled, and of a job that runs again it has no end.
        let piece = |resident: u64, bytes: u64| {
            self.set_memory_limit(job, Some(resident.saturating_sub(bytes)))
                .or_else(is_busy)
        };
        let result =
            asked.and_then(|()| reclaim_in_pieces(cancel, || files::read_number(&usage), piece));
        for swappiness in held_back {
            // Groups may have ended meanwhile.
            let _ = files::write(&swappiness, "0");
        }
        result
    }

    fn can_reclaim(&self) -> bool {
        self.root.join("memory/memory.force_empty").exists()
    }

    fn ignores_swap(&self) -> bool {
        false // each group has a swappiness of its own
    }

    fn unseen_processes(&self) -> Result<Option<String>, CgroupError> {
        let frozen = self.jobs_in("freezer")?;
        let counted = self.jobs_in("memory")?;
        let unseen = counted
            .iter()
            .find(|job| frozen.iter().all(|other| other.id != job.id));
        Ok(unseen.map(|job| {
            format!(
                "{} has a memory group and no freezer group: set ProctrackType=proctrack/cgroup in slurm.conf",
                log::job(job.id)
            )
        }))
    }

    fn memory_capacity(&self) -> Result<Option<u64>, CgroupError> {
        let limit = files::read_limit(&self.root.join("memory/memory.limit_in_bytes"))?;
        Ok(limit.filter(|&limit| limit < NO_MEMORY_LIMIT))
    }

    fn capacity_limit(&self) -> Result<Option<f64>, CgroupError> {
        let quota_file = self.root.join("cpu/cpu.cfs_quota_us");
        let Some(quota) = files::read_limit(&quota_file)? else {
            return Ok(None);
        };
        let period = files::read_number(&self.root.join("cpu/cpu.cfs_period_us"))?;
        let cap = Quota::from_kernel(quota, period).map(Quota::cores);
        cap.map(Some).ok_or_else(|| malformed(&quota_file))
    }

    fn processors(&self) -> Option<String> {
        files::read(&self.root.join("cpuset/cpuset.effective_cpus")).ok()
    }

    fn swap_limit(&self) -> Result<Option<u64>, CgroupError> {
        let both = files::read_limit(&self.root.join("memory/memory.memsw.limit_in_bytes"))?;
        let Some(both) = both.filter(|&both| both < NO_MEMORY_LIMIT) else {
            return Ok(None);
        };
        let memory = files::read_number(&self.root.join("memory/memory.limit_in_bytes"))?;
        Ok(Some(both.saturating_sub(memory)))
    }

    fn share(&self) -> Box<dyn CgroupDriver> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cgroup::files::write;
    use crate::scratch::Scratch;
    use dfrs_proto::message::Share;

    const JOB: &str = "slurm_n1/uid_1000/job_17";

    fn slurm_made(scratch: &Scratch, controllers: &[&str], path: &str) -> JobDirectory {
        for controller in controllers {
            fs::create_dir_all(
                scratch
                    .path()
                    .join(controller)
                    .join(path)
                    .join("step_batch"),
            )
            .unwrap();
        }
        let freezer = scratch.path().join("freezer").join(path);
        write(&freezer.join("cgroup.procs"), "100\n").unwrap(); // slurmstepd
        write(&freezer.join("step_batch/cgroup.procs"), "101\n102\n").unwrap();
        write(&freezer.join("step_batch/freezer.state"), "THAWED\n").unwrap();
        JobDirectory {
            id: 17,
            path: path.into(),
        }
    }

    fn read(scratch: &Scratch, path: &str) -> String {
        files::read(&scratch.path().join(path)).unwrap_or_else(|error| error.to_string())
    }

    #[test]
    fn jobs_are_found_with_and_without_the_nodes_name() {
        for path in [JOB, "slurm/uid_1000/job_17"] {
            let scratch = Scratch::new();
            let job = slurm_made(&scratch, &["freezer"], path);
            assert_eq!(CgroupV1::new(scratch.path(), "n1").jobs().unwrap(), [job]);
        }
    }

    #[test]
    fn another_nodes_jobs_are_left_alone() {
        let scratch = Scratch::new();
        slurm_made(&scratch, &["freezer"], "slurm_n2/uid_1000/job_17");
        slurm_made(&scratch, &["freezer"], "docker/uid_1000/job_18");
        assert_eq!(CgroupV1::new(scratch.path(), "n1").jobs().unwrap(), []);
    }

    #[test]
    fn a_cap_makes_the_mirrored_path_and_nothing_else() {
        let scratch = Scratch::new();
        let job = slurm_made(&scratch, &["freezer", "memory", "cpuacct"], JOB);
        fs::create_dir_all(scratch.path().join("cpu")).unwrap();
        let cgroups = CgroupV1::new(scratch.path(), "n1");
        assert_eq!(cgroups.cap(&job).unwrap(), None);
        let cap = Some(Quota::in_short_periods(Share::clamped(0.2), 1.0));
        cgroups.set_cap(&job, cap).unwrap();
        assert_eq!(
            read(&scratch, "cpu/slurm_n1/uid_1000/job_17/cpu.cfs_period_us"),
            "20000"
        );
        assert_eq!(
            read(&scratch, "cpu/slurm_n1/uid_1000/job_17/cpu.cfs_quota_us"),
            "4000"
        );
        assert_eq!(cgroups.cap(&job).unwrap(), cap);
        cgroups.set_cap(&job, None).unwrap();
        assert_eq!(cgroups.cap(&job).unwrap(), None);
        assert_eq!(
            read(&scratch, "cpu/slurm_n1/uid_1000/job_17/cpu.cfs_period_us"),
            "100000",
            "as the kernel has it without a cap"
        );
        assert_eq!(
            files::subdirectories(&scratch.path().join("cpu"))
                .unwrap()
                .len(),
            1
        );
    }

    #[test]
    fn parent_groups_have_the_weight_of_their_jobs() {
        let scratch = Scratch::new();
        let cgroups = CgroupV1::new(scratch.path(), "n1");
        let cap = |user: u32, id: u32, share| {
            let path = format!("slurm_n1/uid_{user}/job_{id}").into();
            let cap = Quota::of(Share::clamped(share), 4.0);
            cgroups
                .set_cap(&JobDirectory { id, path }, Some(cap))
                .unwrap();
        };
        cap(1000, 17, 0.25);
        cap(1000, 18, 0.5);
        cap(1001, 19, 0.125);
        assert_eq!(
            read(&scratch, "cpu/slurm_n1/uid_1000/job_18/cpu.shares"),
            "2048"
        );
        assert_eq!(read(&scratch, "cpu/slurm_n1/uid_1000/cpu.shares"), "3072");
        assert_eq!(read(&scratch, "cpu/slurm_n1/uid_1001/cpu.shares"), "512");
        assert_eq!(read(&scratch, "cpu/slurm_n1/cpu.shares"), "3584");
        assert!(
            !scratch.path().join("cpu/cpu.shares").exists(),
            "nothing above Slurm's base is touched"
        );
    }

    #[test]
    fn lifting_a_missing_cap_creates_nothing() {
        let scratch = Scratch::new();
        let job = slurm_made(&scratch, &["freezer"], JOB);
        CgroupV1::new(scratch.path(), "n1")
            .set_cap(&job, None)
            .unwrap();
        assert!(!scratch.path().join("cpu").exists());
    }

    #[test]
    fn user_processes_are_moved_and_slurmstepd_is_not() {
        let scratch = Scratch::new();
        let job = slurm_made(&scratch, &["freezer"], JOB);
        let cgroups = CgroupV1::new(scratch.path(), "n1");
        cgroups
            .set_cap(&job, Some(Quota::of(Share::ONE, 1.0)))
            .unwrap();
        let procs = "cpu/slurm_n1/uid_1000/job_17/cgroup.procs";
        assert_eq!(cgroups.gather(&job).unwrap(), 2);
        // A plain file keeps the last process written: both were, one after the other.
        assert_eq!(read(&scratch, procs), "102");
        write(&scratch.path().join(procs), "102\n101\n55\n").unwrap();
        cgroups.gather(&job).unwrap();
        assert_eq!(
            read(&scratch, procs),
            "102\n101\n55",
            "nothing was left to move"
        );
    }

    #[test]
    fn processes_stay_when_cpu_and_cpuacct_share_a_hierarchy() {
        let scratch = Scratch::new();
        let job = slurm_made(&scratch, &["freezer", "cpu,cpuacct"], JOB);
        std::os::unix::fs::symlink("cpu,cpuacct", scratch.path().join("cpu")).unwrap();
        let task = scratch
            .path()
            .join("cpu")
            .join(JOB)
            .join("step_batch/task_0");
        fs::create_dir_all(&task).unwrap();
        write(&task.join("cgroup.procs"), "101\n102\n").unwrap();
        let cgroups = CgroupV1::new(scratch.path(), "n1");
        cgroups
            .set_cap(&job, Some(Quota::of(Share::ONE, 1.0)))
            .unwrap();
        cgroups.gather(&job).unwrap();
        assert!(
            !scratch
                .path()
                .join("cpu")
                .join(JOB)
                .join("cgroup.procs")
                .exists()
        );
        assert!(!cgroups.forget(&job), "Slurm's own directory stays");
    }

    #[test]
    fn user_processes_leave_the_cpuset_and_slurmstepd_stays() {
        let scratch = Scratch::new();
        let job = slurm_made(&scratch, &["freezer"], JOB);
        let cgroups = CgroupV1::new(scratch.path(), "n1");
        let base = scratch.path().join("cpuset/slurm_n1");
        assert_eq!(
            cgroups.unbind(&job, &CoreSet::default()).unwrap(),
            0,
            "Slurm binds no job"
        );
        assert!(!base.exists());

        fs::create_dir_all(scratch.path().join("cpuset").join(JOB)).unwrap();
        write(&base.join("cgroup.procs"), "101\n").unwrap();
        assert_eq!(cgroups.unbind(&job, &CoreSet::default()).unwrap(), 1);
        assert_eq!(read(&scratch, "cpuset/slurm_n1/cgroup.procs"), "102");
    }

    /// Slurm has the cores `all`, and has bound the job to some.
    fn bound(scratch: &Scratch, all: &str) -> (JobDirectory, PathBuf) {
        let job = slurm_made(scratch, &["freezer", "cpuset"], JOB);
        let base = scratch.path().join("cpuset/slurm_n1");
        write(&base.join("cpuset.cpus"), all).unwrap();
        write(&base.join("cpuset.mems"), "0-1\n").unwrap();
        write(&base.join("cgroup.procs"), "\n").unwrap();
        (job, base)
    }

    #[test]
    fn user_processes_go_where_the_cores_are_that_others_leave() {
        let scratch = Scratch::new();
        let (job, base) = bound(&scratch, "0-3\n");
        let cgroups = CgroupV1::new(scratch.path(), "n1");
        let unbind = |held| {
            cgroups
                .unbind(&job, &CoreSet::parse(held).unwrap())
                .unwrap()
        };
        for (held, left) in [("0,9", "1-3"), ("1-2", "0,3"), ("2", "0-1,3")] {
            // The kernel has the list of processes there as soon as it has the group.
            let _ = fs::create_dir(base.join("dfrs"));
            write(&base.join("dfrs/cgroup.procs"), "\n").unwrap();
            assert_eq!(unbind(held), 2, "{held}");
            assert_eq!(read(&scratch, "cpuset/slurm_n1/dfrs/cpuset.cpus"), left);
            assert_eq!(read(&scratch, "cpuset/slurm_n1/dfrs/cpuset.mems"), "0-1");
            assert_eq!(read(&scratch, "cpuset/slurm_n1/dfrs/cgroup.procs"), "102");
            assert_eq!(read(&scratch, "cpuset/slurm_n1/cgroup.procs"), "");
        }
        write(&base.join("dfrs/cgroup.procs"), "101\n102\n").unwrap();
        assert_eq!(unbind("2"), 0, "they are there");

        for held in ["0-3", "0-7", "8", ""] {
            write(&base.join("cgroup.procs"), "\n").unwrap();
            assert_eq!(unbind(held), 2, "{held}");
            assert_eq!(
                read(&scratch, "cpuset/slurm_n1/cgroup.procs"),
                "102",
                "{held}"
            );
        }
    }

    #[test]
    fn group_of_left_cores_is_removed_when_it_is_unused() {
        let scratch = Scratch::new();
        let (_, base) = bound(&scratch, "0-3\n");
        let cgroups = CgroupV1::new(scratch.path(), "n1");
        cgroups.remove_unused_groups();
        let held = CoreSet::parse("0").unwrap();
        let group = cgroups
            .group_of_left_cores(Path::new("slurm_n1"), &held)
            .unwrap();
        assert_eq!(group, Path::new("slurm_n1/dfrs"));
        cgroups.remove_unused_groups();
        assert!(
            base.join("dfrs").is_dir(),
            "here its files stay, in the kernel its processes"
        );
        for name in ["cpuset.cpus", "cpuset.mems"] {
            fs::remove_file(base.join("dfrs").join(name)).unwrap();
        }
        cgroups.remove_unused_groups();
        assert!(!base.join("dfrs").exists());
        assert!(base.is_dir() && scratch.path().join("cpuset").join(JOB).is_dir());
    }

    #[test]
    fn nothing_is_written_where_others_could_write_or_cores_are_unreadable() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let scratch = Scratch::new();
        let (job, base) = bound(&scratch, "0-3\n");
        let cgroups = CgroupV1::new(scratch.path(), "n1");
        let held = CoreSet::parse("0").unwrap();
        let error = || cgroups.unbind(&job, &held).unwrap_err().to_string();
        for text in ["0-", "3-1,", "all"] {
            write(&base.join("cpuset.cpus"), text).unwrap();
            assert!(error().contains("cpuset.cpus"), "{text}: {}", error());
            assert!(!base.join("dfrs").exists(), "{text}");
        }
        write(&base.join("cpuset.cpus"), "0-3\n").unwrap();
        let elsewhere = scratch.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        symlink(&elsewhere, base.join("dfrs")).unwrap();
        assert!(error().contains("cannot use"), "{}", error());
        fs::remove_file(base.join("dfrs")).unwrap();
        fs::set_permissions(&base, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(error().contains("cannot use"), "{}", error());
        assert!(!base.join("dfrs").exists());
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
        assert_eq!(read(&scratch, "cpuset/slurm_n1/cgroup.procs"), "");
    }

    #[test]
    fn job_holds_the_cores_that_it_is_bound_to_while_it_has_processes() {
        let scratch = Scratch::new();
        let job = slurm_made(&scratch, &["freezer"], JOB);
        let cgroups = CgroupV1::new(scratch.path(), "n1");
        let cores = || cgroups.bound_cores(&job).map(|cores| cores.to_string());
        assert_eq!(cores().unwrap(), "", "Slurm binds no job");
        bound(&scratch, "0-3\n");
        let group = cgroups.group("cpuset", &job);
        assert_eq!(cores().unwrap(), "", "it has just been removed");
        write(&group.join("cpuset.cpus"), "1,3\n").unwrap();
        assert_eq!(
            cores().unwrap(),
            "",
            "it has ended, and Slurm left its directory"
        );
        write(&group.join("step_batch/cgroup.procs"), "100\n").unwrap();
        assert_eq!(cores().unwrap(), "1,3");
        write(&group.join("cpuset.cpus"), "many\n").unwrap();
        let error = cores().unwrap_err().to_string();
        assert!(error.contains("cpuset.cpus"), "{error}");
    }

    #[test]
    fn created_groups_are_removed_with_the_last_job_of_the_user() {
        let scratch = Scratch::new();
        let cgroups = CgroupV1::new(scratch.path(), "n1");
        let ended = |id: u32| JobDirectory {
            id,
            path: format!("slurm_n1/uid_1000/job_{id}").into(),
        };
        for id in [17, 18] {
            fs::create_dir_all(scratch.path().join("cpu").join(ended(id).path)).unwrap();
        }
        assert_eq!(cgroups.leftovers().unwrap(), [ended(17), ended(18)]);
        assert!(cgroups.forget(&ended(17)));
        assert_eq!(cgroups.leftovers().unwrap(), [ended(18)]);
        assert!(cgroups.forget(&ended(18)));
        assert!(!scratch.path().join("cpu/slurm_n1/uid_1000").exists());
        assert!(scratch.path().join("cpu/slurm_n1").exists());
        assert!(cgroups.forget(&ended(18)), "forgetting twice is harmless");
    }

    #[test]
    fn process_with_a_reused_pid_returns_to_the_group_of_its_parent() {
        let scratch = Scratch::new();
        let job = slurm_made(&scratch, &["freezer"], JOB);
        let mut cgroups = CgroupV1::new(scratch.path(), "n1");
        cgroups.processes = ProcessTable::new(&scratch.path().join("proc"));
        let proc = |process: &str, name: &str, text: &str| {
            let directory = scratch.path().join("proc").join(process);
            fs::create_dir_all(&directory).unwrap();
            write(&directory.join(name), text).unwrap();
        };
        proc("102", "status", "Name:\tx\nPPid:\t50\n");
        proc("50", "cgroup", "5:cpuacct:/wrong\n4:cpu,io:/system.slice\n");
        fs::create_dir_all(scratch.path().join("cpu/system.slice")).unwrap();
        let step = scratch
            .path()
            .join("freezer")
            .join(&job.path)
            .join("step_batch");
        write(&step.join("cgroup.procs"), "101\n").unwrap();
        cgroups
            .return_foreign_processes("cpu", &step, &[101, 102])
            .unwrap();
        assert_eq!(read(&scratch, "cpu/system.slice/cgroup.procs"), "102");
        cgroups
            .return_foreign_processes("cpu", &step, &[101, 103])
            .unwrap();
        assert_eq!(read(&scratch, "cpu/cgroup.procs"), "103", "parent unknown");
    }

    #[test]
    fn job_is_ignored_when_its_path_is_writable_by_others() {
        use std::os::unix::fs::PermissionsExt;
        for open in ["slurm_n1", "slurm_n1/uid_1000", JOB] {
            let scratch = Scratch::new();
            slurm_made(&scratch, &["freezer"], JOB);
            let directory = scratch.path().join("freezer").join(open);
            fs::set_permissions(&directory, fs::Permissions::from_mode(0o777)).unwrap();
            let mut cgroups = CgroupV1::new(scratch.path(), "n1");
            assert_eq!(cgroups.jobs().unwrap(), [], "{open}");
            assert_eq!(cgroups.warned_ignored, open == "slurm_n1");
        }
    }

    #[test]
    fn memory_that_cannot_be_read_is_not_gone() {
        let scratch = Scratch::new();
        let job = slurm_made(&scratch, &["freezer", "memory"], JOB);
        let cgroups = CgroupV1::new(scratch.path(), "n1");
        let error = cgroups.reclaim(&job, &AtomicBool::new(false)).unwrap_err();
        assert!(error.to_string().contains("usage_in_bytes"), "{error}");
    }

    #[test]
    fn groups_that_never_swap_do_so_while_they_are_reclaimed() {
        let scratch = Scratch::new();
        let job = slurm_made(&scratch, &["freezer", "memory"], JOB);
        let group = scratch.path().join("memory").join(JOB);
        let files = ["", "step_batch"].map(|below| group.join(below).join("memory.swappiness"));
        let read = || files.each_ref().map(|file| files::read(file).unwrap());
        write(&files[0], "0\n").unwrap();
        write(&files[1], "30\n").unwrap();
        let mut changed = Vec::new();
        let_swap(&group, &mut changed).unwrap();
        assert_eq!(read(), ["60", "30"]);
        assert_eq!(changed, files[..1]);

        write(&files[0], "0\n").unwrap();
        write(&group.join("memory.usage_in_bytes"), "4096\n").unwrap();
        let cgroups = CgroupV1::new(scratch.path(), "n1");
        cgroups.reclaim(&job, &AtomicBool::new(false)).unwrap();
        assert_eq!(read(), ["0", "30"], "as it was");
    }

    #[test]
    fn memory_and_swap_together_are_limited_as_memory_is() {
        let scratch = Scratch::new();
        let job = slurm_made(&scratch, &["freezer", "memory"], JOB);
        let cgroups = CgroupV1::new(scratch.path(), "n1");
        let both = cgroups.file("memory", &job, "memory.memsw.limit_in_bytes");
        assert!(!cgroups.set_swap_allowed(&job, false).unwrap());
        assert!(!both.exists(), "this kernel does not count swap");
        write(&both, "9223372036854771712\n").unwrap();
        let memory = cgroups.file("memory", &job, "memory.limit_in_bytes");
        write(&memory, "104857600\n").unwrap();
        let after = |allowed| {
            let done = cgroups.set_swap_allowed(&job, allowed).unwrap();
            (files::read(&both).unwrap(), done)
        };
        assert_eq!(after(false), ("104857600".into(), true));
        assert_eq!(after(true), ("-1".into(), true));
        write(&memory, "9223372036854771712\n").unwrap();
        assert_eq!(after(false), ("-1".into(), false));
    }

    #[test]
    fn steps_are_frozen_and_not_the_job() {
        let scratch = Scratch::new();
        let job = slurm_made(&scratch, &["freezer"], JOB);
        let cgroups = CgroupV1::new(scratch.path(), "n1");
        let steps = cgroups.steps(&job).unwrap();
        assert_eq!(steps.len(), 1);
        cgroups.set_frozen(&steps[0], true).unwrap();
        assert_eq!(cgroups.freezer(&steps[0]).unwrap(), Freezer::Frozen);
        assert!(!cgroups.file("freezer", &job, "freezer.state").exists());
        cgroups.set_frozen(&steps[0], false).unwrap();
        assert_eq!(cgroups.freezer(&steps[0]).unwrap(), Freezer::Thawed);
    }

    #[test]
    fn use_is_read_in_seconds_and_bytes() {
        let scratch = Scratch::new();
        let job = slurm_made(&scratch, &["freezer", "cpu", "cpuacct", "memory"], JOB);
        let cgroups = CgroupV1::new(scratch.path(), "n1");
        assert_eq!(cgroups.cpu_use(&job), CpuUse::default());
        write(
            &cgroups.file("cpuacct", &job, "cpuacct.usage"),
            "1500000000\n",
        )
        .unwrap();
        write(
            &cgroups.file("cpu", &job, "cpu.stat"),
            "nr_periods 3\nnr_throttled 1\nthrottled_time 250000000\n",
        )
        .unwrap();
        write(
            &cgroups.file("memory", &job, "memory.usage_in_bytes"),
            "4096\n",
        )
        .unwrap();
        write(
            &cgroups.file("memory", &job, "memory.stat"),
            "swap 0\ntotal_swap 8192\n",
        )
        .unwrap();
        let cpu = CpuUse {
            used_seconds: Some(1.5),
            throttled_seconds: Some(0.25),
        };
        assert_eq!(cgroups.cpu_use(&job), cpu);
        assert_eq!(
            cgroups.memory_use(&job),
            MemoryUse {
                resident_bytes: Some(4096),
                swapped_bytes: Some(8192)
            }
        );
    }

    #[test]
    fn a_containers_own_limits_are_seen() {
        let scratch = Scratch::new();
        fs::create_dir_all(scratch.path().join("cpu")).unwrap();
        fs::create_dir_all(scratch.path().join("memory")).unwrap();
        let cgroups = CgroupV1::new(scratch.path(), "n1");
        write(&scratch.path().join("cpu/cpu.cfs_quota_us"), "-1\n").unwrap();
        write(&scratch.path().join("cpu/cpu.cfs_period_us"), "100000\n").unwrap();
        write(
            &scratch.path().join("memory/memory.memsw.limit_in_bytes"),
            "9223372036854771712\n",
        )
        .unwrap();
        write(
            &scratch.path().join("memory/memory.limit_in_bytes"),
            "1000\n",
        )
        .unwrap();
        assert_eq!(
            (
                cgroups.capacity_limit().unwrap(),
                cgroups.swap_limit().unwrap()
            ),
            (None, None)
        );
        write(&scratch.path().join("cpu/cpu.cfs_quota_us"), "50000\n").unwrap();
        write(
            &scratch.path().join("memory/memory.memsw.limit_in_bytes"),
            "1500\n",
        )
        .unwrap();
        assert_eq!(
            (
                cgroups.capacity_limit().unwrap(),
                cgroups.swap_limit().unwrap()
            ),
            (Some(0.5), Some(500))
        );
    }
}
