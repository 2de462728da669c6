//! The real surroundings: slurmctld through the C shim.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dfrs_agent::observation::{Observation, ObservedJob, ObservedNode, ObservedState, Place, Seen};
use dfrs_agent::slurm::{Level, Slurm, SlurmError};
use dfrs_proto::conf::Config;
use dfrs_proto::journal::Outcome;

use crate::log::Log;
use crate::node_link::NodeLink;
use crate::runtime::Surroundings;
use crate::shim;

/// SIGUSR1: what a job's script gets if it asked for no signal of its own.
const FALLBACK_SIGNAL: u32 = 10;

/// slurmctld around the plugin.
#[derive(Default)]
pub struct Slurmctld {
    backfill_runs: AtomicBool,
}

impl Surroundings for Slurmctld {
    type Slurm = Calls;

    fn conf_directory(&self) -> PathBuf {
        shim::conf_directory().unwrap_or_default().into()
    }

    fn state_directory(&self) -> PathBuf {
        shim::state_directory().unwrap_or_default().into()
    }

    fn conf_problem(&self, config: &Config) -> Option<String> {
        shim::conf_problem(&config.partition_names())
    }

    fn hide_from_backfill(&self, partitions: &[String]) {
        if self.backfill_runs.swap(true, Ordering::Relaxed) {
            shim::backfill_reconfigure(partitions);
        } else if let Err(problem) = shim::backfill_start(partitions) {
            shim::log(
                Level::Error,
                &format!("backfill does not start: {problem}; restart slurmctld"),
            );
        }
    }

    fn slurm(&self, config: &Config) -> Calls {
        Calls {
            partitions: config.partition_names(),
        }
    }

    fn node_link(&self) -> Arc<dyn NodeLink> {
        Arc::new(Fanout)
    }

    fn shared_log(&self) -> Log {
        Log::by(shim::log)
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
    partitions: Vec<String>,
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

    fn observe(&mut self, seen: &mut Observation) -> Result<Seen, SlurmError> {
        let snapshot = shim::snapshot(&self.partitions)?;
        let jobs = snapshot.jobs.into_iter().map(observed_job);
        let nodes = snapshot.nodes.into_iter().map(observed_node);
        Ok(seen.become_all(jobs, nodes.collect()))
    }

    fn outcome(&mut self, job: u32, submit_time: i64) -> Outcome {
        match shim::job_outcome(job, submit_time) {
            shim::Outcome::Completed => Outcome::Completed,
            shim::Outcome::Cancelled => Outcome::Cancelled,
            shim::Outcome::Failed => Outcome::Failed,
            shim::Outcome::Unknown | shim::Outcome::Alive => Outcome::Other,
        }
    }

    fn may_start(&mut self, jobs: &[u32]) -> Vec<Result<(), SlurmError>> {
        jobs.iter().map(|job| shim::job_gate(*job)).collect()
    }

    fn split_array(&mut self, job: u32, most: u32) -> Result<(), SlurmError> {
        shim::array_split(job, most.min(shim::SPLIT_LIMIT))
    }

    fn set_reasons(&mut self, reasons: &[(u32, String)]) {
        for (job, text) in reasons {
            // A job that is gone needs no reason.
            let _ = shim::job_set_reason(*job, Some(text));
        }
    }

    fn start(&mut self, job: u32, places: &[Place]) -> Result<(), SlurmError> {
        let layout: Vec<(u32, u32)> = places
            .iter()
            .map(|place| (place.node, place.tasks))
            .collect();
        shim::job_start(job, &layout)
    }

    fn suspend(&mut self, job: u32) -> Result<(), SlurmError> {
        shim::job_suspend(job)
    }

    fn resume(&mut self, job: u32) -> Result<(), SlurmError> {
        shim::job_resume(job)
    }

    fn release_memory(&mut self, job: u32) -> Result<Vec<u64>, SlurmError> {
        shim::job_release_memory(job)
    }

    fn claim_memory(&mut self, job: u32, memory: &[u64]) -> Result<(), SlurmError> {
        shim::job_claim_memory(job, memory)
    }

    fn warn(&mut self, job: u32) -> Result<(), SlurmError> {
        shim::job_warn(job, FALLBACK_SIGNAL)
    }

    fn requeue(&mut self, job: u32) -> Result<(), SlurmError> {
        shim::job_requeue(job)
    }

    fn abort_left_behind(&mut self, job: u32, node: &str) -> Result<(), SlurmError> {
        shim::job_abort_left_behind(job, node)
    }

    fn clear_begin_time(&mut self, job: u32) -> Result<(), SlurmError> {
        shim::job_clear_begin_time(job)
    }

    fn hide_cores(&mut self) {
        shim::hide_cores(&self.partitions);
    }

    fn extend_time(&mut self, job: u32, seconds: u32) -> Result<(), SlurmError> {
        shim::job_extend_time(job, seconds)
    }

    fn count_cycle(&mut self, microseconds: u32, queue: u32, depth: u32, started: u32) {
        shim::count_cycle(microseconds, queue, depth, started);
    }

    fn hand_over_to_backfill(&mut self) {
        shim::backfill_reconfigure(&[]);
    }

    fn log(&self, level: Level, message: &str) {
        shim::log(level, message);
    }
}

fn observed_job(job: shim::Job) -> ObservedJob {
    let place = |place: &shim::Place| Place {
        node: place.node,
        tasks: place.tasks,
        memory: place.memory,
    };
    ObservedJob {
        id: job.job_id,
        submit_time: job.submit_time,
        partition: job.partition,
        comment: job.comment,
        state: match job.state {
            shim::State::Pending => ObservedState::Pending,
            shim::State::Running => ObservedState::Running,
            shim::State::Suspended => ObservedState::Suspended,
            shim::State::Ended => ObservedState::Ended,
        },
        completing: job.completing,
        configuring: job.configuring,
        steps_alive: job.steps_alive,
        batch: job.batch,
        requeue: job.requeue,
        priority: job.priority,
        held: job.held,
        array: job.array_job_id.unwrap_or(0),
        array_master: job.array_master,
        special: job.special,
        restarts: job.restarts,
        tasks: job.tasks,
        cpus_per_task: job.cpus_per_task,
        tasks_per_node: job.tasks_per_node,
        min_nodes: job.min_nodes,
        max_nodes: job.max_nodes,
        memory: job.memory,
        memory_per_cpu: job.memory_per_cpu,
        exclusive: job.exclusive,
        last_launch: job.last_launch,
        end_time: if job.time_limit.is_some() {
            job.end_time
        } else {
            0
        },
        warn_seconds: job.warn_seconds,
        places: job.places.iter().map(place).collect(),
        eligible: job.eligible,
        all_eligible: job.all_eligible,
    }
}

fn observed_node(node: shim::Node) -> ObservedNode {
    ObservedNode {
        index: node.index,
        name: node.name,
        up: node.state == shim::NodeState::Up,
        down: node.state == shim::NodeState::Down,
        cpus: node.cpus,
        memory: node.memory,
        allocated_memory: node.allocated_memory,
    }
}
