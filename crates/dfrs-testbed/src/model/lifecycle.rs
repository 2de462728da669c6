//! What happens to the processes of jobs by itself: launch, stop, end; and what slurmctld makes of
//! its nodes' answers and of time limits.

use dfrs_core::Span;
use dfrs_proto::journal::JobOutcome;

use super::cluster::{ClusterModel, SECOND};
use super::events::ModelEvent;
use super::program::ProgramOutcome;
use dfrs_agent::slurm::records::{ObservedJob, ObservedState};

/// A slurmstepd that does not reach slurmctld repeats after this time that its job has ended
/// (`RETRY_DELAY` in `_send_complete_batch_script_msg()`, 22.05 and 24.11).
const END_RETRY_INTERVAL: Span = Span(15 * SECOND);

impl ClusterModel {
    pub(super) fn launched(&mut self, id: u64) {
        let now = self.clock_seconds();
        if self.launch_fails(id) || self.start_is_held(id) {
            return;
        }
        if let Some(job) = self.overlapping_job(id) {
            self.note(format!("overlap {job}"));
        }
        let Some(run) = self.runs.get_mut(&id).filter(|run| !run.ends) else {
            return;
        };
        run.began = true;
        run.counted = self.now;
        let (job, label) = (run.job, run.label);
        let nodes: Vec<u32> = run.parts.iter().map(|part| part.0).collect();
        let begun = run.clone();
        self.restore_image(&begun);
        if let Some(program) = self.programs.get_mut(&label) {
            program.launches += 1;
            program.first_launch_us.get_or_insert(self.now.0);
        }
        for node in &nodes {
            self.freeze(*node);
        }
        self.rate(&nodes);
        if let Some(entry) = self.slurmctld.jobs.get_mut(&job)
            && entry.run == id
            && self.serves
        {
            entry.seen.configuring = false;
            entry.seen.last_launch_seconds = now;
            self.updated();
        }
        self.script_begins(id, label);
    }

    /// What the user's script does first: it may hold its own job, and begin steps from then on.
    fn script_begins(&mut self, id: u64, label: u32) {
        let Some(program) = self.programs.get(&label) else {
            return;
        };
        let (holds, steps) = (program.submission.holds, program.submission.step_seconds);
        if let Some(seen) = self.running_job_of(id).filter(|_| holds) {
            (seen.held, seen.on_hold, seen.priority) = (true, true, 0);
            self.updated();
        }
        self.schedule_step(id, steps);
    }

    fn schedule_step(&mut self, id: u64, seconds: u32) {
        if seconds > 0 {
            let after = Span(i64::from(seconds) * SECOND);
            self.after(after, ModelEvent::Step(id));
        }
    }

    /// The script of a run begins a step, unless it is stopped, and another one later.
    pub(super) fn begins_step(&mut self, id: u64) {
        let Some(run) = self.runs.get(&id).filter(|run| !run.ends) else {
            return;
        };
        let program = self.programs.get(&run.label);
        let steps = program.map_or(0, |program| program.submission.step_seconds);
        let now = self.clock_seconds();
        if let Some(seen) = self.running_job_of(id) {
            seen.last_launch_seconds = now;
            self.updated();
        }
        self.schedule_step(id, steps);
    }

    /// The job of this run, if slurmctld is there and shows it as running.
    fn running_job_of(&mut self, id: u64) -> Option<&mut ObservedJob> {
        let job = self.runs.get(&id)?.job;
        let entry = self.slurmctld.jobs.get_mut(&job)?;
        let runs = entry.run == id && entry.seen.state == ObservedState::Running;
        (runs && self.serves).then_some(&mut entry.seen)
    }

    /// The job of this run, if processes of another job that had its id are still ending somewhere:
    /// slurmctld takes their nodes' reports of it for reports of this one. Nodes that do not answer
    /// report nothing.
    fn overlapping_job(&self, id: u64) -> Option<u32> {
        let run = self.runs.get(&id)?;
        let others = self.runs.iter().filter(|(other, _)| **other != id);
        let mut former =
            others.filter(|(_, other)| other.job == run.job && other.label != run.label);
        let is_reporting = |node: &u32| {
            let entry = &self.slurmctld.nodes[*node as usize];
            !entry.down && self.machines[*node as usize].takes_orders()
        };
        former
            .any(|(_, other)| other.alive.iter().any(is_reporting))
            .then_some(run.job)
    }

