//! Safe calls into the C shim, and plain Rust copies of what it returns.
//!
//! Each function stands for the one of the same name in `c_shim/dfrs_shim.h`, which says what it
//! does. But for [`job_withheld`], [`job_refused`] and [`job_ends`], none may be called by a thread that holds one of slurmctld's locks:
//! each takes and releases them itself.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::null;

use dfrs_agent::slurm::port::{Ending, JobTimeLimit, LimitExtension, LogLevel, SlurmError};
use dfrs_proto::conf::JobField;

use super::bindings;
use crate::measures::LockTimes;

include!(concat!(env!("OUT_DIR"), "/slurm_version.rs"));

/// Longest path or message that the shim hands out.
const TEXT_SIZE: usize = 4096;

pub(super) fn result(code: c_int) -> Result<(), SlurmError> {
    if code == 0 {
        return Ok(());
    }
    // SAFETY: Slurm returns a pointer to a constant or thread-local NUL-terminated text that stays
    // valid until this thread's next call.
    let text = unsafe { text_at(bindings::dfrs_strerror(code)) };
    Err(SlurmError { code, text })
}

/// # Safety
///
/// `pointer` is null or points to a NUL-terminated text that is not changed during the call.
pub(super) unsafe fn text_at(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(pointer) }
        .to_string_lossy()
        .into_owned()
}

/// A C string of what comes before any NUL.
fn c_string(text: &str) -> CString {
    let text = text.split('\0').next().unwrap_or_default();
    CString::new(text).unwrap_or_default()
}

pub(super) fn comma_separated(names: &[String]) -> CString {
    c_string(&names.join(","))
}

/// Has `fill` write a text into a buffer of this size; returns what it returned, and the text.
fn filled<R>(size: usize, fill: impl FnOnce(*mut c_char, usize) -> R) -> (R, String) {
    let mut room = vec![0_u8; size.max(1)];
    let returned = fill(room.as_mut_ptr().cast(), room.len());
    let end = room
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(room.len());
    (returned, String::from_utf8_lossy(&room[..end]).into_owned())
}

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
#[must_use]
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
#[must_use]
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
#[must_use]
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
#[must_use]
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
#[must_use]
pub fn delivery_known() -> bool {
    // SAFETY: reads nothing but a constant.
    unsafe { bindings::dfrs_delivery_known() }
}

/// When partitions were last changed in UNIX seconds; takes no lock.
#[must_use]
pub fn last_partition_update() -> i64 {
    fence_pass();
    // SAFETY: reads a time of slurmctld's, which is one aligned word.
    unsafe { bindings::dfrs_last_partition_update() }
}

/// The newest of Slurm's update times in UNIX seconds; takes no lock.
#[must_use]
pub fn last_update() -> i64 {
    fence_pass();
    // SAFETY: reads times of slurmctld's; each is one aligned word.
    unsafe { bindings::dfrs_last_update() }
}

/// One line on why the running slurmctld's records cannot be trusted, if so.
#[must_use]
pub fn layout_problem() -> Option<String> {
    fence_pass();
    // SAFETY: writes at most `size` bytes, NUL-terminated, to a buffer of that size.
    let (code, problem) = filled(TEXT_SIZE, |out, size| unsafe {
        bindings::dfrs_layout_check(out, size)
    });
    (code != 0).then_some(problem)
}

/// How a job ended that left the snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlurmOutcome {
    /// Slurm has forgotten it, or its id belongs to another job now.
    Unknown,
    /// The job has not ended.
    Alive,
    /// The job's script or command returned 0.
    Completed,
    /// The job was cancelled, or its deadline passed.
    Cancelled,
    /// Exit code, signal, time limit, memory or node.
    Failed,
}

/// How this job ended. `submit_time`: as in the snapshot that it was last seen in.
#[must_use]
pub fn job_outcome(job: u32, submit_time: i64) -> SlurmOutcome {
    // SAFETY: takes numbers only.
    match u32::try_from(unsafe { bindings::dfrs_job_outcome(job, submit_time) }) {
        Ok(bindings::DFRS_OUTCOME_ALIVE) => SlurmOutcome::Alive,
        Ok(bindings::DFRS_OUTCOME_COMPLETED) => SlurmOutcome::Completed,
        Ok(bindings::DFRS_OUTCOME_CANCELLED) => SlurmOutcome::Cancelled,
        Ok(bindings::DFRS_OUTCOME_FAILED) => SlurmOutcome::Failed,
        _ => SlurmOutcome::Unknown,
    }
}

