//! What slurmctld does when it is called: DFRS's calls through the shim, and operators' commands.

use std::collections::BTreeSet;

use dfrs_core::Span;
use dfrs_proto::journal::JobOutcome;

use super::ProgramOutcome;
use super::cluster::{ClusterModel, SECOND};
use super::devices::HeldDevice;
use super::events::ModelEvent;
use super::needs::phase_at;
use super::work::ModelRun;
use dfrs_agent::slurm::port::{Ending, JobTimeLimit, LimitExtension, SlurmError};
use dfrs_agent::slurm::records::{ObservedJob, ObservedPlace, ObservedState};

/// Slurm's error numbers, as far as the model gives them.
pub(super) mod codes {
    pub(crate) const AGAIN: i32 = 11;
    pub(crate) const INVALID: i32 = 22;
    pub(crate) const FINISHED: i32 = 2021;
    pub(crate) const NODES_BUSY: i32 = 2016;
    pub(crate) const INVALID_JOB: i32 = 2017;
    pub(crate) const TRANSITION: i32 = 2031;
    pub(crate) const DISABLED: i32 = 2034;
    pub(crate) const HELD: i32 = 2011;
    pub(crate) const NOT_SUPPORTED: i32 = 2094;
}

pub(super) type CallResult<T = ()> = Result<T, SlurmError>;

pub(super) fn error<T>(code: i32, text: &str) -> CallResult<T> {
    let text = text.into();
    Err(SlurmError { code, text })
}

impl ClusterModel {
    fn job_in(&mut self, id: u32, state: ObservedState) -> CallResult<&mut super::JobEntry> {
        match self.slurmctld.jobs.get_mut(&id) {
            None => error(codes::INVALID_JOB, "Invalid job id specified"),
            Some(job) if job.seen.state != state => {
                error(codes::DISABLED, "Requested operation is presently disabled")
            }
            Some(job) => Ok(job),
        }
    }

    /// `dfrs_jobs_gate()`.
    pub(super) fn gate(&self, id: u32) -> CallResult {
        let now = self.clock_seconds();
        let pending = |job: &&super::JobEntry| job.seen.state == ObservedState::Pending;
        let Some(job) = self.slurmctld.jobs.get(&id).filter(pending) else {
            return error(codes::INVALID_JOB, "Invalid job id specified");
        };
        if job.seen.request.unsupported.is_some() {
            return error(codes::NOT_SUPPORTED, "Operation not supported");
        }
        if job.seen.held || job.begin_time > now || job.seen.priority == 0 {
            return error(codes::HELD, "Job is held, or begins later");
        }
        let full = |max: u32| self.slurmctld.running_of(job.seen.user) >= max as usize;
        if self.settings.user_limit.is_some_and(full) {
            return error(codes::HELD, "QOSMaxJobsPerUserLimit");
        }
        if job.freed_time == now && job.seen.restarts > 0 {
            return error(codes::AGAIN, "Resource temporarily unavailable");
        }
        Ok(())
    }

    /// `dfrs_array_split()`.
    pub(super) fn split(&mut self, id: u32, max: u32) -> CallResult {
        for _ in 0..max {
            let fresh = self.slurmctld.next_id;
            let Some(job) = self.slurmctld.jobs.get_mut(&id) else {
                return error(codes::INVALID_JOB, "Invalid job id specified");
            };
            let Some(next) = job.more_tasks.first().copied() else {
                break;
            };
            let mut task = job.clone();
            (task.seen.id, task.seen.array_master) = (fresh, false);
            job.seen.array_task += 1;
            task.more_tasks.clear();
            let label = job.label;
            job.label = next;
            job.more_tasks.remove(0);
            job.seen.array_master = !job.more_tasks.is_empty();
            self.slurmctld.jobs.insert(fresh, task);
            self.slurmctld.next_id += 1;
            if let Some(program) = self.programs.get_mut(&label) {
                program.id = fresh;
            }
        }
        self.updated();
        Ok(())
    }

