//! The agent's calls to Slurm, each by the shim's function for it: what is passed and returned is
//! documented in `c_shim/dfrs_shim.h`.

use std::ffi::{CString, c_char};
use std::ptr::null;

use dfrs_agent::slurm::observation::{Observation, SnapshotDelta};
use dfrs_agent::slurm::port::{Ending, JobTimeLimit, LimitExtension, LogLevel, Slurm, SlurmError};
use dfrs_agent::slurm::records::ObservedPlace;
use dfrs_proto::conf::{Config, JobField};
use dfrs_proto::journal::JobOutcome;

use super::bindings;
use super::c_values::{TEXT_SIZE, c_string, comma_separated, count, error, filled, result};
use super::calls::{self, fence_pass};
use super::decode::{SharedNodeSets, apply};
use super::view::View;

/// SIGUSR1: what a job's script gets if it requested no signal of its own.
const FALLBACK_SIGNAL: u32 = 10;

/// `ENOMEM`.
const NO_MEMORY: i32 = 12;

/// `ERANGE`.
const TOO_SMALL: i32 = 34;

/// Calls into slurmctld about these partitions. Belongs to one [`Observation`].
pub struct Calls {
    partitions: CString,
    /// The partitions whose jobs' cores are hidden.
    managed: CString,
    show_yield_in: Option<JobField>,
    /// None: there was no memory for it.
    view: Option<View>,
    sets: SharedNodeSets,
    cores_visible: bool,
    /// The last changes may not have been taken in.
    is_stale: bool,
}

impl Calls {
    /// Nothing has been seen. Slurm counts the cores of jobs in partitions that are given back.
    pub fn new(config: &Config, given_back: &[String]) -> Self {
        let managed = config.partition_names();
        Self {
            partitions: comma_separated(&[managed.as_slice(), given_back].concat()),
            managed: comma_separated(&managed),
            show_yield_in: config.show_yield_in,
            view: View::new(),
            sets: SharedNodeSets::default(),
            cores_visible: false,
            is_stale: false,
        }
    }
}

impl Drop for Calls {
    /// Logs for how long slurmctld's locks were held.
    fn drop(&mut self) {
        for line in super::lock_times().lines() {
            self.log(LogLevel::Info, &line);
        }
    }
}

impl Slurm for Calls {
    fn layout_problem(&mut self) -> Option<String> {
        fence_pass();
        // SAFETY: writes at most `size` bytes, NUL-terminated, to a buffer of that size.
        let (code, problem) = filled(TEXT_SIZE, |out, size| unsafe {
            bindings::dfrs_layout_check(out, size)
        });
        (code != 0).then_some(problem)
    }

    fn is_primary(&mut self) -> bool {
        calls::is_primary()
    }

    fn last_update(&self) -> i64 {
        fence_pass();
        // SAFETY: reads times of slurmctld's; each is one aligned word.
        unsafe { bindings::dfrs_last_update() }
    }

    /// One walk over jobs and nodes under read locks, then O(what changed).
    fn observe(&mut self, seen: &mut Observation) -> Result<SnapshotDelta, SlurmError> {
        let view = self.view.as_mut().ok_or_else(|| error(NO_MEMORY))?;
        if seen.is_empty() || std::mem::replace(&mut self.is_stale, true) {
            view.forget();
        }
        let different = view.look(&self.partitions, |raw| {
            self.cores_visible = raw.cores_visible;
            // SAFETY: `raw` was just filled; all that this view has shown since it was forgotten
            // was applied to `seen`.
            unsafe { apply(raw, &mut self.sets, seen) }
        })?;
        self.is_stale = false;
        Ok(different)
    }

    fn outcome(&mut self, job: u32, submit_time: i64) -> JobOutcome {
        // SAFETY: takes numbers only.
        match u32::try_from(unsafe { bindings::dfrs_job_outcome(job, submit_time) }) {
            Ok(bindings::DFRS_OUTCOME_COMPLETED) => JobOutcome::Completed,
            Ok(bindings::DFRS_OUTCOME_CANCELLED) => JobOutcome::Cancelled,
            Ok(bindings::DFRS_OUTCOME_FAILED) => JobOutcome::Failed,
            // Slurm has forgotten it, or it has not ended.
            _ => JobOutcome::Other,
        }
    }

