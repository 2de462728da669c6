//! Control groups version 2: one tree.
//!
//! Slurm (22.05 and 24.11, `src/plugins/cgroup/v2/cgroup_v2.c`) makes
//! `system.slice/<node>_slurmstepd.scope/job_<id>/step_<name>/{slurm,user}`, without the node's
//! name if it was built for one `slurmd` a host, and in a container below the container's own
//! group; Slurm 26.05 may give a job's directory another name (sluid.rs). The step's `slurmstepd`
//! lives in `slurm`, the user's processes in `user/task_<n>`. Slurm enables the `cpu` and `memory`
//! controllers down to there and never writes `cpu.max`. With `ConstrainCores=yes` it writes
//! `cpuset.cpus` of the job, of the step's `user`, and of no other group that matters here.
//!
//! There a group may be given cores that its parent has not: it can use what both have, and all of its parent's
//! if that is nothing (`cpuset.cpus.effective`). But older kernels, as Linux 5.10, refuse a parent fewer than a
//! group below it was given (`validate_change()`, kernel/cgroup/cpuset.c). So a job's cores are written from below.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use super::core_set::CoreSet;
use super::files::{self, failed, malformed};
use super::process::ProcessTable;
use super::sluid::{self, Owner};
use super::trust::is_trusted_down_to;
use super::{
    CgroupDriver, CgroupError, CpuUse, DEFAULT_SWAPPINESS, Freezer, JobDirectory, MemoryUse,
    Reclaimed, StepDirectory, end_user_processes, hold_groups, log_ignored, move_process, numbered,
    reclaim_in_pieces, scope, tasks, user_processes,
};
use crate::quota::{LONG_PERIOD, Quota};

/// While Slurm's scope is not there, look for it at every so many-th call: walking takes milliseconds.
const CALLS_BETWEEN_WALKS: u32 = 20;
/// While the scope is there, look at every so many-th call whether there is another: slurmd may be
/// restarted with another `CgroupSlice`, or by another build.
const CALLS_BETWEEN_CHECKS: u32 = 1200;

/// From a job's group down to a task's: `step_0/user/task_0`.
const DEPTH_OF_A_STEP: u32 = 3;

/// `cpu.weight` of a job with a cap of one core; also the kernel's default.
const ONE_CORE_WEIGHT: u64 = 100;
/// The kernel's bounds for `cpu.weight`.
const WEIGHTS: (u64, u64) = (1, 10_000);

/// See the module.
#[derive(Debug, Clone)]
pub struct CgroupV2 {
    root: PathBuf,
    node: String,
    scopes: Vec<PathBuf>,
    processes: ProcessTable,
    unseen_processes: Option<String>,
    /// `vm.swappiness`.
    swappiness: PathBuf,
    calls_since_walk: u32,
    warned_ignored: bool,
}

impl CgroupV2 {
    /// The tree mounted at `root`, for the Slurm node `node`.
    pub fn new(root: &Path, node: &str) -> CgroupV2 {
        CgroupV2::with_processes(root, node, Path::new("/proc"))
    }

    /// As `new()`, with the processes that are shown at `proc`.
    pub(crate) fn with_processes(root: &Path, node: &str, proc: &Path) -> CgroupV2 {
        CgroupV2 {
            root: root.to_path_buf(),
            node: node.to_string(),
            scopes: Vec::new(),
            processes: ProcessTable::new(proc),
            unseen_processes: None,
            swappiness: "/proc/sys/vm/swappiness".into(),
            calls_since_walk: CALLS_BETWEEN_WALKS,
            warned_ignored: false,
        }
    }

    fn file(&self, job: &JobDirectory, name: &str) -> PathBuf {
        self.root.join(&job.path).join(name)
    }

    /// The processes in all that is frozen of the job.
    fn processes_of_steps(&self, job: &JobDirectory) -> Result<Vec<u32>, CgroupError> {
        let mut found = Vec::new();
        for step in self.steps(job)? {
            found.extend(files::processes(&self.root.join(&step.path))?);
        }
        Ok(found)
    }

    /// The machine never swaps what is in a group.
    fn never_swaps(&self) -> bool {
        files::read_number(&self.swappiness).is_ok_and(|swappiness| swappiness == 0)
    }