    /// Starts a pending job here, for DFRS or backfill; `whole`: with all that is on these nodes.
    pub(super) fn start(&mut self, id: u32, places: &[ObservedPlace], whole: bool) -> CallResult {
        self.gate(id)?;
        let Some(job) = self.slurmctld.jobs.get(&id) else {
            return error(codes::INVALID_JOB, "Invalid job id specified");
        };
        if job.seen.array_master {
            return error(codes::NOT_SUPPORTED, "Operation not supported");
        }
        if job.seen.completing || job.seen.steps_alive {
            return error(codes::AGAIN, "Resource temporarily unavailable");
        }
        if !is_laid_out(&job.seen, places, whole) {
            self.faults
                .push(format!("job {id} is started with other tasks than it has"));
            return error(codes::INVALID, "Invalid argument");
        }
        let places: Vec<ObservedPlace> = places
            .iter()
            .map(|place| self.place(&job.seen, place, whole))
            .collect();
        let usable = |place: &ObservedPlace| {
            let node = self.slurmctld.nodes.get(place.node as usize);
            node.is_some_and(super::NodeEntry::is_open)
                && self.fits(place.node, place.memory_mib)
                && !self.slurmctld.conflicts_with_users(place.node, &job.seen)
                && !self.is_kept_off(job, place.node)
        };
        if !places.iter().all(usable) {
            return error(codes::NODES_BUSY, "Requested nodes are busy");
        }
        let devices = self.devices_for(&job.seen, &places, whole)?;
        if let Some(job) = self.slurmctld.jobs.get_mut(&id) {
            job.seen.request.exclusive |= whole;
            if job.seen.request.sized_by_nodes && whole {
                job.seen.request.tasks = places.iter().map(|place| place.tasks).sum();
            }
        }
        self.begin_run(id, places, devices);
        Ok(())
    }

    pub(super) fn place(
        &self,
        job: &ObservedJob,
        place: &ObservedPlace,
        whole: bool,
    ) -> ObservedPlace {
        let node = self.slurmctld.nodes.get(place.node as usize);
        let all = node.map_or(0, |node| node.seen.memory);
        let per_cpu = u64::from(place.tasks) * u64::from(job.request.cpus_per_task);
        ObservedPlace {
            memory_mib: match (job.request.memory, job.request.memory_per_cpu) {
                _ if whole => all,
                (0, _) => all,
                (memory, true) => memory * per_cpu,
                (memory, false) => memory,
            },
            ..place.clone()
        }
    }

    pub(super) fn fits(&self, node: u32, memory: u64) -> bool {
        let entry = self.slurmctld.nodes.get(node as usize);
        let allocated = self.slurmctld.allocated(node);
        entry.is_some_and(|entry| allocated + memory <= entry.seen.memory)
    }

    fn begin_run(&mut self, id: u32, places: Vec<ObservedPlace>, devices: Vec<HeldDevice>) {
        let now = self.clock_seconds();
        self.launched += 1;
        let run = self.launched;
        let Some(entry) = self.slurmctld.jobs.get_mut(&id) else {
            return;
        };
        let label = entry.label;
        let cores = |place: &ObservedPlace| {
            f64::from(place.tasks) * f64::from(entry.seen.request.cpus_per_task)
        };
        let mut parts: Vec<(u32, f64, u64)> = places
            .iter()
            .map(|place| (place.node, cores(place), place.memory_mib))
            .collect();
        parts.sort_unstable_by_key(|part| part.0);
        entry.seen.places = places;
        entry.seen.holds_gres = !devices.is_empty();
        entry.devices.clone_from(&devices);
        entry.seen.state = ObservedState::Running;
        entry.seen.configuring = true;
        entry.seen.last_launch_seconds = now;
        entry.seen.end_seconds = entry.limit().map_or(0, |limit| now + limit);
        (entry.used_seconds, entry.running_since) = (0, now);
        entry.run = run;
        (entry.ended_by_itself, entry.warning_ended) = (false, None);
        for (node, _, _) in &parts {
            self.machines[*node as usize].runs.insert(run);
        }
        let program = self.programs.get(&label);
        let (kept, work) = program.map_or((Span(0), Span(0)), |program| {
            (program.kept, program.submission.work)
        });
        let image = self.image_to_restore(id);
        let kept = kept.max(image.unwrap_or_default());
        let uses = program.map_or_else(Vec::new, |program| program.submission.uses.clone());
        // Precise enough: far below 2^53 microseconds.
        let done = kept.0 as f64;
        let alive: BTreeSet<u32> = parts.iter().map(|part| part.0).collect();
        let launch = self.settings.launch;
        let after = self.latency_on(launch, [3, run, 0], alive.iter().copied());
        self.runs.insert(
            run,
            ModelRun {
                job: id,
                label,
                shares: vec![0.0; parts.len()],
                gauges: vec![None; parts.len()],
                phase: phase_at(kept, work, uses.len()),
                uses,
                parts,
                devices,
                alive,
                restores: image.is_some(),
                kept: done,
                done,
                work,
                counted: self.now,
                ..ModelRun::default()
            },
        );
        self.after(after, ModelEvent::Launched(run));
        self.updated();
    }

    /// Suspends a running job: `job_suspend()`. An operator may also suspend a job that is
    /// suspended.
    pub(super) fn suspend(&mut self, id: u32, indefinitely: bool) -> CallResult {
        let now = self.clock_seconds();
        if indefinitely && let Ok(job) = self.job_in(id, ObservedState::Suspended) {
            job.seen.priority = 0;
            self.updated();
            return Ok(());
        }
        let job = self.job_in(id, ObservedState::Running)?;
        if job.seen.configuring {
            return error(codes::TRANSITION, "Job is in transition state");
        }
        job.seen.state = ObservedState::Suspended;
        job.used_seconds += (now - job.running_since).max(0);
        job.seen.last_launch_seconds = 0;
        job.seen.resumed_seconds = 0;
        job.seen.end_seconds = 0;
        if indefinitely {
            job.seen.priority = 0;
        }
        let run = job.run;
        self.stop(run, true);
        Ok(())
    }