    /// A node that does not answer is tried again. One that still has processes of the same job is
    /// drained, and the job is queued again ("Duplicate jobid").
    fn launch_fails(&mut self, id: u64) -> bool {
        let Some(run) = self.runs.get(&id) else {
            return true;
        };
        let (job, alive) = (run.job, run.alive.clone());
        let machine = |node: &u32| &self.machines[*node as usize];
        if !alive.iter().all(|node| machine(node).is_reachable()) || !self.serves {
            self.after(Span(2 * SECOND), ModelEvent::Launched(id));
            return true;
        }
        let has_other = |node: &&u32| {
            let here = machine(node).runs.iter().filter(|other| **other != id);
            here.filter_map(|other| self.runs.get(other))
                .any(|other| other.job == job)
        };
        let Some(node) = alive.iter().find(has_other).copied() else {
            return false;
        };
        self.note(format!("duplicate {job}"));
        self.slurmctld.nodes[node as usize].drained = true;
        self.updated();
        let entry = self.slurmctld.jobs.get(&job);
        if entry.is_some_and(|entry| entry.run == id) {
            self.handle_node_loss(job);
        }
        true
    }

    pub(super) fn stopped(&mut self, id: u64, stops: bool) {
        let Some(run) = self.runs.get_mut(&id) else {
            return;
        };
        run.stopped = stops;
        if !stops {
            // Where dfrsd froze it again before the signal came, its memory stays in swap.
            let (job, machines) = (run.job, &self.machines);
            run.cold_mib
                .retain(|node, _| machines[*node as usize].frozen.contains_key(&job));
        }
        let nodes: Vec<u32> = run.alive.iter().copied().collect();
        self.rate(&nodes);
    }

    pub(super) fn warned(&mut self, id: u64) {
        let Some((label, job)) = self.runs.get(&id).map(|run| (run.label, run.job)) else {
            return;
        };
        let done = self.work_done(id);
        let Some(program) = self.programs.get_mut(&label) else {
            return;
        };
        if program.submission.checkpoints() {
            program.kept = program.kept.max(done);
            if program.submission.ends_when_warned {
                self.end_of_warning(id, JobOutcome::Completed);
            }
            return;
        }
        // The signal ends a program that has no trap for it.
        if program.submission.wants_warnings() {
            self.end_of_warning(id, JobOutcome::Failed);
            return;
        }
        self.faults.push(format!(
            "job {job} dies of a warning that it never asked for"
        ));
        let entry = self.slurmctld.jobs.get(&job);
        if entry.is_some_and(|entry| entry.run == id && entry.has_nodes()) {
            self.end_run(job, Some(JobOutcome::Failed));
        }
    }

    /// As its script's end is, this is reported; the user sees a job that DFRS has ended.
    fn end_of_warning(&mut self, id: u64, how: JobOutcome) {
        let Some(run) = self.runs.get_mut(&id).filter(|run| !run.ends) else {
            return;
        };
        (run.ends, run.warning_ended) = (true, Some(how));
        let job = run.job;
        let nodes: Vec<u32> = run.alive.iter().copied().collect();
        let word = if how == JobOutcome::Failed {
            "died"
        } else {
            "saved"
        };
        self.note(format!("{word} {job}"));
        self.report_end(id, &nodes);
    }

    /// The processes on these nodes have ended by themselves, which slurmctld learns.
    fn report_end(&mut self, id: u64, nodes: &[u32]) {
        self.rate(nodes);
        let after = self.latency_on(self.settings.message, [2, id, 0], nodes.iter().copied());
        self.after(after, ModelEvent::Reported(id));
    }

    pub(super) fn finished(&mut self, id: u64, version: u64) {
        let Some(run) = self.runs.get_mut(&id) else {
            return;
        };
        if run.version != version || run.ends {
            return;
        }
        run.ends = true;
        let (job, label) = (run.job, run.label);
        let nodes: Vec<u32> = run.alive.iter().copied().collect();
        self.close(label, ProgramOutcome::Finished);
        self.note(format!("finished {job}"));
        self.report_end(id, &nodes);
    }

    /// slurmstepd tries again until slurmctld answers.
    pub(super) fn reported(&mut self, id: u64) {
        let Some(run) = self.runs.get(&id) else {
            return;
        };
        let (job, nodes, by_warning) = (run.job, run.alive.clone(), run.warning_ended);
        let reachable = nodes
            .iter()
            .all(|node| self.machines[*node as usize].answers);
        if !self.serves {
            self.after(END_RETRY_INTERVAL, ModelEvent::Reported(id));
            return;
        }
        if !reachable {
            self.after(Span(2 * SECOND), ModelEvent::Reported(id));
            return;
        }
        let entry = self.slurmctld.jobs.get(&job);
        if entry.is_some_and(|entry| entry.run == id && entry.has_nodes()) {
            self.end_by_itself(job, by_warning);
        } else {
            self.signal_end(id);
        }
    }

