//! The six symbols by which slurmctld knows a scheduler plugin (`sched_plugin.c`), and the three that
//! `burst_buffer_dfrs.so` calls; the library exports nothing else. Slurm refuses the plugin unless `plugin_version` is its own version to the
//! micro release.

use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use crate::live::SlurmctldHost;
use crate::runtime::Runtime;
use crate::shim;
use dfrs_agent::slurm::port::LogLevel;

const SUCCESS: i32 = 0;
const ERROR: i32 = -1;

/// What slurmctld's log calls it.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "Slurm's name")]
pub static plugin_name: [u8; 43] = *b"Dynamic fractional resource scheduling\0\0\0\0\0";

/// `SchedulerType` in slurm.conf.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "Slurm's name")]
pub static plugin_type: [u8; 11] = *b"sched/dfrs\0";

/// The Slurm version that the shim was compiled for.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "Slurm's name")]
pub static plugin_version: u32 = shim::SLURM_VERSION_NUMBER;

static RUNTIME: Mutex<Option<Runtime>> = Mutex::new(None);

/// Starts DFRS, whose thread starts Slurm's own backfill for the other partitions. Called once at
/// start-up, before jobs are loaded, with the configuration write-locked: the threads wait for it.
#[unsafe(no_mangle)]
pub extern "C" fn init() -> i32 {
    guarded(ERROR, || {
        shim::observe_locks();
        // Also where a backup controller takes jobs and starts none (no_backup_scheduling).
        shim::accept_hetjobs();
        if !shim::scheduling_enabled() {
            return SUCCESS;
        }
        let mut runtime = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
        if runtime.is_some() {
            return ERROR;
        }
        match Runtime::start(SlurmctldHost::default()) {
            Ok(started) => {
                *runtime = Some(started);
                SUCCESS
            }
            Err(problem) => {
                shim::log(LogLevel::Error, &format!("no thread for DFRS: {problem}"));
                ERROR
            }
        }
    })
}

/// Stops both, and waits for no more than a few seconds for what hangs.
#[unsafe(no_mangle)]
pub extern "C" fn fini() {
    guarded((), || {
        let runtime = RUNTIME
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(runtime) = runtime {
            let ended = runtime.stop();
            if !ended {
                shim::log(
                    LogLevel::Error,
                    "DFRS's thread did not end within its timeout; it is abandoned, and calls Slurm no more",
                );
                shim::fence_close();
            }
        }
        shim::backfill_stop();
    });
}

/// `scontrol reconfigure` (in 22.05; from 24.11 on that is a new process).
#[unsafe(no_mangle)]
pub extern "C" fn sched_p_reconfig() -> i32 {
    guarded(ERROR, || {
        if let Some(runtime) = RUNTIME
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .as_ref()
        {
            runtime.reload();
        }
        SUCCESS
    })
}

/// Not called by Slurm but by `burst_buffer_dfrs.so`: whether Slurm's own schedulers are to leave
/// this job alone (`c_shim/withhold.h`).
///
/// # Safety
///
/// `job` points to a job's record, and the caller has slurmctld's job lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfrs_withholds(job: *const c_void) -> i32 {
    // SAFETY: as the caller promises.
    unsafe { shim::job_withheld(job) }
}

/// The second: whether slurmctld is to refuse what is being submitted (a Slurm error number), and the
/// message for its user.
///
/// # Safety
///
/// `request` points to a `job_desc_msg_t` and `message` to a pointer that is null or of Slurm's
/// `xmalloc()`, and the caller has slurmctld's job lock for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfrs_refuses(request: *const c_void, message: *mut *mut c_char) -> i32 {
    // SAFETY: as the caller promises.
    unsafe { shim::job_refused(request, message) }
}

/// The third: a job has just ended, and nothing has followed from that yet.
///
/// # Safety
///
/// `job` points to a job's record, and the caller has slurmctld's job lock for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dfrs_ends(job: *mut c_void) {
    // SAFETY: as the caller promises.
    unsafe { shim::job_ends(job) }
}

/// No panic crosses into C.
fn guarded<R>(otherwise: R, body: impl FnOnce() -> R) -> R {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(otherwise)
}
