//! Safe calls into the C shim that are not the agent's, or not only.
//!
//! Each function stands for the one of the same name in `c_shim/dfrs_shim.h`, which says what it
//! does. But for [`job_withheld`], [`job_refused`] and [`job_ends`], none may be called by a thread
//! that holds one of slurmctld's locks: each takes and releases them itself.

use std::ffi::{c_char, c_int, c_void};

use dfrs_agent::slurm::port::{LogLevel, SlurmError};

use super::bindings;
use super::c_values::{TEXT_SIZE, c_string, comma_separated, count, filled, result};

include!(concat!(env!("OUT_DIR"), "/slurm_version.rs"));

/// Writes a line to slurmctld's log, after `dfrs: `.
pub fn log(level: LogLevel, message: &str) {
    fence_pass();
    let level = match level {
        LogLevel::Error => bindings::DFRS_LOG_ERROR,
        LogLevel::Info => bindings::DFRS_LOG_INFO,
        LogLevel::Verbose => bindings::DFRS_LOG_VERBOSE,
        LogLevel::Debug => bindings::DFRS_LOG_DEBUG,
    };
    let message = c_string(message);
    // SAFETY: the message is NUL-terminated and outlives the call, which copies it.
    unsafe { bindings::dfrs_log(c_int::try_from(level).unwrap_or(0), message.as_ptr()) };
    // A log that hangs may come back after the end.
    fence_pass();
}

/// False where no scheduler may run (`slurmctld -c` tests and the like).
pub fn scheduling_enabled() -> bool {
    // SAFETY: reads one flag of slurmctld's.
    unsafe { bindings::dfrs_scheduling_enabled() }
}

/// Has slurmctld accept heterogeneous jobs, which backfill starts. Only within `init()`.
pub fn accept_hetjobs() {
    // SAFETY: slurmctld's configuration is locked, or not read yet, while it calls `init()`.
    unsafe { bindings::dfrs_accept_hetjobs() };
}

/// False at start-up, at shutdown and in the backup controller.
pub fn is_primary() -> bool {
    fence_pass();
    // SAFETY: reads flags of slurmctld's.
    unsafe { bindings::dfrs_is_primary() }
}

/// Directory of slurm.conf.
///
/// # Errors
///
/// Slurm does not know it, or it is longer than 4095 bytes.
pub fn conf_directory() -> Result<String, SlurmError> {
    // SAFETY: writes at most `size` bytes, NUL-terminated, to a buffer of that size.
    let (code, path) = filled(TEXT_SIZE, |out, size| unsafe {
        bindings::dfrs_conf_directory(out, size)
    });
    result(code).map(|()| path)
}

/// StateSaveLocation.
///
/// # Errors
///
/// As [`conf_directory`].
pub fn state_directory() -> Result<String, SlurmError> {
    // SAFETY: writes at most `size` bytes, NUL-terminated, to a buffer of that size.
    let (code, path) = filled(TEXT_SIZE, |out, size| unsafe {
        bindings::dfrs_state_directory(out, size)
    });
    result(code).map(|()| path)
}

/// Whether Slurm's own schedulers are to leave this job alone (`c_shim/withhold.h`).
///
/// # Safety
///
/// `job` points to a job's record, and the caller has slurmctld's job lock.
pub unsafe fn job_withheld(job: *const c_void) -> i32 {
    // SAFETY: as the caller promises.
    unsafe { bindings::dfrs_job_withheld(job) }
}

/// Whether slurmctld is to refuse what is being submitted.
///
/// # Safety
///
/// `request` points to a `job_desc_msg_t` and `message` to a pointer that is null or of Slurm's
/// `xmalloc()`, and the caller has slurmctld's job lock for writing.
pub unsafe fn job_refused(request: *const c_void, message: *mut *mut c_char) -> i32 {
    // SAFETY: as the caller promises.
    unsafe { bindings::dfrs_job_refused(request, message) }
}

/// A job ends: one that does so after DFRS's warning is to be queued again.
///
/// # Safety
///
/// `job` points to a job's record, and the caller has slurmctld's job lock for writing.
pub unsafe fn job_ends(job: *mut c_void) {
    // SAFETY: as the caller promises.
    unsafe { bindings::dfrs_job_ends(job) }
}