    /// Slurm's scopes, below the root; remembered until one vanishes, or is no longer root's alone.
    fn find_scopes(&mut self) -> Result<&[PathBuf], CgroupError> {
        let mut known = Vec::new();
        for scope in &self.scopes {
            let trusted = is_trusted_down_to(&self.root, scope);
            if trusted.map_err(failed("look at", &self.root.join(scope)))? {
                known.push(scope.clone());
            }
        }
        self.scopes = known;
        let wait = if self.scopes.is_empty() {
            CALLS_BETWEEN_WALKS
        } else {
            CALLS_BETWEEN_CHECKS
        };
        self.calls_since_walk += 1;
        if self.calls_since_walk >= wait {
            let found = scope::find(&self.root, &self.node)?;
            // After an error the next call looks again: until then it is unknown which jobs there
            // are.
            self.calls_since_walk = 0;
            self.warn_ignored(found.ignored.as_deref());
            self.scopes = found.scopes;
        }
        Ok(&self.scopes)
    }

    /// Slurm makes one with the files that show what this kernel can do.
    fn scope_file(&self, name: &str) -> Option<PathBuf> {
        let scope = self.scopes.first()?;
        Some(self.root.join(scope).join(name))
    }

    /// Once: a user who made one can make more.
    fn warn_ignored(&mut self, ignored: Option<&Path>) {
        if let Some(path) = ignored.filter(|_| !self.warned_ignored) {
            log_ignored(&self.root.join(path));
            self.warned_ignored = true;
        }
    }
}