/// May these pending jobs start now as far as everything but resources is concerned? For each: why
/// not; code 11 (EAGAIN) if it only has to wait for the next second.
#[must_use]
pub fn jobs_gate(jobs: &[u32]) -> Vec<Result<(), SlurmError>> {
    let mut codes = vec![0; jobs.len()];
    // SAFETY: both arrays have `count` elements and outlive the call.
    unsafe { bindings::dfrs_jobs_gate(jobs.as_ptr(), count(jobs.len()), codes.as_mut_ptr()) };
    codes.into_iter().map(result).collect()
}

/// Do these pending jobs wait for nothing but room, by what Slurm has noted of them? Writes nothing.
#[must_use]
pub fn jobs_wait_for_room(jobs: &[u32]) -> Vec<bool> {
    let mut answers = vec![false; jobs.len()];
    // SAFETY: both arrays have `count` elements and outlive the call, which writes booleans only.
    unsafe {
        bindings::dfrs_jobs_wait_for_room(jobs.as_ptr(), count(jobs.len()), answers.as_mut_ptr());
    }
    answers
}

/// Gives `max` tasks of an array's pending record records of their own, or as many as it has.
///
/// # Errors
///
/// The job is not an array's record, or not pending.
pub fn array_split(job: u32, max: u32) -> Result<(), SlurmError> {
    // SAFETY: takes numbers only.
    result(unsafe { bindings::dfrs_array_split(job, max) })
}

/// What squeue shows as the jobs' reasons; `None`: nothing of DFRS's. Jobs that are gone are passed over.
pub fn jobs_set_reason(reasons: &[(u32, Option<String>)]) {
    let jobs: Vec<u32> = reasons.iter().map(|(job, _)| *job).collect();
    let texts = reasons.iter().map(|(_, text)| text.as_deref());
    let texts: Vec<Option<CString>> = texts.map(|text| text.map(c_string)).collect();
    let pointer = |text: &Option<CString>| text.as_ref().map_or(null(), |text| text.as_ptr());
    let pointers: Vec<*const c_char> = texts.iter().map(pointer).collect();
    // SAFETY: both arrays have `count` elements, the texts are NUL-terminated or NULL, and all outlive
    // the call, which copies them.
    unsafe {
        bindings::dfrs_jobs_set_reason(jobs.as_ptr(), pointers.as_ptr(), count(jobs.len()));
    }
}

/// Whether this Slurm's jobs have this field.
#[must_use]
pub fn has_field(field: JobField) -> bool {
    match field {
        JobField::AdminComment => true,
        // SAFETY: returns what the shim was built for, and touches nothing.
        JobField::Extra => unsafe { bindings::dfrs_has_extra() },
    }
}

/// Shows yields, in hundredths, in this field of the jobs' records; `None`: takes away what was shown. Jobs
/// that are over or gone are passed over.
pub fn jobs_set_yield(yields: &[(u32, Option<u32>)], field: JobField) {
    let jobs: Vec<u32> = yields.iter().map(|(job, _)| *job).collect();
    let yields = yields.iter().map(|(_, hundredths)| *hundredths);
    let yields: Vec<u32> = yields
        .map(|hundredths| hundredths.unwrap_or(bindings::DFRS_NO_YIELD))
        .collect();
    let field = match field {
        JobField::AdminComment => bindings::DFRS_FIELD_ADMIN_COMMENT,
        JobField::Extra => bindings::DFRS_FIELD_EXTRA,
    };
    // SAFETY: both arrays have `count` elements and outlive the call, which keeps none of them.
    unsafe {
        bindings::dfrs_jobs_set_yield(jobs.as_ptr(), yields.as_ptr(), count(jobs.len()), field);
    }
}

/// How many parked jobs live on these nodes, for the reasons of those that drain or are to be rebooted. Nodes
/// that are gone are passed over.
pub fn nodes_set_parked(parked: &[(String, u32)]) {
    let names: Vec<CString> = parked.iter().map(|(name, _)| c_string(name)).collect();
    let pointers: Vec<*const c_char> = names.iter().map(|name| name.as_ptr()).collect();
    let counts: Vec<u32> = parked.iter().map(|(_, count)| *count).collect();
    // SAFETY: both arrays have `count` elements, the names are NUL-terminated, and all outlive the call,
    // which keeps none of them.
    unsafe {
        bindings::dfrs_nodes_set_parked(pointers.as_ptr(), counts.as_ptr(), count(parked.len()));
    }
}

