//! Pushing a job's memory to swap and holding it there, beside the daemon's loop: gigabytes to a disk take
//! their time, and caps must not wait for it.

use std::os::unix::thread::JoinHandleExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use nix::sys::pthread::pthread_kill;
use nix::sys::signal::Signal;

use crate::cgroup::{CgroupDriver, CgroupError, JobDirectory};
use crate::parking::{self, Claim};

/// Ends a system call of the thread; nothing else sends or handles this signal.
const INTERRUPT: Signal = Signal::SIGUSR1;

/// One job whose memory is to be pushed to swap.
#[derive(Debug, Clone)]
pub struct ReclaimRequest {
    /// Which.
    pub job: JobDirectory,
    /// What is known of it.
    pub claim: Claim,
    /// The memory limit that it has while it runs.
    pub limit_bytes: u64,
    /// Set when it is no longer wanted.
    pub cancel: Arc<AtomicBool>,
}

impl ReclaimRequest {
    /// A request that is not cancelled.
    pub fn new(job: JobDirectory, claim: Claim, limit: u64) -> ReclaimRequest {
        ReclaimRequest {
            job,
            claim,
            limit_bytes: limit,
            cancel: Arc::default(),
        }
    }

    /// The reclaim is no longer wanted.
    pub fn cancel(&self) {
        self.cancel.store(true, Ordering::SeqCst);
    }

    /// Whether it is no longer wanted.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::SeqCst)
    }
}

/// What became of a job's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reclaim {
    /// Bytes in RAM, huge pages included.
    pub resident_bytes: u64,
    /// The memory limit that holds the job to it; none: too much stays, and the job has the limit that it had.
    pub limit_bytes: Option<u64>,
    /// The job's processes could be protected from being ended when others touch memory of theirs.
    pub is_protected: bool,
}

/// A request that was carried out.
pub type ReclaimOutcome = (ReclaimRequest, Result<Reclaim, CgroupError>);

/// Carries out requests, one after the other: two at once would only share the disk.
pub trait Reclaimer: Send {
    /// Takes a request, and returns at once.
    fn request(&mut self, request: ReclaimRequest);

    /// Some request was cancelled: what is under way should end, even in the middle of a system call.
    fn interrupt(&self);

    /// Requests carried out since the last call; cancelled ones may be among them.
    fn finished(&mut self) -> Vec<ReclaimOutcome>;

    /// Waits until nothing is under way; all requests have been cancelled.
    fn stop(&mut self);
}

/// A reclaimer with a thread of its own, which ends with it.
pub struct ReclaimThread {
    requests: Option<Sender<ReclaimRequest>>,
    outcomes: Receiver<ReclaimOutcome>,
    thread: Option<JoinHandle<()>>,
}

impl ReclaimThread {
    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// If the signal that ends its system calls cannot be handled.
    pub fn new(cgroups: Box<dyn CgroupDriver>) -> std::io::Result<ReclaimThread> {
        // A handler that does nothing: without one the signal would end the daemon.
        signal_hook::flag::register(INTERRUPT as i32, Arc::default())?;
        let (requests, received) = channel::<ReclaimRequest>();
        let (finished, outcomes) = channel();
        let thread = thread::spawn(move || {
            for request in received
                .into_iter()
                .filter(|request| !request.is_cancelled())
            {
                let result = confine(cgroups.as_ref(), &request);
                if finished.send((request, result)).is_err() {
                    return;
                }
            }
        });
        Ok(ReclaimThread {
            requests: Some(requests),
            outcomes,
            thread: Some(thread),
        })
    }
}

impl Reclaimer for ReclaimThread {
    fn request(&mut self, request: ReclaimRequest) {
        // The thread ends only after this sender is gone, or by a panic, which was reported.
        if let Some(requests) = &self.requests {
            let _ = requests.send(request);
        }
    }

    fn interrupt(&self) {
        if let Some(thread) = &self.thread {
            // A thread that has ended has nothing under way.
            let _ = pthread_kill(thread.as_pthread_t(), INTERRUPT);
        }
    }

    fn finished(&mut self) -> Vec<ReclaimOutcome> {
        self.outcomes.try_iter().collect()
    }