impl CgroupDriver for CgroupV2 {
    fn version(&self) -> &'static str {
        "v2"
    }

    fn jobs(&mut self) -> Result<Vec<JobDirectory>, CgroupError> {
        let scopes = self.find_scopes()?.to_vec();
        let (mut jobs, mut used) = (BTreeMap::new(), Vec::new());
        let mut blind_spot = None;
        for scope in &scopes {
            // Of two directories of a job the one of its later run, which has the greater name.
            let mut here = BTreeMap::new();
            for (name, directory) in files::subdirectories(&self.root.join(scope))? {
                let path = scope.join(&name);
                match numbered(&name, "job_") {
                    Some(id) => drop(here.insert(id, path)),
                    None => match sluid::owner(&name, &directory, &self.processes)? {
                        Some(Owner::Job(id)) => drop(here.insert(id, path)),
                        Some(Owner::Unknown) => {
                            let text = format!(
                                "{} has processes, and /proc does not say of which job: dfrsd must see all \
                                 processes (hidepid=)",
                                directory.display()
                            );
                            blind_spot = Some(text);
                        }
                        Some(Owner::Ended) | None => {}
                    },
                }
            }
            if !here.is_empty() {
                used.push(scope);
            }
            for (id, path) in here {
                jobs.entry(id).or_insert(path);
            }
        }
        if let [first, second, ..] = used[..] {
            let text = format!(
                "jobs are in {} and in {}: no job is parked until those of one of them have ended",
                first.display(),
                second.display()
            );
            blind_spot = Some(text);
        }
        self.unseen_processes = blind_spot;
        let jobs = jobs.into_iter();
        Ok(jobs.map(|(id, path)| JobDirectory { id, path }).collect())
    }

    fn cap(&self, job: &JobDirectory) -> Result<Option<Quota>, CgroupError> {
        read_cap(&self.file(job, "cpu.max"))
    }

    fn set_cap(&self, job: &JobDirectory, cap: Option<Quota>) -> Result<(), CgroupError> {
        let weight = cap.map_or(ONE_CORE_WEIGHT, |cap| {
            cap.weight(ONE_CORE_WEIGHT, WEIGHTS.0, WEIGHTS.1)
        });
        // The cap last: it is what is looked at to see whether all was written.
        files::write(&self.file(job, "cpu.weight"), &weight.to_string())?;
        let quota = cap.map_or("max".to_string(), |cap| cap.microseconds().to_string());
        files::write(
            &self.file(job, "cpu.max"),
            &format!("{quota} {}", cap.map_or(LONG_PERIOD, Quota::period)),
        )
    }

    fn gather(&self, _job: &JobDirectory) -> Result<usize, CgroupError> {
        Ok(0) // the cap is on the group in which Slurm starts the processes
    }

    fn bound_cores(&self, job: &JobDirectory) -> Result<CoreSet, CgroupError> {
        let cores = files::read_cores_if_there(&self.file(job, "cpuset.cpus"))?;
        if cores.is_empty() {
            return Ok(cores);
        }
        let populated = match files::read_keyed(&self.file(job, "cgroup.events"), "populated") {
            Err(error) if files::has_vanished(&error.source) => None,
            other => other?,
        };
        let has_processes = populated == Some(1);
        Ok(Some(cores).filter(|_| has_processes).unwrap_or_default())
    }

    fn unbind(&self, job: &JobDirectory, held: &CoreSet) -> Result<usize, CgroupError> {
        let scope = self.root.join(&job.path).join("../cpuset.cpus.effective");
        let all = files::read_cores_if_there(&scope)?;
        // Without ConstrainCores Slurm may have no cpuset controller here.
        if all.is_empty() {
            return Ok(0);
        }
        let left = all.left_by(held);
        give_cores(&self.root.join(&job.path), &left, DEPTH_OF_A_STEP)
    }

    fn remove_unused_groups(&self) {
        // None was made.
    }

    fn forget(&self, _job: &JobDirectory) -> bool {
        true // nothing was made
    }

    fn leftovers(&self) -> Result<Vec<JobDirectory>, CgroupError> {
        Ok(Vec::new())
    }

    fn set_swap_allowed(&self, job: &JobDirectory, allowed: bool) -> Result<bool, CgroupError> {
        let limit = self.file(job, "memory.swap.max");
        if !limit.exists() {
            return Ok(allowed);
        }
        let limited = files::read_limit(&self.file(job, "memory.max"))?.is_some();
        let forbidden = limited && !allowed;
        files::write(&limit, if forbidden { "0" } else { "max" })?;
        Ok(allowed || forbidden)
    }

    fn steps(&self, job: &JobDirectory) -> Result<Vec<StepDirectory>, CgroupError> {
        let found = files::subdirectories(&self.root.join(&job.path))?;
        let step = |name: String| StepDirectory {
            path: job.path.join(&name).join("user"),
            name,
        };
        Ok(found
            .into_iter()
            .filter(|(name, path)| name.starts_with("step_") && path.join("user").is_dir())
            .map(|(name, _)| step(name))
            .collect())
    }

    fn enclose(&self, job: &JobDirectory, bring: bool) -> Result<usize, CgroupError> {
        let mut left = 0;
        for (name, step) in files::subdirectories(&self.root.join(&job.path))? {
            if !name.starts_with("step_") {
                continue;
            }
            let (users, unknown) = user_processes(&step.join("slurm"), &self.processes)?;
            left += unknown;
            // Slurm ends what is in a task's group with the step.
            let task = match users.is_empty() {
                true => None,
                false => files::subdirectories(&step.join("user"))?
                    .into_iter()
                    .find(|(name, _)| name.starts_with("task_")),
            };
            match task {
                Some((_, task)) if bring => users
                    .iter()
                    .try_for_each(|process| move_process(*process, &task.join("cgroup.procs")))?,
                _ => left += users.len(),
            }
        }
        Ok(left)
    }

    fn end_processes(&self, job: &JobDirectory) -> Result<usize, CgroupError> {
        end_user_processes(&self.root.join(&job.path), &self.processes)
    }

    fn freezer(&self, step: &StepDirectory) -> Result<Freezer, CgroupError> {
        let directory = self.root.join(&step.path);
        if files::read(&directory.join("cgroup.freeze"))? == "0" {
            return Ok(Freezer::Thawed);
        }
        let frozen = files::read_keyed(&directory.join("cgroup.events"), "frozen")? == Some(1);
        Ok(if frozen {
            Freezer::Frozen
        } else {
            Freezer::Freezing
        })
    }

    fn set_frozen(&self, step: &StepDirectory, frozen: bool) -> Result<(), CgroupError> {
        let path = self.root.join(&step.path).join("cgroup.freeze");
        files::write(&path, if frozen { "1" } else { "0" })
    }

    fn cpu_use(&self, job: &JobDirectory) -> CpuUse {
        let stat = self.file(job, "cpu.stat");
        let number = |key| files::read_keyed(&stat, key).ok().flatten();
        let seconds = |key| number(key).map(files::seconds_from_microseconds);
        CpuUse {
            used_seconds: seconds("usage_usec"),
            throttled_seconds: seconds("throttled_usec"),
        }
    }

    fn memory_use(&self, job: &JobDirectory) -> MemoryUse {
        MemoryUse {
            resident_bytes: files::read_number(&self.file(job, "memory.current")).ok(),
            swapped_bytes: files::read_number(&self.file(job, "memory.swap.current")).ok(),
        }
    }

    fn memory_limit(&self, job: &JobDirectory) -> Result<Option<u64>, CgroupError> {
        files::read_limit(&self.file(job, "memory.max"))
    }

    fn set_memory_limit(&self, job: &JobDirectory, limit: Option<u64>) -> Result<(), CgroupError> {
        let text = limit.map_or("max".to_owned(), |limit| limit.to_string());
        files::write(&self.file(job, "memory.max"), &text)
    }

    fn hold_tasks(&self, job: &JobDirectory, margin: Option<u64>) -> Result<(), CgroupError> {
        let mut groups = Vec::new();
        for step in self.steps(job)? {
            groups.extend(tasks(&self.root.join(&step.path))?);
        }
        hold_groups(&groups, ["memory.current", "memory.max"], margin, "max")
    }

    fn set_oom_killable(&self, job: &JobDirectory, killable: bool) -> Result<(), CgroupError> {
        // All are tried: one that is refused does not decide about the others.
        self.processes_of_steps(job)?
            .iter()
            .map(|process| self.processes.set_oom_killable(*process, killable))
            .fold(Ok(()), Result::and)
    }

    fn huge_pages(&self, job: &JobDirectory) -> Result<u64, CgroupError> {
        let processes = self.processes_of_steps(job)?;
        Ok(self.processes.huge_pages(&processes))
    }

    fn reclaim(&self, job: &JobDirectory, cancel: &AtomicBool) -> Result<Reclaimed, CgroupError> {
        let current = self.file(job, "memory.current");
        let file = self.file(job, "memory.reclaim");
        let manner = if self.never_swaps() && takes_swappiness(&file) {
            swappiness_word()
        } else {
            String::new()
        };
        let piece = |_, bytes| match files::write_once(&file, &format!("{bytes}{manner}")) {
            // Less than requested could be had: what matters is what is left.
            Err(error) if error.source.kind() == io::ErrorKind::WouldBlock => Ok(()),
            other => other,
        };
        reclaim_in_pieces(cancel, || files::read_number(&current), piece)
    }

    fn can_reclaim(&self) -> bool {
        self.scope_file("memory.reclaim")
            .is_some_and(|file| file.exists())
    }

    fn ignores_swap(&self) -> bool {
        self.never_swaps()
            && self
                .scope_file("memory.reclaim")
                .is_some_and(|file| !takes_swappiness(&file))
    }

    fn unseen_processes(&self) -> Result<Option<String>, CgroupError> {
        Ok(self.unseen_processes.clone())
    }

    fn memory_capacity(&self) -> Result<Option<u64>, CgroupError> {
        files::read_limit(&self.root.join("memory.max"))
    }

    fn capacity_limit(&self) -> Result<Option<f64>, CgroupError> {
        // The kernel's own root has no such file; a container's root has.
        let path = self.root.join("cpu.max");
        if !path.exists() {
            return Ok(None);
        }
        read_cap(&path).map(|cap| cap.map(Quota::cores))
    }

    fn processors(&self) -> Option<String> {
        files::read(&self.root.join("cpuset.cpus.effective")).ok()
    }

    fn swap_limit(&self) -> Result<Option<u64>, CgroupError> {
        files::read_limit(&self.root.join("memory.swap.max"))
    }

    fn share(&self) -> Box<dyn CgroupDriver> {
        Box::new(self.clone())
    }
}

