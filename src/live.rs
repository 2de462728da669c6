//! The real surroundings: slurmctld through the C shim.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dfrs_agent::slurm::observation::{Observation, SnapshotDelta};
use dfrs_agent::slurm::port::{Ending, JobTimeLimit, LimitExtension, LogLevel, Slurm, SlurmError};
use dfrs_agent::slurm::records::ObservedPlace;
use dfrs_proto::conf::{Config, JobField};
use dfrs_proto::journal::JobOutcome;
use dfrs_proto::slurm_conf;

use crate::host::PluginHost;
use crate::log::Log;
use crate::measures::LockTimes;
use crate::node_link::NodeLink;
use crate::shim::{self, View};

/// SIGUSR1: what a job's script gets if it requested no signal of its own.
const FALLBACK_SIGNAL: u32 = 10;

/// slurmctld around the plugin.
#[derive(Default)]
pub struct SlurmctldHost {
    backfill_runs: AtomicBool,
}

impl PluginHost for SlurmctldHost {
    type Slurm = Calls;

    fn enter(&self) {
        shim::fence_enter();
    }

    fn conf_directory(&self) -> PathBuf {
        shim::conf_directory().unwrap_or_default().into()
    }

    fn state_directory(&self) -> PathBuf {
        shim::state_directory().unwrap_or_default().into()
    }

    fn conf_problem(&self, config: &Config) -> Option<String> {
        slurm_conf::refusal(&shim::facts(config), config)
    }

    fn partitions_changed_at(&self) -> i64 {
        shim::last_partition_update()
    }

    fn delivery_known(&self) -> bool {
        shim::delivery_known()
    }

    fn slurm_version(&self) -> &'static str {
        shim::SLURM_VERSION
    }

    fn hide_from_backfill(&self, partitions: &[String]) {
        if self.backfill_runs.swap(true, Ordering::Relaxed) {
            shim::backfill_reconfigure(partitions);
        } else if let Err(problem) = shim::backfill_start(partitions) {
            shim::log(
                LogLevel::Error,
                &format!("backfill does not start: {problem}; restart slurmctld"),
            );
        }
    }

    fn slurm(&self, config: &Config, given_back: &[String]) -> Calls {
        Calls {
            view: View::new(&config.partition_names(), given_back),
            show_yield_in: config.show_yield_in,
        }
    }

    fn node_link(&self) -> Arc<dyn NodeLink> {
        Arc::new(Fanout)
    }

    fn shared_log(&self) -> Log {
        Log::from_fn(shim::log)
    }

    fn lock_times(&self) -> LockTimes {
        shim::lock_times()
    }

    fn is_primary(&self) -> bool {
        shim::is_primary()
    }

    fn requeue_saved(&self) -> bool {
        shim::jobs_requeue_saved()
    }
}

/// Slurm's own fan-out to the nodes.
struct Fanout;

impl NodeLink for Fanout {
    fn push(&self, nodes: &[String], address: &str, data: &[u8]) -> Vec<String> {
        shim::push(nodes, address, data)
    }
}

/// Calls into slurmctld about these partitions.
pub struct Calls {
    view: View,
    show_yield_in: Option<JobField>,
}

impl Drop for Calls {
    /// Logs for how long slurmctld's locks were held.
    fn drop(&mut self) {
        for line in shim::lock_times().lines() {
            shim::log(LogLevel::Info, &line);
        }
    }
}

impl Slurm for Calls {
    fn layout_problem(&mut self) -> Option<String> {
        shim::layout_problem()
    }

    fn is_primary(&mut self) -> bool {
        shim::is_primary()
    }

    fn last_update(&self) -> i64 {
        shim::last_update()
    }

    fn observe(&mut self, seen: &mut Observation) -> Result<SnapshotDelta, SlurmError> {
        self.view.look(seen)
    }

