//! What happens to jobs' records when something happens on the nodes, and the other way round.

use dfrs_proto::journal::JobOutcome;

use super::cluster::{ClusterModel, SECOND};
use super::events::ModelEvent;
use super::program::{JobSubmission, ProgramOutcome};
use super::slurmctld::JobEntry;
use dfrs_agent::slurm::records::{ObservedJob, ObservedState};

impl ClusterModel {
    /// A user submits a job, or an array.
    pub fn submit(&mut self, submission: &JobSubmission) {
        for index in 0..submission.array.max(1) {
            let mut one = submission.clone();
            one.label += index;
            one.array = 1;
            let label = one.label;
            self.programs
                .insert(label, super::program::JobProgram::new(one));
            self.open += 1;
        }
        if self.serves {
            self.queue_up(submission.label, submission.array);
        } else {
            for index in 0..submission.array.max(1) {
                self.after(
                    dfrs_core::Span(5 * SECOND),
                    ModelEvent::SubmitAgain(submission.label + index),
                );
            }
        }
    }

    /// Slurm takes a submission into its queue.
    pub(super) fn queue_up(&mut self, label: u32, array: u32) {
        let Some(program) = self.programs.get(&label) else {
            return;
        };
        let submission = program.submission.clone();
        let id = self.new_id();
        let now = self.clock_seconds();
        let seen = ObservedJob {
            id,
            submit_seconds: now,
            state: ObservedState::Pending,
            array: if array > 1 { id } else { 0 },
            array_master: array > 1,
            user: submission.user,
            ..submission.job.clone()
        }
        .requesting(|request| {
            request.tasks = submission.job.request.task_range().0;
            request.exclusive_user = submission.owner;
            request.eligible = self
                .nodes_of_partition(&submission.job.partition)
                .map(Into::into);
        });
        let entry = JobEntry {
            usual_priority: seen.priority,
            seen,
            label,
            more_tasks: (label + 1..label + array.max(1)).collect(),
            begin_time: if submission.begin_seconds > 0 {
                now + submission.begin_seconds
            } else {
                0
            },
            used_seconds: 0,
            running_since: 0,
            ended_by_itself: false,
            warning_ended: None,
            run: 0,
            requeues: false,
            freed_time: 0,
            outcome: None,
            devices: Vec::new(),
        };
        for task in label..label + array.max(1) {
            if let Some(program) = self.programs.get_mut(&task) {
                program.id = id;
            }
        }
        self.slurmctld.jobs.insert(id, entry);
        self.updated();
    }

    pub(super) fn new_id(&mut self) -> u32 {
        let id = self.slurmctld.next_id;
        self.slurmctld.next_id += 1;
        id
    }

    pub(super) fn resubmit(&mut self, label: u32) {
        let open = self
            .programs
            .get(&label)
            .is_some_and(|program| program.outcome == ProgramOutcome::Open);
        if !self.serves {
            self.after(dfrs_core::Span(5 * SECOND), ModelEvent::SubmitAgain(label));
        } else if open && !self.slurmctld.knows(label) {
            self.queue_up(label, 1);
        }
    }

    /// The nodes of a partition, if there are other nodes than those.
    pub(super) fn nodes_of_partition(&self, partition: &str) -> Option<Vec<u32>> {
        let nodes = self.slurmctld.nodes.iter();
        let all = nodes.clone().all(|node| node.partition == partition);
        let here = nodes.filter(|node| node.partition == partition && !node.left);
        (!all).then(|| here.map(|node| node.seen.index).collect())
    }

    /// The last process of a run is gone on a node.
    pub(super) fn gone(&mut self, id: u64, node: u32) {
        self.leave_image(id, node);
        let Some(run) = self.runs.get_mut(&id) else {
            return;
        };
        run.alive.remove(&node);
        let (job, last) = (run.job, run.alive.is_empty());
        let machine = &mut self.machines[node as usize];
        machine.runs.remove(&id);
        machine.frozen.remove(&job);
        self.discard_void_images(node);
        self.freeze(node);
        self.rate(&[node]);
        self.epilog(job, id);
        if last {
            self.remove_run(id);
        }
    }

    /// slurmctld gets the report that nothing of a run is left on the nodes that it waits for.
    pub(super) fn epilog(&mut self, job: u32, id: u64) {
        let waits_for = self.runs.get(&id).is_some_and(|run| {
            let down = |node: &u32| self.slurmctld.nodes[*node as usize].down;
            run.alive.iter().any(|node| !down(node))
        });
        let now = self.clock_seconds();
        let delay = self.settings.requeue_delay.0 / SECOND;
        let serves = self.serves;
        let Some(entry) = self.slurmctld.jobs.get_mut(&job) else {
            return;
        };
        if !serves || entry.run != id || !entry.seen.completing || waits_for {
            return;
        }
        entry.seen.completing = false;
        entry.seen.places.clear();
        entry.seen.request.tasks = entry.seen.request.task_range().0;
        entry.run = 0;
        entry.freed_time = now;
        if entry.requeues {
            entry.requeues = false;
            entry.begin_time = now + delay;
            entry.seen.submit_seconds = now.max(entry.seen.submit_seconds);
        }
        self.updated();
    }

