//! What is left of jobs that have ended.

use super::*;

/// How often it is looked whether a job that is over has left processes behind: all processes are looked at.
const LEFTOVER_INTERVAL: Duration = Duration::from_secs(5);

impl Reconciler {
    pub(super) fn job_ended(&mut self, job: &mut NodeJob, directory: JobDirectory) {
        self.end_interval(job, MemoryUse::default(), IntervalEnd::End);
        self.unpark(job);
        self.end_carrying(job);
        job.limit = None;
        job.needs = None;
        self.report_need(job);
        job.frozen_steps.clear();
        job.late.clear();
        job.outside_since = None;
        job.adopted = false;
        job.capped = false;
        job.swap_allowed = None;
        job.unbound = false;
        self.warnings
            .check(job.subject("note"), self.facts.set_frozen(job.id, false));
        self.warnings
            .check(job.subject("note"), self.facts.set_limit_note(job.id, None));
        self.warnings.clear_all(&job.subject(""));
        self.leftovers.push(directory);
    }

    /// What a job has left running here when it is over is ended, as Slurm ends what it tracks: it
    /// would have CPU and memory that Slurm has given to others. Slurm starts a task's epilog
    /// outside of the groups that it ends, also when the job is being ended. The job is over when
    /// it is by the orders and no `slurmstepd` of it is there, which has to be so twice: one that
    /// is just being started has no title yet.
    pub(super) fn end_leftover_processes(
        &mut self,
        job: &mut NodeJob,
        directory: &JobDirectory,
        now: Now,
    ) {
        if !job.is_over() {
            job.leftover_check = None;
            return;
        }
        let before = job.leftover_check;
        let is_due = |(looked, _)| now.monotonic.saturating_sub(looked) >= LEFTOVER_INTERVAL;
        if !before.is_none_or(is_due) {
            return;
        }
        let daemon = self.processes.has_step_daemon(job.id);
        let daemon = self
            .warnings
            .check(job.subject("left-over processes"), daemon);
        let seems_over = daemon == Some(false) && self.processes.is_complete();
        job.leftover_check = Some((now.monotonic, seems_over));
        if !seems_over || before.is_none_or(|(_, seemed_over)| !seemed_over) {
            return;
        }
        let ended = self.cgroups.end_processes(directory);
        let ended = self
            .warnings
            .check(job.subject("left-over processes"), ended);
        if let Some(ended @ 1..) = ended {
            log::line(format_args!(
                "{}: ended; killed {ended} processes left on this node",
                log::job(job.id)
            ));
        }
    }

    /// Of a job whose cap was lifted, and that no orders named since this daemon began, nothing is
    /// known here, but its directory may be ours. The job has to look ended twice: Slurm makes and
    /// removes the directories of a job one after the other.
    pub(super) fn find_leftovers(&mut self) {
        if !self.adopted {
            return;
        }
        self.cgroups.remove_unused_groups();
        let found = self.cgroups.leftovers();
        let found = self.warnings.check(LEFTOVERS, found).unwrap_or_default();
        let known = |directory: &&JobDirectory| !self.leftovers.contains(directory);
        let sure = self
            .leftover_candidates
            .iter()
            .filter(|job| found.contains(job));
        let new: Vec<JobDirectory> = sure.filter(known).cloned().collect();
        self.leftovers.extend(new);
        self.leftover_candidates = found;
    }

    /// What is still busy is tried again at the next tick; what Slurm uses again is not ours.
    pub(super) fn remove_leftovers(&mut self, present: &[JobDirectory]) {
        let leftovers = std::mem::take(&mut self.leftovers);
        let old = leftovers.into_iter().filter(|job| !present.contains(job));
        self.leftovers = old.filter(|job| !self.cgroups.forget(job)).collect();
    }
}