    fn stop(&mut self) {
        self.requests = None;
        self.interrupt();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Pushes the job's memory to swap and lowers its memory limit to what stays, so that the kernel
/// holds the job to that, whichever process touches its memory. If it is cancelled, or too much
/// stays, the job has its own limit again.
///
/// # Errors
///
/// If the kernel cannot do it; then the job has its own limit again, if the kernel can do that.
pub fn confine(
    cgroups: &dyn CgroupDriver,
    request: &ReclaimRequest,
) -> Result<Reclaim, CgroupError> {
    let job = &request.job;
    // Before the limit: at a limit that is too low for it, the kernel would end the job.
    let is_protected = cgroups.set_oom_killable(job, false).is_ok();
    let result = confine_protected(cgroups, request, is_protected);
    let is_confined = matches!(
        result,
        Ok(Reclaim {
            limit_bytes: Some(_),
            ..
        })
    );
    // Looked at after the limit was written: a cancellation gives the limit back after that, too.
    if is_confined && !request.is_cancelled() {
        return result;
    }
    cgroups.set_memory_limit(job, Some(request.limit_bytes))?;
    cgroups.hold_tasks(job, None)?;
    cgroups.set_oom_killable(job, true)?;
    result
}

fn confine_protected(
    cgroups: &dyn CgroupDriver,
    request: &ReclaimRequest,
    is_protected: bool,
) -> Result<Reclaim, CgroupError> {
    let job = &request.job;
    let reclaimed = cgroups.reclaim(job, &request.cancel)?;
    cgroups.hold_tasks(job, Some(parking::TASKS_MARGIN_BYTES))?;
    // What others have brought back until then counts as what stays.
    let memory = cgroups.memory_use(job).resident_bytes;
    let resident = memory.unwrap_or(reclaimed.after_bytes);
    let resident = resident.saturating_add(cgroups.huge_pages(job)?);
    let limit = request
        .claim
        .limit(resident)
        .filter(|_| !request.is_cancelled());
    if let Some(limit) = limit {
        cgroups.set_memory_limit(job, Some(limit))?;
    }
    Ok(Reclaim {
        resident_bytes: resident,
        limit_bytes: limit,
        is_protected,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cgroup::{files, v1::CgroupV1, v2::CgroupV2};
    use crate::scratch::Scratch;
    use std::fs;
    use std::path::{Path, PathBuf};

    const MEBIBYTE: u64 = 1 << 20;

    /// A job that has 3 MiB in RAM: of two tasks, one in each, and of `slurmstepd`.
    struct Frozen {
        scratch: Scratch,
        v2: bool,
    }

    impl Frozen {
        fn new(v2: bool) -> Frozen {
            let scratch = Scratch::new();
            let frozen = Frozen { scratch, v2 };
            let job = frozen.job().path;
            let sizes = [("", 3), (TASKS[0], 1), (TASKS[1], 1)];
            for (group, mebibytes) in sizes {
                let group = frozen.group(&job, group);
                fs::create_dir_all(&group).unwrap();
                let write = |name, text: &str| files::write(&group.join(name), text).unwrap();
                write(frozen.names()[0], &(mebibytes * MEBIBYTE).to_string());
                write(frozen.names()[1], if v2 { "max" } else { "-1" });
                if !v2 {
                    write("memory.oom_control", "oom_kill_disable 0\n");
                }
            }
            fs::create_dir_all(frozen.scratch.path().join("freezer").join(job)).unwrap();
            frozen
        }

        fn names(&self) -> [&'static str; 2] {
            match self.v2 {
                true => ["memory.current", "memory.max"],
                false => ["memory.usage_in_bytes", "memory.limit_in_bytes"],
            }
        }

        fn group(&self, job: &Path, below: &str) -> PathBuf {
            let root = self.scratch.path();
            match self.v2 {
                true => root.join(job).join(below.replace("/task", "/user/task")),
                false => root.join("memory").join(job).join(below),
            }
        }

        fn job(&self) -> JobDirectory {
            let path = match self.v2 {
                true => "system.slice/n1_slurmstepd.scope/job_17",
                false => "slurm_n1/uid_1000/job_17",
            };
            JobDirectory {
                id: 17,
                path: path.into(),
            }
        }

        /// The reclaim ends; the limits of the job and of its tasks.
        fn confine(&self, request: &ReclaimRequest) -> [String; 3] {
            let root = self.scratch.path();
            let cgroups: Box<dyn CgroupDriver> = match self.v2 {
                true => Box::new(CgroupV2::new(root, "n1")),
                false => Box::new(CgroupV1::new(root, "n1")),
            };
            confine(cgroups.as_ref(), request).unwrap();
            let limit = |group| self.group(&request.job.path, group).join(self.names()[1]);
            ["", TASKS[0], TASKS[1]].map(|group| files::read(&limit(group)).unwrap())
        }
    }

    const TASKS: [&str; 2] = ["step_batch/task_0", "step_0/task_0"];

    fn request(job: JobDirectory) -> ReclaimRequest {
        let claim = Claim {
            before_bytes: 200 * MEBIBYTE,
            max_resident_bytes: parking::MAX_TOLERATED_BYTES,
        };
        ReclaimRequest::new(job, claim, 200 * MEBIBYTE)
    }

    #[test]
    fn tasks_of_a_parked_job_leave_memory_for_slurmstepd() {
        for v2 in [false, true] {
            let frozen = Frozen::new(v2);
            let limits = frozen.confine(&request(frozen.job()));
            let [job, tasks @ ..] = limits.map(|limit| limit.parse::<u64>().unwrap());
            assert_eq!(job, 11 * MEBIBYTE, "v2: {v2}");
            assert_eq!(tasks, [3 * MEBIBYTE, 3 * MEBIBYTE], "v2: {v2}");
            let own = MEBIBYTE;
            assert_eq!(job - own - tasks.iter().sum::<u64>(), 4 * MEBIBYTE);
        }
    }

    #[test]
    fn processes_of_a_task_at_its_limit_are_not_ended_with_v1() {
        let frozen = Frozen::new(false);
        frozen.confine(&request(frozen.job()));
        for group in ["", TASKS[0], TASKS[1]] {
            let group = frozen.group(&frozen.job().path, group);
            let word = files::read(&group.join("memory.oom_control"));
            assert_eq!(word.unwrap(), "1");
        }
    }

    #[test]
    fn tasks_of_a_job_that_is_not_parked_have_no_limit() {
        for v2 in [false, true] {
            let frozen = Frozen::new(v2);
            let request = request(frozen.job());
            frozen.confine(&request);
            request.cancel();
            let [job, tasks @ ..] = frozen.confine(&request);
            assert_eq!(job, (200 * MEBIBYTE).to_string(), "v2: {v2}");
            assert_eq!(tasks, [if v2 { "max" } else { "-1" }; 2]);
        }
    }
}
