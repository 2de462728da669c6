//! Control groups version 2: one tree.
//!
//! Slurm (22.05 and 24.11, `src/plugins/cgroup/v2/cgroup_v2.c`) makes
//! `system.slice/<node>_slurmstepd.scope/job_<id>/step_<name>/{slurm,user}`, without the node's name
//! if it was built for one `slurmd` a host, and in a container below the container's own group. The
//! step's `slurmstepd` lives in `slurm`, the user's processes in `user/task_<n>`. Slurm turns the
//! `cpu` and `memory` controllers on down to there and never writes `cpu.max`.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::files::{self, failed};
use super::{
    CgroupError, Cgroups, CpuUse, Freezer, JobDirectory, MemoryUse, Reclaimed, StepDirectory,
    numbered,
};
use crate::quota::{PERIOD_MICROSECONDS, Quota};

/// How far below the root Slurm's scope may be: a container in a pod in a slice is at 6.
const MAX_DEPTH: usize = 8;
/// How many directories are looked at for it, at most.
const MAX_VISITED: usize = 4096;
/// While there is no scope, look for it at every so many-th call: walking takes milliseconds.
const CALLS_BETWEEN_WALKS: u32 = 20;
/// Memory is reclaimed in pieces of this size, so that a thaw need not wait for all of it.
const CHUNK_BYTES: u64 = 64 << 20;
/// A reclaim has ended when this many pieces in a row achieved next to nothing.
const FRUITLESS_PIECES: u32 = 3;
/// Next to nothing, in bytes.
const LITTLE_BYTES: u64 = 128 << 10;

/// `cpu.weight` of a job with a cap of one core; also the kernel's default.
const ONE_CORE_WEIGHT: u64 = 100;
/// The kernel's bounds for `cpu.weight`.
const WEIGHTS: (u64, u64) = (1, 10_000);

/// See the module.
#[derive(Debug, Clone)]
pub struct CgroupV2 {
    root: PathBuf,
    node: String,
    scope: Option<PathBuf>,
    calls_since_walk: u32,
}

impl CgroupV2 {
    /// The tree mounted at `root`, for the Slurm node `node`.
    pub fn new(root: &Path, node: &str) -> CgroupV2 {
        CgroupV2 {
            root: root.to_path_buf(),
            node: node.to_string(),
            scope: None,
            calls_since_walk: CALLS_BETWEEN_WALKS,
        }
    }

    fn file(&self, job: &JobDirectory, name: &str) -> PathBuf {
        self.root.join(&job.path).join(name)
    }

    /// Slurm's scope, below the root; remembered until it vanishes.
    fn find_scope(&mut self) -> Option<PathBuf> {
        if let Some(scope) = self
            .scope
            .take()
            .filter(|scope| self.root.join(scope).is_dir())
        {
            self.scope = Some(scope);
            return self.scope.clone();
        }
        self.calls_since_walk += 1;
        if self.calls_since_walk >= CALLS_BETWEEN_WALKS {
            self.calls_since_walk = 0;
            self.scope = self.walk();
        }
        self.scope.clone()
    }

    /// Looks for this node's scope, breadth first; a scope that names the node beats one that names
    /// none, wherever they are. Another node's scope is never taken.
    fn walk(&self) -> Option<PathBuf> {
        let named = format!("{}_slurmstepd.scope", self.node);
        let mut nameless = None;
        let mut level = vec![self.root.clone()];
        let mut visited = 0;
        for _ in 0..MAX_DEPTH {
            let mut next = Vec::new();
            for directory in level {
                visited += 1;
                if visited > MAX_VISITED {
                    break;
                }
                for (name, path) in files::subdirectories(&directory).unwrap_or_default() {
                    let below = path.strip_prefix(&self.root).map(Path::to_path_buf);
                    if name == named {
                        return below.ok();
                    } else if name == "slurmstepd.scope" {
                        nameless = nameless.or(below.ok());
                    } else if !name.ends_with("_slurmstepd.scope") {
                        next.push(path);
                    }
                }
            }
            level = next;
        }
        nameless
    }
}