    fn may_start(&mut self, jobs: &[u32]) -> Vec<Result<(), SlurmError>> {
        let mut codes = vec![0; jobs.len()];
        // SAFETY: both arrays have `count` elements and outlive the call.
        unsafe { bindings::dfrs_jobs_gate(jobs.as_ptr(), count(jobs.len()), codes.as_mut_ptr()) };
        codes.into_iter().map(result).collect()
    }

    fn wait_for_room(&mut self, jobs: &[u32]) -> Vec<bool> {
        let mut answers = vec![false; jobs.len()];
        let (ids, out) = (jobs.as_ptr(), answers.as_mut_ptr());
        // SAFETY: both arrays have `count` elements and outlive the call, which writes booleans
        // only.
        unsafe { bindings::dfrs_jobs_wait_for_room(ids, count(jobs.len()), out) };
        answers
    }

    fn split_array(&mut self, job: u32, max_tasks: u32) -> Result<(), SlurmError> {
        // SAFETY: takes numbers only.
        result(unsafe { bindings::dfrs_array_split(job, max_tasks) })
    }

    fn set_reasons(&mut self, reasons: &[(u32, Option<String>)]) {
        let reasons = reasons.iter();
        let (jobs, texts): (Vec<u32>, Vec<Option<CString>>) = reasons
            .map(|(job, text)| (*job, text.as_deref().map(c_string)))
            .unzip();
        let pointer = |text: &Option<CString>| text.as_ref().map_or(null(), |text| text.as_ptr());
        let pointers: Vec<*const c_char> = texts.iter().map(pointer).collect();
        let (ids, texts) = (jobs.as_ptr(), pointers.as_ptr());
        // SAFETY: both arrays have `count` elements, the texts are NUL-terminated or NULL, and all
        // outlive the call, which copies them.
        unsafe { bindings::dfrs_jobs_set_reason(ids, texts, count(jobs.len())) };
    }

    fn show_yields(&mut self, yields: &[(u32, Option<u32>)]) {
        let field = match self.show_yield_in {
            None => return,
            Some(JobField::AdminComment) => bindings::DFRS_FIELD_ADMIN_COMMENT,
            Some(JobField::Extra) => bindings::DFRS_FIELD_EXTRA,
        };
        let yields = yields.iter();
        let (jobs, yields): (Vec<u32>, Vec<u32>) = yields
            .map(|&(job, hundredths)| (job, hundredths.unwrap_or(bindings::DFRS_NO_YIELD)))
            .unzip();
        let (ids, yields) = (jobs.as_ptr(), yields.as_ptr());
        // SAFETY: both arrays have `count` elements and outlive the call, which keeps none of them.
        unsafe { bindings::dfrs_jobs_set_yield(ids, yields, count(jobs.len()), field) };
    }

    fn set_parked(&mut self, parked: &[(String, u32)]) {
        let nodes = parked.iter();
        let (names, counts): (Vec<CString>, Vec<u32>) =
            nodes.map(|(name, jobs)| (c_string(name), *jobs)).unzip();
        let pointers: Vec<*const c_char> = names.iter().map(|name| name.as_ptr()).collect();
        let (names, jobs) = (pointers.as_ptr(), counts.as_ptr());
        // SAFETY: both arrays have `count` elements, the names are NUL-terminated, and all outlive
        // the call, which keeps none of them.
        unsafe { bindings::dfrs_nodes_set_parked(names, jobs, count(parked.len())) };
    }

    fn start(&mut self, job: u32, places: &[ObservedPlace], whole: bool) -> Result<(), SlurmError> {
        let place = |place: &ObservedPlace| bindings::dfrs_place_t {
            node: place.node,
            tasks: place.tasks,
            cpus: 0,
            memory: 0,
        };
        let places: Vec<_> = places.iter().map(place).collect();
        let (first, nodes) = (places.as_ptr(), count(places.len()));
        // SAFETY: the array has `count` elements and outlives the call.
        result(unsafe { bindings::dfrs_job_start(job, first, nodes, whole) })
    }

    fn suspend(&mut self, job: u32) -> Result<(), SlurmError> {
        // SAFETY: takes numbers only.
        result(unsafe { bindings::dfrs_job_suspend(job) })
    }

    fn resume(&mut self, job: u32) -> Result<(), SlurmError> {
        // SAFETY: takes numbers only.
        result(unsafe { bindings::dfrs_job_resume(job) })
    }

    fn repeat_resumption(&mut self, job: u32) -> Result<(), SlurmError> {
        // SAFETY: takes numbers only.
        result(unsafe { bindings::dfrs_job_repeat_resumption(job) })
    }