    fn end_by_itself(&mut self, job: u32, by_warning: Option<JobOutcome>) {
        if let Some(entry) = self.slurmctld.jobs.get_mut(&job) {
            entry.ended_by_itself = true;
            entry.warning_ended = by_warning;
        }
        self.end_run(job, Some(by_warning.unwrap_or(JobOutcome::Completed)));
    }

    /// slurmctld ends jobs over their time limit.
    pub(super) fn look_at_limits(&mut self) {
        let now = self.clock_seconds();
        let jobs = self.slurmctld.jobs.values();
        let running = jobs.filter(|job| job.seen.state == ObservedState::Running);
        let over: Vec<u32> = running
            .filter(|job| (1..=now).contains(&job.seen.end_seconds))
            .map(|job| job.seen.id)
            .collect();
        for id in over {
            self.note(format!("limit {id}"));
            self.end_run(id, Some(JobOutcome::Failed));
        }
        let jobs = self.slurmctld.jobs.values();
        // MinJobAge.
        let old = jobs.filter(|job| {
            job.outcome.is_some() && !job.seen.completing && now - job.freed_time >= 300
        });
        let old: Vec<u32> = old.map(|job| job.seen.id).collect();
        for id in old {
            self.slurmctld.jobs.remove(id);
        }
    }

    /// slurmctld queries its nodes: those that do not answer go down, others report what they run:
    /// all of them if `all`, else those that come back.
    pub(super) fn look_at_nodes(&mut self, all: bool) {
        let now = self.now.0;
        for node in 0..self.machines.len() {
            let index = u32::try_from(node).unwrap_or(u32::MAX);
            if self.machines[node].is_reachable() {
                let entry = &mut self.slurmctld.nodes[node];
                let was_silent = entry.silent_since.take().is_some();
                let returns = entry.down && !entry.set_down;
                let boots = std::mem::take(&mut self.machines[node].boots);
                if all || was_silent || returns || boots {
                    self.register(index);
                }
                continue;
            }
            let entry = &mut self.slurmctld.nodes[node];
            let since = *entry.silent_since.get_or_insert(now);
            if now - since >= self.settings.node_timeout.0 && !entry.down {
                self.set_down(index);
            }
        }
    }

    /// A node goes down: its jobs are queued again, or have failed.
    pub(super) fn set_down(&mut self, node: u32) {
        self.slurmctld.nodes[node as usize].down = true;
        self.updated();
        self.lose_jobs_on(node, &[]);
    }

    /// The processes of jobs on this node are lost, but for these runs.
    fn lose_jobs_on(&mut self, node: u32, left: &[u64]) {
        let jobs = self.slurmctld.jobs.values();
        let lost: Vec<(u32, u64, bool)> = jobs
            .filter(|job| job.may_have_processes() && job.is_on(node) && !left.contains(&job.run))
            .map(|job| (job.seen.id, job.run, job.has_nodes()))
            .collect();
        for (id, run, had_nodes) in lost {
            if had_nodes {
                self.handle_node_loss(id);
            } else {
                self.epilog(id, run);
            }
        }
    }

    /// A job lost a node.
    fn handle_node_loss(&mut self, id: u32) {
        let job = self.slurmctld.jobs.get(&id);
        let again = job.is_some_and(|job| job.seen.requeue && job.seen.batch);
        self.note(format!("lost {id}"));
        if let Some(program) = self.program_of(id) {
            program.forgotten = true;
        }
        self.end_run(id, (!again).then_some(JobOutcome::Failed));
    }

    pub(super) fn program_of(&mut self, id: u32) -> Option<&mut super::JobProgram> {
        let label = self.slurmctld.jobs.get(&id)?.label;
        self.programs.get_mut(&label)
    }

    /// A node reports what it runs (`validate_jobs_on_node()`): what should not be there is ended,
    /// what should be there and is not was lost.
    fn register(&mut self, node: u32) {
        let entry = &mut self.slurmctld.nodes[node as usize];
        if entry.down && !entry.set_down {
            entry.down = false;
            self.updated();
        }
        let machine = &self.machines[node as usize];
        let here: Vec<u64> = machine.runs.iter().copied().collect();
        for id in &here {
            let Some(run) = self.runs.get(id) else {
                continue;
            };
            let job = self.slurmctld.jobs.get(&run.job);
            if !job.is_some_and(|job| job.run == *id && job.has_nodes()) {
                self.abort_stray(*id, node);
            }
        }
        self.lose_jobs_on(node, &here);
    }

    fn abort_stray(&mut self, id: u64, node: u32) {
        if let Some(run) = self.runs.get_mut(&id) {
            run.ends = true;
        }
        self.abort_on(id, node);
        self.rate(&[node]);
    }
}