/// Starts a pending job with so many tasks (second) on each of these nodes (first: Slurm's index;
/// ascending); `whole`: with all that is on these nodes, whatever it requests.
///
/// # Errors
///
/// Slurm's reason; nothing has changed then.
pub fn job_start(job: u32, layout: &[(u32, u32)], whole: bool) -> Result<(), SlurmError> {
    let places: Vec<bindings::dfrs_place_t> = layout
        .iter()
        .map(|&(node, tasks)| bindings::dfrs_place_t {
            node,
            tasks,
            cpus: 0,
            memory: 0,
        })
        .collect();
    // SAFETY: the array has `count` elements and outlives the call.
    result(unsafe { bindings::dfrs_job_start(job, places.as_ptr(), count(places.len()), whole) })
}

/// Suspends a running job; it keeps its nodes, its memory and its priority.
///
/// # Errors
///
/// The job is not running, or its nodes are still being configured.
pub fn job_suspend(job: u32) -> Result<(), SlurmError> {
    // SAFETY: takes numbers only.
    result(unsafe { bindings::dfrs_job_suspend(job) })
}

/// Lets a suspended job run on.
///
/// # Errors
///
/// The job is not suspended.
pub fn job_resume(job: u32) -> Result<(), SlurmError> {
    // SAFETY: takes numbers only.
    result(unsafe { bindings::dfrs_job_resume(job) })
}

/// Sends the nodes of a running job the resumption again; those that have it ignore it.
///
/// # Errors
///
/// The job does not run.
pub fn job_repeat_resumption(job: u32) -> Result<(), SlurmError> {
    // SAFETY: takes numbers only.
    result(unsafe { bindings::dfrs_job_repeat_resumption(job) })
}

/// Gives a suspended job's memory back to Slurm's accounting. Returns MiB for each of its nodes, in
/// the order of its places in the snapshot.
///
/// # Errors
///
/// The job is not suspended.
pub fn job_release_memory(job: u32) -> Result<Vec<u64>, SlurmError> {
    const TOO_SMALL: i32 = 34; // ERANGE
    let mut memory = vec![0; 64];
    loop {
        let mut used = count(memory.len());
        // SAFETY: the array has room for `used` elements.
        let code =
            unsafe { bindings::dfrs_job_release_memory(job, memory.as_mut_ptr(), &raw mut used) };
        let used = used as usize;
        if code == TOO_SMALL && used > memory.len() {
            memory.resize(used, 0);
            continue;
        }
        result(code)?;
        memory.truncate(used);
        return Ok(memory);
    }
}

/// Takes it again: all of it, or nothing.
///
/// # Errors
///
/// The memory does not fit on one of the nodes, or the job does not hold them any more.
pub fn job_claim_memory(job: u32, memory: &[u64]) -> Result<(), SlurmError> {
    // SAFETY: the array has `count` elements and outlives the call.
    result(unsafe { bindings::dfrs_job_claim_memory(job, memory.as_ptr(), count(memory.len())) })
}

/// Slurm does not preempt a parked job any more.
///
/// # Errors
///
/// The job is not suspended.
pub fn job_forget_preemption(job: u32) -> Result<(), SlurmError> {
    // SAFETY: takes numbers only.
    result(unsafe { bindings::dfrs_job_forget_preemption(job) })
}

/// Sends a running job its own `--signal`, else `fallback` to its batch script; once per run.
///
/// # Errors
///
/// The job is not running, or has neither.
pub fn job_warn(job: u32, fallback: u32) -> Result<(), SlurmError> {
    // SAFETY: takes numbers only.
    result(unsafe { bindings::dfrs_job_warn(job, fallback) })
}

/// Ends a batch job and puts it back into the queue.
///
/// # Errors
///
/// The job may not be requeued, or is in no state for it.
pub fn job_requeue(job: u32) -> Result<(), SlurmError> {
    // SAFETY: takes numbers only.
    result(unsafe { bindings::dfrs_job_requeue(job) })
}