    fn release_memory(&mut self, job: u32) -> Result<Vec<u64>, SlurmError> {
        let mut memory = vec![0; 64];
        loop {
            let mut used = count(memory.len());
            let out = memory.as_mut_ptr();
            // SAFETY: the array has room for `used` elements.
            let code = unsafe { bindings::dfrs_job_release_memory(job, out, &raw mut used) };
            let used = used as usize;
            if code != TOO_SMALL || used <= memory.len() {
                memory.truncate(used);
                return result(code).map(|()| memory);
            }
            memory.resize(used, 0);
        }
    }

    fn claim_memory(&mut self, job: u32, memory: &[u64]) -> Result<(), SlurmError> {
        let (first, nodes) = (memory.as_ptr(), count(memory.len()));
        // SAFETY: the array has `count` elements and outlives the call.
        result(unsafe { bindings::dfrs_job_claim_memory(job, first, nodes) })
    }

    fn forget_preemption(&mut self, job: u32) -> Result<(), SlurmError> {
        // SAFETY: takes numbers only.
        result(unsafe { bindings::dfrs_job_forget_preemption(job) })
    }

    fn warn(&mut self, job: u32) -> Result<(), SlurmError> {
        // SAFETY: takes numbers only.
        result(unsafe { bindings::dfrs_job_warn(job, FALLBACK_SIGNAL) })
    }

    fn requeue(&mut self, job: u32) -> Result<(), SlurmError> {
        // SAFETY: takes numbers only.
        result(unsafe { bindings::dfrs_job_requeue(job) })
    }

    fn requeue_warned(
        &mut self,
        job: u32,
        submit_time: i64,
        was_warned: bool,
    ) -> Result<Ending, SlurmError> {
        let warning = bindings::dfrs_warning_t {
            fallback: FALLBACK_SIGNAL,
            was_sent: was_warned,
        };
        let mut saved = false;
        // SAFETY: reads the one record and writes the other.
        let code = unsafe {
            let warning = &raw const warning;
            bindings::dfrs_job_requeue_warned(job, submit_time, warning, &raw mut saved)
        };
        result(code)?;
        Ok(if saved { Ending::Saved } else { Ending::Failed })
    }

    fn abort_orphaned(&mut self, job: u32, node: &str) -> Result<(), SlurmError> {
        let node = c_string(node);
        // SAFETY: the string outlives the call, which only reads it.
        result(unsafe { bindings::dfrs_job_abort_orphaned(job, node.as_ptr()) })
    }

    fn clear_begin_time(&mut self, job: u32) -> Result<(), SlurmError> {
        // SAFETY: takes numbers only.
        result(unsafe { bindings::dfrs_job_clear_begin_time(job) })
    }

    fn hide_cores(&mut self) -> bool {
        let visible = std::mem::take(&mut self.cores_visible);
        if visible {
            // SAFETY: reads the NUL-terminated list.
            unsafe { bindings::dfrs_hide_cores(self.managed.as_ptr()) };
        }
        visible
    }

    fn extend_time(&mut self, job: u32, seconds: u32) -> Result<JobTimeLimit, SlurmError> {
        let mut before = bindings::dfrs_limit_t::default();
        // SAFETY: fills the record.
        result(unsafe { bindings::dfrs_job_extend_time(job, seconds, &raw mut before) })?;
        let bindings::dfrs_limit_t { minutes, set_by } = before;
        Ok(JobTimeLimit { minutes, set_by })
    }

    fn take_back_time(&mut self, job: u32, extended: &LimitExtension) -> Result<(), SlurmError> {
        let JobTimeLimit { minutes, set_by } = extended.from;
        let before = bindings::dfrs_limit_t { minutes, set_by };
        let minutes = extended.minutes;
        // SAFETY: the record outlives the call.
        result(unsafe { bindings::dfrs_job_take_back_time(job, minutes, &raw const before) })
    }

    fn count_cycle(&mut self, microseconds: u32, queue: u32, depth: u32, started: u32) {
        fence_pass();
        // SAFETY: takes numbers only.
        unsafe { bindings::dfrs_count_cycle(microseconds, queue, depth, started) }
    }

    fn hand_over_to_backfill(&mut self) {
        calls::backfill_reconfigure(&[]);
    }

    fn log(&self, level: LogLevel, message: &str) {
        calls::log(level, message);
    }
}