/// Whether one reclaim can be given a swappiness (Linux 6.11): tested by a reclaim of nothing.
fn takes_swappiness(reclaim: &Path) -> bool {
    files::write(reclaim, &format!("0{}", swappiness_word())).is_ok()
}

/// What follows the number of bytes.
fn swappiness_word() -> String {
    format!(" swappiness={DEFAULT_SWAPPINESS}")
}

/// Gives these cores to the groups below this one down to this depth, and then to itself, where they were given
/// some; returns how many groups that were. O(groups).
fn give_cores(directory: &Path, cores: &CoreSet, depth: u32) -> Result<usize, CgroupError> {
    let mut changed = 0;
    if depth > 0 {
        for (_, below) in files::subdirectories(directory)? {
            changed += give_cores(&below, cores, depth - 1)?;
        }
    }
    Ok(changed + usize::from(give_cores_to_group(directory, cores)?))
}

/// As `give_cores()`, for one group. The kernel refuses to take cores back by an empty text while
/// processes are inside.
fn give_cores_to_group(directory: &Path, cores: &CoreSet) -> Result<bool, CgroupError> {
    let file = directory.join("cpuset.cpus");
    let bound = files::read_cores_if_there(&file)?;
    if bound.is_empty() || bound == *cores {
        return Ok(false);
    }
    files::write(&file, &cores.to_string())?;
    Ok(true)
}

