//! What comes of a decision: jobs start, give up their places, come back, move, and get their shares.

use dfrs_core::{Job, JobState, Mapping, Mobility, Rate, Span, Time};
use dfrs_proto::journal::WriteError;

use super::{Changed, Shares, World};
use crate::journal::position;

impl World<'_> {
    /// Makes the changes of this instant effective.
    pub(super) fn settle(
        &mut self,
        now: Time,
        changed: Changed,
        shares: Shares,
    ) -> Result<(), WriteError> {
        for (id, before) in changed {
            self.restart_measurement(id);
            let Some(job) = self.system.job(id) else {
                continue;
            };
            let job = job.clone();
            match (before, job.running_on()) {
                (JobState::Running(old), Some(new))
                    if job.mobility != Mobility::Restart && !self.requeued.contains(&id) =>
                {
                    self.migrate(now, &job, &old, new)?;
                }
                (JobState::Running(_), new) => {
                    self.pause(now, &job)?;
                    if let Some(new) = new {
                        self.arrive(now, &job, new)?;
                    }
                }
                (_, Some(new)) => self.arrive(now, &job, new)?,
                _ => {}
            }
        }
        if self.uses.is_some() {
            return self.share_measured(now);
        }
        self.share(now, shares)
    }

    fn migrate(
        &mut self,
        now: Time,
        job: &Job,
        old: &Mapping,
        new: &Mapping,
    ) -> Result<(), WriteError> {
        let record = &mut self.outcome.jobs[position(job.id)];
        record.migrations += 1;
        record.migrated_tasks += arriving(old, new);
        let stall = self.settings.stall(job, new);
        self.progress[position(job.id)].place(now, stall);
        self.place_uses(now, job, stall);
        self.journal.migrate(now, job.id, new, stall)
    }

    fn pause(&mut self, now: Time, job: &Job) -> Result<(), WriteError> {
        self.outcome.jobs[position(job.id)].pauses += 1;
        let lost = job.mobility == Mobility::Restart || self.requeued.contains(&job.id);
        if !lost {
            self.pauses.begin(job.id, now);
        }
        let progress = &mut self.progress[position(job.id)];
        progress.pause(now);
        if lost {
            progress.lose();
        }
        self.stays.end(job.id, now, lost);
        self.pause_uses(now, job, lost);
        self.journal.pause(now, job.id, lost)
    }

    /// A job that waited gets its first place, or another one.
    fn arrive(&mut self, now: Time, job: &Job, new: &Mapping) -> Result<(), WriteError> {
        self.stays.begin(job.id, now);
        let progress = &mut self.progress[position(job.id)];
        if progress.had_place() {
            self.pauses.end(job.id, now);
            // One that has lost its work starts, which costs nothing.
            let stall = match self.requeued.remove(&job.id) {
                true => Span::ZERO,
                false => self.settings.stall(job, new),
            };
            progress.place(now, stall);
            self.place_uses(now, job, stall);
            return self.journal.resume(now, job.id, new, stall);
        }
        self.outcome.jobs[position(job.id)].start = now;
        progress.place(now, Span::ZERO);
        self.place_uses(now, job, Span::ZERO);
        // The job's share follows, even if it is what a share is at first.
        self.journal.start(now, job.id, new)
    }

    fn share(&mut self, now: Time, shares: Shares) -> Result<(), WriteError> {
        for (id, share) in shares {
            let rate = Rate::of(share);
            let progress = &mut self.progress[position(id)];
            let starts = self.outcome.jobs[position(id)].start == now;
            if starts || progress.rate() != rate {
                progress.set_rate(now, rate);
                self.journal.share(now, id, rate.share().0)?;
            }
        }
        Ok(())
    }
}

/// How many tasks are on nodes on which they were not.
fn arriving(old: &Mapping, new: &Mapping) -> u64 {
    let more = new
        .iter()
        .map(|run| run.tasks.saturating_sub(old.tasks_on(run.node)));
    more.map(u64::from).sum()
}