/// Whether it is known which nodes [`push`] has not reached.
pub fn delivery_known() -> bool {
    // SAFETY: reads nothing but a constant.
    unsafe { bindings::dfrs_delivery_known() }
}

/// Whether this Slurm's jobs have the field that `JobField::Extra` means.
pub fn has_extra() -> bool {
    // SAFETY: returns what the shim was built for, and touches nothing.
    unsafe { bindings::dfrs_has_extra() }
}

/// When partitions were last changed in UNIX seconds; takes no lock.
pub fn last_partition_update() -> i64 {
    fence_pass();
    // SAFETY: reads a time of slurmctld's, which is one aligned word.
    unsafe { bindings::dfrs_last_partition_update() }
}

/// Puts all jobs back into the queue that were warned since slurmctld started, and have succeeded
/// since. Returns whether others are likely to end soon. O(jobs that were warned and run).
pub fn jobs_requeue_saved() -> bool {
    fence_pass();
    // SAFETY: takes slurmctld's locks, which this thread does not hold, and needs nothing else.
    unsafe { bindings::dfrs_jobs_requeue_saved() }
}

/// Sends `data` to the UNIX socket `address` (`%n`: node name) on each node; returns those that did
/// not get it. Blocks up to Slurm's message timeout.
#[must_use]
pub fn push(nodes: &[String], address: &str, data: &[u8]) -> Vec<String> {
    if nodes.is_empty() {
        return Vec::new();
    }
    let list = comma_separated(nodes);
    let address = c_string(address);
    let room = list.as_bytes().len() + 1;
    let (code, failed) = filled(room, |out, size| {
        // SAFETY: the texts are NUL-terminated, `data` has that length, `out` has room for `size`
        // bytes, and all outlive the call.
        unsafe {
            bindings::dfrs_push(
                list.as_ptr(),
                address.as_ptr(),
                data.as_ptr().cast(),
                count(data.len()),
                out,
                size,
            )
        }
    });
    if code == 0 {
        return Vec::new();
    }
    let failed: Vec<String> = failed
        .split(',')
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    if failed.is_empty() {
        nodes.to_vec()
    } else {
        failed
    }
}

/// Starts Slurm's own backfill for all partitions but these.
///
/// # Errors
///
/// The thread cannot be created.
pub fn backfill_start(hidden: &[String]) -> Result<(), SlurmError> {
    fence_pass();
    let hidden = comma_separated(hidden);
    // SAFETY: reads the NUL-terminated list and copies it.
    result(unsafe { bindings::dfrs_backfill_start(hidden.as_ptr()) })
}

/// Stops it and waits until its thread has ended.
pub fn backfill_stop() {
    // SAFETY: takes nothing.
    unsafe { bindings::dfrs_backfill_stop() }
}

/// Has it read slurm.conf again, and hides these partitions from it from now on.
pub fn backfill_reconfigure(hidden: &[String]) {
    fence_pass();
    let hidden = comma_separated(hidden);
    // SAFETY: reads the NUL-terminated list and copies it.
    unsafe { bindings::dfrs_backfill_reconfigure(hidden.as_ptr()) }
}

/// Keeps this library in memory for the rest of the process.
pub fn keep_loaded() {
    // SAFETY: takes nothing; the dynamic linker has locks of its own.
    unsafe { bindings::dfrs_keep_loaded() };
}

/// The thread belongs to this life of the plugin: between `init()` and `fini()`.
pub fn fence_enter() {
    // SAFETY: sets a number of this thread's.
    unsafe { bindings::dfrs_fence_enter() }
}

/// This life is over: threads that belong to it and still run touch nothing of Slurm's any more.
pub fn fence_close() {
    // SAFETY: counts on an atomic number.
    unsafe { bindings::dfrs_fence_close() }
}

/// Does not return in a thread whose life of the plugin is over.
pub(super) fn fence_pass() {
    // SAFETY: waits, holding nothing.
    unsafe { bindings::dfrs_fence_pass() }
}