    fn outcome(&mut self, job: u32, submit_time: i64) -> JobOutcome {
        match shim::job_outcome(job, submit_time) {
            shim::SlurmOutcome::Completed => JobOutcome::Completed,
            shim::SlurmOutcome::Cancelled => JobOutcome::Cancelled,
            shim::SlurmOutcome::Failed => JobOutcome::Failed,
            shim::SlurmOutcome::Unknown | shim::SlurmOutcome::Alive => JobOutcome::Other,
        }
    }

    fn may_start(&mut self, jobs: &[u32]) -> Vec<Result<(), SlurmError>> {
        shim::jobs_gate(jobs)
    }

    fn wait_for_room(&mut self, jobs: &[u32]) -> Vec<bool> {
        shim::jobs_wait_for_room(jobs)
    }

    fn split_array(&mut self, job: u32, max: u32) -> Result<(), SlurmError> {
        shim::array_split(job, max)
    }

    fn set_reasons(&mut self, reasons: &[(u32, Option<String>)]) {
        shim::jobs_set_reason(reasons);
    }

    fn show_yields(&mut self, yields: &[(u32, Option<u32>)]) {
        if let Some(field) = self.show_yield_in {
            shim::jobs_set_yield(yields, field);
        }
    }

    fn set_parked(&mut self, parked: &[(String, u32)]) {
        shim::nodes_set_parked(parked);
    }

    fn start(&mut self, job: u32, places: &[ObservedPlace], whole: bool) -> Result<(), SlurmError> {
        let layout: Vec<(u32, u32)> = places
            .iter()
            .map(|place| (place.node, place.tasks))
            .collect();
        shim::job_start(job, &layout, whole)
    }

    fn suspend(&mut self, job: u32) -> Result<(), SlurmError> {
        shim::job_suspend(job)
    }

    fn resume(&mut self, job: u32) -> Result<(), SlurmError> {
        shim::job_resume(job)
    }

    fn repeat_resumption(&mut self, job: u32) -> Result<(), SlurmError> {
        shim::job_repeat_resumption(job)
    }

    fn release_memory(&mut self, job: u32) -> Result<Vec<u64>, SlurmError> {
        shim::job_release_memory(job)
    }

    fn claim_memory(&mut self, job: u32, memory: &[u64]) -> Result<(), SlurmError> {
        shim::job_claim_memory(job, memory)
    }

    fn forget_preemption(&mut self, job: u32) -> Result<(), SlurmError> {
        shim::job_forget_preemption(job)
    }

    fn warn(&mut self, job: u32) -> Result<(), SlurmError> {
        shim::job_warn(job, FALLBACK_SIGNAL)
    }

    fn requeue(&mut self, job: u32) -> Result<(), SlurmError> {
        shim::job_requeue(job)
    }

    fn requeue_warned(
        &mut self,
        job: u32,
        submit_time: i64,
        was_warned: bool,
    ) -> Result<Ending, SlurmError> {
        shim::job_requeue_warned(job, submit_time, FALLBACK_SIGNAL, was_warned)
    }

    fn abort_orphaned(&mut self, job: u32, node: &str) -> Result<(), SlurmError> {
        shim::job_abort_orphaned(job, node)
    }

    fn clear_begin_time(&mut self, job: u32) -> Result<(), SlurmError> {
        shim::job_clear_begin_time(job)
    }

    fn hide_cores(&mut self) -> bool {
        self.view.hide_cores()
    }

    fn extend_time(&mut self, job: u32, seconds: u32) -> Result<JobTimeLimit, SlurmError> {
        shim::job_extend_time(job, seconds)
    }

    fn take_back_time(&mut self, job: u32, extended: &LimitExtension) -> Result<(), SlurmError> {
        shim::job_take_back_time(job, extended)
    }

    fn count_cycle(&mut self, microseconds: u32, queue: u32, depth: u32, started: u32) {
        shim::count_cycle(microseconds, queue, depth, started);
    }

    fn hand_over_to_backfill(&mut self) {
        shim::backfill_reconfigure(&[]);
    }

    fn log(&self, level: LogLevel, message: &str) {
        shim::log(level, message);
    }
}