    /// slurmctld ends a job's run: its processes get the signal to end, its memory is free in
    /// Slurm's accounting at once.
    pub(super) fn end_run(&mut self, job: u32, outcome: Option<JobOutcome>) {
        let Some(entry) = self.slurmctld.jobs.get_mut(&job) else {
            return;
        };
        entry.seen.state = match outcome {
            Some(_) => ObservedState::Ended,
            None => ObservedState::Pending,
        };
        entry.outcome = outcome;
        entry.seen.configuring = false;
        entry.seen.holds_gres = false;
        entry.seen.completing = entry.run != 0;
        entry.seen.last_launch_seconds = 0;
        entry.seen.resumed_seconds = 0;
        entry.seen.end_seconds = 0;
        if outcome.is_none() {
            entry.requeues = true;
            entry.seen.restarts += 1;
            entry.seen.warned = false;
        }
        let (run, label) = (entry.run, entry.label);
        let is_dfrss = self.hidden.contains(&entry.seen.partition);
        let is_lost = entry.warning_ended.is_some() && is_dfrss;
        // What DFRS has ended is not over for its user.
        if let Some(outcome) = outcome.filter(|_| !is_lost) {
            self.set_outcome(label, outcome);
        }
        if run == 0 {
            let entry = self.slurmctld.jobs.get_mut(&job);
            entry
                .into_iter()
                .for_each(|entry| entry.seen.places.clear());
        }
        self.signal_end(run);
        self.epilog(job, run);
        self.updated();
    }

    pub(super) fn set_outcome(&mut self, label: u32, outcome: JobOutcome) {
        if let Some(program) = self.programs.get_mut(&label) {
            program.reported = true;
        }
        let closed_as = match outcome {
            JobOutcome::Completed => ProgramOutcome::Finished,
            JobOutcome::Cancelled => ProgramOutcome::Cancelled,
            _ => ProgramOutcome::Failed,
        };
        self.close(label, closed_as);
    }

    /// Signals the processes of a run to end, on all nodes that can be reached.
    pub(super) fn signal_end(&mut self, id: u64) {
        let Some(run) = self.runs.get_mut(&id) else {
            return;
        };
        run.ends = true;
        let nodes: Vec<u32> = run.alive.iter().copied().collect();
        let job = run.job;
        let imaged = nodes.iter().any(|node| self.has_image_on(job, *node));
        let parked = nodes.iter().filter(|node| self.is_parked_on(job, **node));
        let parked = parked.copied().collect();
        if let Some(run) = self.runs.get_mut(&id) {
            run.imaged_at_end |= imaged;
            run.parked_at_end = parked;
        }
        for node in &nodes {
            self.signal_end_on(id, *node);
        }
        self.rate(&nodes);
    }

    /// slurmctld repeats, to nodes that did not answer, the signal to end what they run of
    /// completing jobs.
    pub(super) fn resignal_end(&mut self) {
        let waits = |id: u64, run: &super::work::ModelRun| {
            let job = self.slurmctld.jobs.get(&run.job);
            job.is_some_and(|job| job.run == id && job.seen.completing)
        };
        let unsignalled = self
            .runs
            .iter()
            .filter(|(_, run)| !run.unsignalled.is_empty());
        let again: Vec<u64> = unsignalled
            .filter(|(id, run)| waits(**id, run))
            .map(|(id, _)| *id)
            .collect();
        for id in again {
            let run = self.runs.get_mut(&id);
            let nodes = run.map(|run| std::mem::take(&mut run.unsignalled));
            for node in nodes.unwrap_or_default() {
                self.signal_end_on(id, node);
            }
        }
    }

    /// SIGTERM, and SIGKILL for those that do not end.
    fn signal_end_on(&mut self, id: u64, node: u32) {
        let label = self.runs.get(&id).map(|run| run.label);
        let program = label.and_then(|label| self.programs.get(&label));
        // A program that has done its work ends by itself.
        let lingers = program.is_some_and(|program| {
            program.submission.stubborn && program.outcome != ProgramOutcome::Finished
        });
        if lingers && self.machines[node as usize].is_reachable() {
            let after = dfrs_core::Span(self.settings.kill_wait.0 + self.settings.kill.0);
            self.after(after, ModelEvent::Gone(id, node));
        } else {
            self.abort_on(id, node);
        }
    }

    /// SIGKILL.
    pub(super) fn abort_on(&mut self, id: u64, node: u32) {
        if self.machines[node as usize].is_reachable() {
            let usual = dfrs_core::Span(self.settings.message.0 + self.settings.kill.0);
            let about = [1, id, u64::from(node)];
            let after = self.latency_on(usual, about, std::iter::once(node));
            self.after(after, ModelEvent::Gone(id, node));
        } else if self.runs.get(&id).is_some_and(|run| !run.began) {
            // Its launch never reached the node.
            self.after(dfrs_core::Span(0), ModelEvent::Gone(id, node));
        } else if let Some(run) = self.runs.get_mut(&id) {
            run.unsignalled.insert(node);
        }
    }
}