/// Puts a job back into the queue that has ended by itself after its warning, or, unless this was sent for sure,
/// has died of it: of its own `--signal`, else of `fallback`. `submit_time`: as in the snapshot that it was last
/// seen in.
///
/// # Errors
///
/// The job has ended in another way, or not, or Slurm has forgotten it.
pub fn job_requeue_warned(
    job: u32,
    submit_time: i64,
    fallback: u32,
    was_sent: bool,
) -> Result<Ending, SlurmError> {
    let warning = bindings::dfrs_warning_t { fallback, was_sent };
    let mut succeeded = false;
    // SAFETY: reads the one record and writes the other.
    result(unsafe {
        bindings::dfrs_job_requeue_warned(job, submit_time, &raw const warning, &raw mut succeeded)
    })?;
    Ok(if succeeded {
        Ending::Saved
    } else {
        Ending::Failed
    })
}

/// The same at once of all jobs that were warned since slurmctld started, and have succeeded since. Returns whether
/// others are likely to end soon. O(jobs that were warned and run).
#[must_use]
pub fn jobs_requeue_saved() -> bool {
    fence_pass();
    // SAFETY: takes slurmctld's locks, which this thread does not hold, and needs nothing else.
    unsafe { bindings::dfrs_jobs_requeue_saved() }
}

/// Ends what a node still runs of a pending job that slurmctld takes for not running.
///
/// # Errors
///
/// The job is not pending, or not there, or the node is not.
pub fn job_abort_orphaned(job: u32, node: &str) -> Result<(), SlurmError> {
    let node = c_string(node);
    // SAFETY: the string outlives the call, which only reads it.
    result(unsafe { bindings::dfrs_job_abort_orphaned(job, node.as_ptr()) })
}

/// Lets a requeued job start before Slurm's own delay has passed.
///
/// # Errors
///
/// Code 11 (EAGAIN): something of its former run is still there.
pub fn job_clear_begin_time(job: u32) -> Result<(), SlurmError> {
    // SAFETY: takes numbers only.
    result(unsafe { bindings::dfrs_job_clear_begin_time(job) })
}

/// Hides cores that Slurm counts for jobs of these partitions; returns for how many.
pub(super) fn hide_cores(partitions: &CStr) -> u32 {
    // SAFETY: reads the NUL-terminated list.
    u32::try_from(unsafe { bindings::dfrs_hide_cores(partitions.as_ptr()) }).unwrap_or(0)
}

/// For how long the shim has held slurmctld's locks, and waited for them, since the plugin was loaded.
#[must_use]
pub fn lock_times() -> LockTimes {
    let mut raw = bindings::dfrs_lock_statistics_t::default();
    // SAFETY: fills the record.
    unsafe { bindings::dfrs_lock_statistics(&raw mut raw) };
    (&raw).into()
}

/// Adds whole minutes of this to a job's time limit. Returns what that was before.
///
/// # Errors
///
/// The job has no nodes, or this is less than a minute.
pub fn job_extend_time(job: u32, seconds: u32) -> Result<JobTimeLimit, SlurmError> {
    let mut before = bindings::dfrs_limit_t::default();
    // SAFETY: fills the record, if it returns 0.
    result(unsafe { bindings::dfrs_job_extend_time(job, seconds, &raw mut before) })?;
    let bindings::dfrs_limit_t { minutes, set_by } = before;
    Ok(JobTimeLimit { minutes, set_by })
}

/// Takes what was added to a job's time limit off again.
///
/// # Errors
///
/// The job is not in the queue.
pub fn job_take_back_time(job: u32, extended: &LimitExtension) -> Result<(), SlurmError> {
    let before = bindings::dfrs_limit_t {
        minutes: extended.from.minutes,
        set_by: extended.from.set_by,
    };
    let minutes = extended.minutes;
    // SAFETY: the record outlives the call.
    result(unsafe { bindings::dfrs_job_take_back_time(job, minutes, &raw const before) })
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

/// Adds a cycle to what sdiag shows under "Backfilling stats".
pub fn count_cycle(microseconds: u32, queue_length: u32, depth: u32, started: u32) {
    fence_pass();
    // SAFETY: takes numbers only.
    unsafe { bindings::dfrs_count_cycle(microseconds, queue_length, depth, started) }
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

/// Lengths for C. More than 4 G elements do not occur; they would be cut, never overrun.
fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
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
fn fence_pass() {
    // SAFETY: waits, holding nothing.
    unsafe { bindings::dfrs_fence_pass() }
}