    /// Lets a suspended job run on, with the memory that Slurm counts for it, or without.
    pub(super) fn resume(&mut self, id: u32) -> CallResult {
        let now = self.clock_seconds();
        let job = self.job_in(id, ObservedState::Suspended)?;
        job.seen.state = ObservedState::Running;
        job.running_since = now;
        job.seen.last_launch_seconds = now;
        job.seen.resumed_seconds = now;
        job.seen.end_seconds = job
            .limit()
            .map_or(0, |limit| now + limit - job.used_seconds);
        if job.seen.priority == 0 {
            job.seen.priority = job.usual_priority;
            (job.seen.held, job.seen.on_hold, job.seen.admin_hold) = (false, false, false);
        }
        let run = job.run;
        self.stop(run, false);
        Ok(())
    }

    fn stop(&mut self, run: u64, stops: bool) {
        let nodes = self.runs.get(&run).map(|run| run.alive.clone());
        let nodes = nodes.unwrap_or_default().into_iter();
        let latency = self.latency_on(self.settings.message, [4, run, 0], nodes);
        self.after(latency, ModelEvent::Stopped(run, stops));
        self.updated();
    }

    pub(super) fn release(&mut self, id: u32) -> CallResult<Vec<u64>> {
        let job = self.job_in(id, ObservedState::Suspended)?;
        let released = job
            .seen
            .places
            .iter()
            .map(|place| place.memory_mib)
            .collect();
        for place in &mut job.seen.places {
            place.memory_mib = 0;
        }
        self.updated();
        Ok(released)
    }

    pub(super) fn claim(&mut self, id: u32, memory: &[u64]) -> CallResult {
        if self.resumes_into_reservation(id) {
            self.note_overrun(id, "comes back into");
        }
        let holds = self.slurmctld.jobs.get(&id).filter(|job| job.has_nodes());
        let Some(job) = holds else {
            return error(codes::INVALID_JOB, "Invalid job id specified");
        };
        if job.seen.places.len() != memory.len() || job.seen.is_counted() {
            return error(codes::INVALID, "Invalid argument");
        }
        let mut wanted = job.seen.places.iter().zip(memory);
        if !wanted.all(|(place, amount)| self.fits(place.node, *amount)) {
            return error(codes::NODES_BUSY, "Requested nodes are busy");
        }
        let entry = self.slurmctld.jobs.get_mut(&id);
        let places = entry.into_iter().flat_map(|job| &mut job.seen.places);
        for (place, amount) in places.zip(memory) {
            place.memory_mib = *amount;
        }
        self.updated();
        Ok(())
    }

    pub(super) fn warn(&mut self, id: u32) -> CallResult {
        let job = self.job_in(id, ObservedState::Running)?;
        job.seen.warned = true;
        let run = job.run;
        let latency = self.settings.latency(self.settings.message, [5, run, 0]);
        self.after(latency, ModelEvent::Warned(run));
        Ok(())
    }

    /// Ends a running or suspended job and queues it again.
    pub(super) fn requeue(&mut self, id: u32) -> CallResult {
        let Some(job) = self.slurmctld.jobs.get_mut(&id) else {
            return error(codes::INVALID_JOB, "Invalid job id specified");
        };
        if !job.has_nodes() || !job.seen.batch || !job.seen.requeue {
            return error(codes::DISABLED, "Requested operation is presently disabled");
        }
        if job.seen.configuring {
            return error(codes::TRANSITION, "Job is in transition state");
        }
        self.end_run(id, None);
        Ok(())
    }

    /// `dfrs_job_requeue_warned()`.
    pub(super) fn requeue_warned(
        &mut self,
        id: u32,
        submit_time: i64,
        was_warned: bool,
    ) -> CallResult<Ending> {
        let now = self.clock_seconds();
        let delay = self.settings.requeue_delay.0 / SECOND;
        let job = self.slurmctld.jobs.get_mut(&id);
        let Some(job) = job.filter(|job| job.seen.submit_seconds == submit_time) else {
            return error(codes::INVALID_JOB, "Invalid job id specified");
        };
        let died = job.warning_ended.take() == Some(JobOutcome::Failed);
        let of_warning = was_warned || died;
        let Some(outcome) = job.outcome.filter(|_| job.ended_by_itself && of_warning) else {
            return error(codes::FINISHED, "Job/step already completing or completed");
        };
        (job.outcome, job.seen.state) = (None, ObservedState::Pending);
        job.ended_by_itself = false;
        job.seen.restarts += 1;
        job.seen.warned = false;
        job.requeues = job.seen.completing;
        if !job.requeues {
            job.begin_time = now + delay;
            job.seen.submit_seconds = now.max(job.seen.submit_seconds);
        }
        // It may have been over for its user while DFRS was switched off.
        let reopened = self.program_of(id).is_some_and(|program| {
            program.reported = false;
            std::mem::replace(&mut program.outcome, ProgramOutcome::Open) != ProgramOutcome::Open
        });
        self.open += usize::from(reopened);
        self.updated();
        Ok(if outcome == JobOutcome::Completed {
            Ending::Saved
        } else {
            Ending::Failed
        })
    }