impl Cgroups for CgroupV2 {
    fn version(&self) -> &'static str {
        "v2"
    }

    fn jobs(&mut self) -> Result<Vec<JobDirectory>, CgroupError> {
        let Some(scope) = self.find_scope() else {
            return Ok(Vec::new());
        };
        let found = files::subdirectories(&self.root.join(&scope))?;
        let job = |name: &str| {
            Some(JobDirectory {
                id: numbered(name, "job_")?,
                path: scope.join(name),
            })
        };
        Ok(found.iter().filter_map(|(name, _)| job(name)).collect())
    }

    fn cap(&self, job: &JobDirectory) -> Result<Option<Quota>, CgroupError> {
        let path = self.file(job, "cpu.max");
        let text = files::read(&path)?;
        let (quota, period) = text.split_once(' ').unwrap_or((&text, "100000"));
        if quota == "max" {
            return Ok(None);
        }
        let parsed = quota.parse().ok().zip(period.parse().ok());
        let cap = parsed.and_then(|(quota, period)| Quota::from_kernel(quota, period));
        cap.map(Some)
            .ok_or_else(|| failed("understand", &path)(io::ErrorKind::InvalidData.into()))
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
            &format!("{quota} {PERIOD_MICROSECONDS}"),
        )
    }

    fn gather(&self, _job: &JobDirectory) -> Result<usize, CgroupError> {
        Ok(0) // the cap is on the group in which Slurm starts the processes
    }

    fn forget(&self, _job: &JobDirectory) -> bool {
        true // nothing was made
    }

    fn leftovers(&self) -> Vec<JobDirectory> {
        Vec::new()
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

    fn freezer(&self, step: &StepDirectory) -> Result<Freezer, CgroupError> {
        let directory = self.root.join(&step.path);
        if files::read(&directory.join("cgroup.freeze"))? == "0" {
            return Ok(Freezer::Thawed);
        }
        let frozen = files::read_keyed(&directory.join("cgroup.events"), "frozen") == Some(1);
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
        let seconds = |key| files::read_keyed(&stat, key).map(files::seconds_from_microseconds);
        CpuUse {
            used_seconds: seconds("usage_usec"),
            throttled_seconds: seconds("throttled_usec"),
        }
    }

    fn memory_use(&self, job: &JobDirectory) -> MemoryUse {
        MemoryUse {
            resident: files::read_number(&self.file(job, "memory.current")),
            swapped: files::read_number(&self.file(job, "memory.swap.current")),
        }
    }

    fn reclaim(&self, job: &JobDirectory, cancel: &AtomicBool) -> Result<Reclaimed, CgroupError> {
        let current = self.file(job, "memory.current");
        let resident = || files::read_number(&current).unwrap_or(0);
        let before = resident();
        let (mut after, mut fruitless) = (before, 0);
        while after > 0 && fruitless < FRUITLESS_PIECES && !cancel.load(Ordering::Relaxed) {
            let piece = after.min(CHUNK_BYTES);
            match files::write(&self.file(job, "memory.reclaim"), &piece.to_string()) {
                // Less than asked could be had: what matters is what is left.
                Err(error) if error.source.kind() == io::ErrorKind::WouldBlock => {}
                other => other?,
            }
            let left = resident();
            fruitless = if after.saturating_sub(left) < LITTLE_BYTES {
                fruitless + 1
            } else {
                0
            };
            after = left;
        }
        Ok(Reclaimed { before, after })
    }

    fn can_reclaim(&self) -> bool {
        self.scope
            .as_ref()
            .is_some_and(|scope| self.root.join(scope).join("memory.reclaim").exists())
    }

    fn capacity_limit(&self) -> Option<f64> {
        // The kernel's own root has no such file; a container's root has.
        let text = files::read(&self.root.join("cpu.max")).ok()?;
        let (quota, period) = text.split_once(' ')?;
        Some(Quota::from_kernel(quota.parse().ok()?, period.parse().ok()?)?.cores())
    }

    fn swap_limit(&self) -> Option<u64> {
        files::read_number(&self.root.join("memory.swap.max"))
    }

    fn share(&self) -> Box<dyn Cgroups> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cgroup::files::write;
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
    fn caps_are_written_and_read() {
        let scratch = Scratch::new();
        let job = job_at(&scratch, DEBIAN, "step_batch");
        let cgroups = CgroupV2::new(scratch.path(), "n1");
        assert_eq!(cgroups.cap(&job).unwrap(), None);
        let cap = Some(Quota::of(Share::clamped(0.2), 2.0));
        cgroups.set_cap(&job, cap).unwrap();
        assert_eq!(
            files::read(&cgroups.file(&job, "cpu.max")).unwrap(),
            "40000 100000"
        );
        assert_eq!(cgroups.cap(&job).unwrap(), cap);
        cgroups.set_cap(&job, None).unwrap();
        assert_eq!(
            files::read(&cgroups.file(&job, "cpu.max")).unwrap(),
            "max 100000"
        );
        assert_eq!(cgroups.cap(&job).unwrap(), None);
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
                resident: Some(1_000_000),
                swapped: Some(5)
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
                before: 1_000_000,
                after: 1_000_000
            }
        );
        assert_eq!(
            files::read(&cgroups.file(&job, "memory.reclaim")).unwrap(),
            "1000000"
        );
    }

    #[test]
    fn a_containers_own_limits_are_seen() {
        let scratch = Scratch::new();
        let cgroups = CgroupV2::new(scratch.path(), "n1");
        assert_eq!(
            (cgroups.capacity_limit(), cgroups.swap_limit()),
            (None, None)
        );
        write(&scratch.path().join("cpu.max"), "150000 100000\n").unwrap();
        write(&scratch.path().join("memory.swap.max"), "max\n").unwrap();
        assert_eq!(
            (cgroups.capacity_limit(), cgroups.swap_limit()),
            (Some(1.5), None)
        );
    }
}