/// The quota in a `cpu.max`; none: no cap.
fn read_cap(path: &Path) -> Result<Option<Quota>, CgroupError> {
    let text = files::read(path)?;
    let (quota, period) = text.split_once(' ').unwrap_or((&text, "100000"));
    if quota == "max" {
        return Ok(None);
    }
    let parsed = quota.parse().ok().zip(period.parse().ok());
    let cap = parsed.and_then(|(quota, period)| Quota::from_kernel(quota, period));
    cap.map(Some).ok_or_else(|| malformed(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cgroup::files::write;
    use crate::cgroup::process;
    use crate::scratch::Scratch;
    use dfrs_proto::message::Share;
    use std::fs;

    fn job_at(scratch: &Scratch, path: &str, step: &str) -> JobDirectory {
        let job = scratch.path().join(path);
        let user = job.join(step).join("user");
        fs::create_dir_all(user.join("task_0")).unwrap();
        fs::create_dir_all(job.join(step).join("slurm")).unwrap();
        write(&job.join("cpu.max"), "max 100000\n").unwrap();
        write(
            &job.join("cpu.stat"),
            "usage_usec 2500000\nuser_usec 1\nthrottled_usec 500000\n",
        )
        .unwrap();
        write(&job.join("memory.current"), "1000000\n").unwrap();
        write(&job.join("memory.swap.current"), "5\n").unwrap();
        write(&user.join("cgroup.freeze"), "0\n").unwrap();
        write(&user.join("cgroup.events"), "populated 1\nfrozen 0\n").unwrap();
        JobDirectory {
            id: 17,
            path: path.into(),
        }
    }

    const DEBIAN: &str = "system.slice/n1_slurmstepd.scope/job_17";
    const PLAIN: &str = "system.slice/slurmstepd.scope/job_17";
    const CONTAINER: &str = "system.slice/docker-0a.scope/system.slice/n1_slurmstepd.scope/job_17";

    #[test]
    fn jobs_are_found_in_every_layout() {
        for path in [DEBIAN, PLAIN, CONTAINER] {
            let scratch = Scratch::new();
            let job = job_at(&scratch, path, "step_batch");
            let mut cgroups = CgroupV2::new(scratch.path(), "n1");
            assert_eq!(cgroups.jobs().unwrap(), [job], "{path}");
        }
    }

    #[test]
    fn a_directory_with_a_name_by_sluid_is_that_of_its_slurmstepds_job() {
        let scratch = Scratch::new();
        let path = "system.slice/n1_slurmstepd.scope/s21DM8A51TJE00";
        let job = job_at(&scratch, path, "step_batch");
        let mut cgroups = CgroupV2::new(scratch.path(), "n1");
        assert_eq!(cgroups.jobs().unwrap(), []);
        let slurm = scratch.path().join(path).join("step_batch/slurm");
        write(&slurm.join("cgroup.procs"), "5\n").unwrap();
        let proc = scratch.path().join("proc");
        process::tests::run(&proc, 5, "slurmstepd: [17.batch]\0");
        cgroups.processes = ProcessTable::new(&proc);
        assert_eq!(cgroups.jobs().unwrap(), [job]);
    }

    #[test]
    fn another_nodes_scope_is_left_alone_and_the_own_name_wins() {
        let scratch = Scratch::new();
        job_at(
            &scratch,
            "system.slice/n10_slurmstepd.scope/job_5",
            "step_0",
        );
        assert_eq!(CgroupV2::new(scratch.path(), "n1").jobs().unwrap(), []);
        job_at(&scratch, PLAIN, "step_0");
        let own = job_at(&scratch, CONTAINER, "step_0");
        assert_eq!(CgroupV2::new(scratch.path(), "n1").jobs().unwrap(), [own]);
    }

    #[test]
    fn a_scope_that_comes_late_or_again_is_found() {
        let scratch = Scratch::new();
        let mut cgroups = CgroupV2::new(scratch.path(), "n1");
        assert_eq!(cgroups.jobs().unwrap(), []);
        let job = job_at(&scratch, DEBIAN, "step_0");
        let found = (0..=CALLS_BETWEEN_WALKS).any(|_| cgroups.jobs().unwrap() == [job.clone()]);
        assert!(found);
        fs::remove_dir_all(scratch.path().join("system.slice")).unwrap();
        assert_eq!(cgroups.jobs().unwrap(), []);
    }

    #[test]
    fn jobs_get_all_cores_where_slurm_has_bound_them_to_some() {
        let scratch = Scratch::new();
        let job = job_at(&scratch, DEBIAN, "step_batch");
        let cgroups = CgroupV2::new(scratch.path(), "n1");
        assert_eq!(
            cgroups.unbind(&job, &CoreSet::default()).unwrap(),
            0,
            "no cpuset controller"
        );

        let directory = scratch.path().join(DEBIAN);
        let user = directory.join("step_batch/user");
        bind_to_core_1(&directory);
        assert_eq!(cgroups.unbind(&job, &CoreSet::default()).unwrap(), 2);
        let cores = |group: &Path| files::read(&group.join("cpuset.cpus")).unwrap();
        assert_eq!(
            (cores(&directory), cores(&user)),
            ("0-3".into(), "0-3".into())
        );
        assert_eq!(
            cores(&user.join("task_0")),
            "",
            "it has what its parent has"
        );
        assert_eq!(
            cgroups.unbind(&job, &CoreSet::default()).unwrap(),
            0,
            "nothing is left to do"
        );
    }

    /// As Slurm does with `ConstrainCores=yes`; the kernel's own figures are those of a job that has all again.
    fn bind_to_core_1(job: &Path) {
        let user = job.join("step_batch/user");
        for (group, cores, effective) in [
            (job.parent().unwrap(), "", "0-3"),
            (job, "1", "0-3"),
            (&*user, "1", "0-3"),
            (&*user.join("task_0"), "", "1"),
        ] {
            write(&group.join("cpuset.cpus"), &format!("{cores}\n")).unwrap();
            write(
                &group.join("cpuset.cpus.effective"),
                &format!("{effective}\n"),
            )
            .unwrap();
        }
        write(&job.join("step_batch/cpuset.cpus.effective"), "0-3\n").unwrap();
    }

    #[test]
    fn jobs_get_the_cores_that_others_leave_and_all_if_these_hold_all() {
        let scratch = Scratch::new();
        let job = job_at(&scratch, DEBIAN, "step_batch");
        let cgroups = CgroupV2::new(scratch.path(), "n1");
        let directory = scratch.path().join(DEBIAN);
        bind_to_core_1(&directory);
        let groups = ["", "step_batch/user"];
        let after = |held| {
            let held = CoreSet::parse(held).unwrap();
            let changed = cgroups.unbind(&job, &held).unwrap();
            let cores = |group| files::read(&directory.join(group).join("cpuset.cpus")).unwrap();
            (changed, groups.map(cores).join(" "))
        };
        assert_eq!(after("1"), (2, "0,2-3 0,2-3".to_owned()));
        assert_eq!(after("1"), (0, "0,2-3 0,2-3".to_owned()));
        assert_eq!(after("1-2,7"), (2, "0,3 0,3".to_owned()));
        assert_eq!(after("0-3"), (2, "0-3 0-3".to_owned()));
        assert_eq!(after("2"), (2, "0-1,3 0-1,3".to_owned()));
        let effective = directory.parent().unwrap().join("cpuset.cpus.effective");
        write(&effective, "0-1\n").unwrap();
        assert_eq!(after("0").1, "1 1", "the others are offline");
        for text in ["0-", "3-1", "max", "0-99999999999"] {
            write(&effective, text).unwrap();
            let error = cgroups.unbind(&job, &CoreSet::default()).unwrap_err();
            assert!(
                error.to_string().contains("cpuset.cpus.effective"),
                "{text}: {error}"
            );
        }
    }

    #[test]
    fn groups_below_give_up_cores_first() {
        let scratch = Scratch::new();
        let job = job_at(&scratch, DEBIAN, "step_batch");
        let cgroups = CgroupV2::new(scratch.path(), "n1");
        let directory = scratch.path().join(DEBIAN);
        bind_to_core_1(&directory);
        write(&directory.join("step_batch/user/cpuset.cpus"), "many\n").unwrap();
        let held = CoreSet::parse("1").unwrap();
        assert!(cgroups.unbind(&job, &held).is_err());
        let cores = files::read(&directory.join("cpuset.cpus")).unwrap();
        assert_eq!(cores, "1", "the kernel would have refused it");
    }

    #[test]
    fn job_holds_the_cores_that_it_is_bound_to_while_it_has_processes() {
        let scratch = Scratch::new();
        let job = job_at(&scratch, DEBIAN, "step_batch");
        let cgroups = CgroupV2::new(scratch.path(), "n1");
        let bound = || cgroups.bound_cores(&job).map(|cores| cores.to_string());
        assert_eq!(bound().unwrap(), "", "no cpuset controller");
        let [cores, events] = ["cpuset.cpus", "cgroup.events"].map(|name| cgroups.file(&job, name));
        write(&cores, "\n").unwrap();
        assert_eq!(bound().unwrap(), "", "Slurm binds no job");
        write(&cores, "1,3\n").unwrap();
        assert_eq!(bound().unwrap(), "", "it has just been removed");
        write(&events, "populated 0\nfrozen 0\n").unwrap();
        assert_eq!(
            bound().unwrap(),
            "",
            "it has ended, and Slurm left its directory"
        );
        write(&events, "populated 1\nfrozen 0\n").unwrap();
        assert_eq!(bound().unwrap(), "1,3");
        write(&cores, "many\n").unwrap();
        let error = bound().unwrap_err().to_string();
        assert!(error.contains("cpuset.cpus"), "{error}");
    }

    #[test]
    fn caps_are_written_and_read() {
        let scratch = Scratch::new();
        let job = job_at(&scratch, DEBIAN, "step_batch");
        let cgroups = CgroupV2::new(scratch.path(), "n1");
        assert_eq!(cgroups.cap(&job).unwrap(), None);
        let share = Share::clamped(0.2);
        for (cap, written) in [
            (Some(Quota::of(share, 2.0)), "40000 100000"),
            (Some(Quota::in_short_periods(share, 2.0)), "8000 20000"),
            (None, "max 100000"),
        ] {
            cgroups.set_cap(&job, cap).unwrap();
            assert_eq!(
                files::read(&cgroups.file(&job, "cpu.max")).unwrap(),
                written
            );
            assert_eq!(cgroups.cap(&job).unwrap(), cap);
        }
    }

    #[test]
    fn an_unreadable_cap_is_an_error_not_a_guess() {
        let scratch = Scratch::new();
        let job = job_at(&scratch, DEBIAN, "step_batch");
        let cgroups = CgroupV2::new(scratch.path(), "n1");
        write(&cgroups.file(&job, "cpu.max"), "many 100000").unwrap();
        assert!(
            cgroups
                .cap(&job)
                .unwrap_err()
                .to_string()
                .contains("cpu.max")
        );
    }

    #[test]
    fn only_the_users_part_of_a_step_is_frozen() {
        let scratch = Scratch::new();
        let job = job_at(&scratch, DEBIAN, "step_batch");
        let cgroups = CgroupV2::new(scratch.path(), "n1");
        let steps = cgroups.steps(&job).unwrap();
        assert_eq!(steps.len(), 1);
        assert!(steps[0].path.ends_with("step_batch/user"));
        assert_eq!(cgroups.freezer(&steps[0]).unwrap(), Freezer::Thawed);
        cgroups.set_frozen(&steps[0], true).unwrap();
        assert_eq!(cgroups.freezer(&steps[0]).unwrap(), Freezer::Freezing);
        write(
            &scratch.path().join(&steps[0].path).join("cgroup.events"),
            "populated 1\nfrozen 1\n",
        )
        .unwrap();
        assert_eq!(cgroups.freezer(&steps[0]).unwrap(), Freezer::Frozen);
    }

    #[test]
    fn use_is_read_in_seconds_and_bytes() {
        let scratch = Scratch::new();
        let job = job_at(&scratch, DEBIAN, "step_batch");
        let cgroups = CgroupV2::new(scratch.path(), "n1");
        let cpu = CpuUse {
            used_seconds: Some(2.5),
            throttled_seconds: Some(0.5),
        };
        assert_eq!(cgroups.cpu_use(&job), cpu);
        assert_eq!(
            cgroups.memory_use(&job),
            MemoryUse {
                resident_bytes: Some(1_000_000),
                swapped_bytes: Some(5)
            }
        );
        let gone = JobDirectory {
            id: 1,
            path: "gone".into(),
        };
        assert_eq!(cgroups.cpu_use(&gone), CpuUse::default());
    }

    #[test]
    fn reclaim_ends_when_nothing_moves() {
        let scratch = Scratch::new();
        let job = job_at(&scratch, DEBIAN, "step_batch");
        let cgroups = CgroupV2::new(scratch.path(), "n1");
        let reclaimed = cgroups.reclaim(&job, &AtomicBool::new(false)).unwrap();
        assert_eq!(
            reclaimed,
            Reclaimed {
                before_bytes: 1_000_000,
                after_bytes: 1_000_000
            }
        );
        assert_eq!(
            files::read(&cgroups.file(&job, "memory.reclaim")).unwrap(),
            "1000000"
        );
    }

    #[test]
    fn reclaim_sets_swappiness_when_that_of_the_system_is_zero() {
        let scratch = Scratch::new();
        let job = job_at(&scratch, DEBIAN, "step_batch");
        let mut cgroups = CgroupV2::new(scratch.path(), "n1");
        cgroups.swappiness = scratch.path().join("swappiness");
        cgroups.jobs().unwrap();
        let reclaim = cgroups.file(&job, "memory.reclaim");
        let of_scope = cgroups.file(&job, "../memory.reclaim");
        let asked = |cgroups: &CgroupV2| {
            cgroups.reclaim(&job, &AtomicBool::new(false)).unwrap();
            files::read(&reclaim).unwrap()
        };
        write(&cgroups.swappiness, "1\n").unwrap();
        assert_eq!(asked(&cgroups), "1000000");
        write(&cgroups.swappiness, "0\n").unwrap();
        assert_eq!(asked(&cgroups), "1000000 swappiness=60");
        assert!(!cgroups.ignores_swap());
        assert_eq!(files::read(&of_scope).unwrap(), "0 swappiness=60");
        // A kernel that does not take it.
        fs::remove_file(&of_scope).unwrap();
        fs::create_dir(&of_scope).unwrap();
        assert!(cgroups.ignores_swap());
        write(&cgroups.swappiness, "1\n").unwrap();
        assert!(!cgroups.ignores_swap());
    }

    #[test]
    fn memory_that_cannot_be_read_is_not_gone() {
        let scratch = Scratch::new();
        let job = job_at(&scratch, DEBIAN, "step_batch");
        let cgroups = CgroupV2::new(scratch.path(), "n1");
        fs::remove_file(cgroups.file(&job, "memory.current")).unwrap();
        let error = cgroups.reclaim(&job, &AtomicBool::new(false)).unwrap_err();
        assert!(error.to_string().contains("memory.current"), "{error}");
    }

    #[test]
    fn swap_is_for_jobs_that_are_parked_or_without_a_limit() {
        let scratch = Scratch::new();
        let job = job_at(&scratch, DEBIAN, "step_batch");
        let cgroups = CgroupV2::new(scratch.path(), "n1");
        let swap = cgroups.file(&job, "memory.swap.max");
        assert!(!cgroups.set_swap_allowed(&job, false).unwrap());
        assert!(!swap.exists(), "this kernel does not count it");
        write(&swap, "max\n").unwrap();
        write(&cgroups.file(&job, "memory.max"), "104857600\n").unwrap();
        let after = |allowed| {
            let done = cgroups.set_swap_allowed(&job, allowed).unwrap();
            (files::read(&swap).unwrap(), done)
        };
        assert_eq!(after(false), ("0".into(), true));
        assert_eq!(after(true), ("max".into(), true));
        write(&cgroups.file(&job, "memory.max"), "max\n").unwrap();
        assert_eq!(after(false), ("max".into(), false));
    }

    #[test]
    fn a_containers_own_limits_are_seen() {
        let scratch = Scratch::new();
        let cgroups = CgroupV2::new(scratch.path(), "n1");
        assert_eq!(
            (
                cgroups.capacity_limit().unwrap(),
                cgroups.swap_limit().unwrap()
            ),
            (None, None)
        );
        write(&scratch.path().join("cpu.max"), "150000 100000\n").unwrap();
        write(&scratch.path().join("memory.swap.max"), "max\n").unwrap();
        assert_eq!(
            (
                cgroups.capacity_limit().unwrap(),
                cgroups.swap_limit().unwrap()
            ),
            (Some(1.5), None)
        );
    }
}