    pub(super) fn cancel(&mut self, id: u32) -> CallResult {
        match self.slurmctld.jobs.get(&id) {
            Some(job) if job.outcome.is_none() => {
                for task in job.more_tasks.clone() {
                    self.set_outcome(task, JobOutcome::Cancelled);
                }
                self.end_run(id, Some(JobOutcome::Cancelled));
                Ok(())
            }
            _ => error(codes::INVALID_JOB, "Invalid job id specified"),
        }
    }

    pub(super) fn abort_orphaned(&mut self, id: u32, name: &str) -> CallResult {
        self.job_in(id, ObservedState::Pending)?;
        let node = self
            .machines
            .iter()
            .position(|machine| machine.name == name);
        let Some(node) = node.and_then(|node| u32::try_from(node).ok()) else {
            return error(codes::INVALID, "Invalid node name specified");
        };
        let runs = self.machines[node as usize].runs.iter().copied();
        let former: Vec<u64> = runs
            .filter(|run| self.runs.get(run).is_some_and(|run| run.job == id))
            .collect();
        for run in former {
            self.abort_on(run, node);
            if let Some(run) = self.runs.get_mut(&run) {
                run.ends = true;
            }
        }
        self.rate(&[node]);
        Ok(())
    }

    pub(super) fn clear_begin(&mut self, id: u32) -> CallResult {
        let job = self.job_in(id, ObservedState::Pending)?;
        if job.seen.completing || job.seen.steps_alive {
            return error(codes::AGAIN, "Resource temporarily unavailable");
        }
        job.begin_time = 0;
        self.updated();
        Ok(())
    }

    pub(super) fn extend(&mut self, id: u32, seconds: u32) -> CallResult<JobTimeLimit> {
        let seconds = seconds / 60 * 60;
        let end = self.slurmctld.jobs.get(&id).map(|job| job.seen.end_seconds);
        if end.is_some_and(|end| !self.end_is_free(id, end + i64::from(seconds))) {
            self.note_overrun(id, "is extended into");
        }
        let job = self.slurmctld.jobs.get_mut(&id);
        let Some(job) = job.filter(|job| job.limit().is_some()) else {
            return error(codes::INVALID, "Invalid argument");
        };
        let before = job.seen.extend_limit(seconds);
        self.updated();
        Ok(before)
    }

    pub(super) fn take_back(&mut self, id: u32, extended: &LimitExtension) -> CallResult {
        let job = self.job_in(id, ObservedState::Pending)?;
        job.seen.take_back_limit(extended);
        self.updated();
        Ok(())
    }

    pub(super) fn outcome(&self, id: u32, submit_time: i64) -> JobOutcome {
        let job = self.slurmctld.jobs.get(&id);
        let known = job.filter(|job| job.seen.submit_seconds == submit_time);
        known
            .and_then(|job| job.outcome)
            .unwrap_or(JobOutcome::Other)
    }

    /// Whether one of the calls that are to fail is this one. Memory is claimed in Slurm's
    /// accounting alone, which refuses it for good only where there is none: what follows the claim
    /// may then be refused. A job that has died of its warning is requeued at any request.
    pub(super) fn take_refusal(&mut self, what: &str) -> CallResult {
        let is_spared =
            ["claim", "requeue-warned"].contains(&what) && self.refuse.1 != codes::AGAIN;
        if self.refuse.0 == 0 || is_spared {
            return Ok(());
        }
        self.refuse.0 -= 1;
        error(self.refuse.1, "refused by the model")
    }
}

/// Whether these are as many tasks as the job has: of one whose nodes make them, on as many nodes
/// as it allows.
fn is_laid_out(job: &ObservedJob, places: &[ObservedPlace], whole: bool) -> bool {
    let tasks: u32 = places.iter().map(|place| place.tasks).sum();
    let Some(each) = job.request.tasks_on_each().filter(|_| whole) else {
        return tasks == job.request.tasks && !places.is_empty();
    };
    let (min, max) = job.request.task_range();
    (min..=max).contains(&tasks) && places.iter().all(|place| place.tasks == each)
}
