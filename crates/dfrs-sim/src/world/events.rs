//! What happens at an instant.

use dfrs_core::{Events, Job, JobId, Progress, Time};
use dfrs_proto::journal::WriteError;

use super::World;
use super::uses::counted;
use crate::journal::position;

impl World<'_> {
    /// When something happens next, after everything at `now`. A job without work may end at `now`
    /// itself.
    pub(super) fn next_instant(&self, now: Time) -> Option<Time> {
        let submission = self.submissions.next(self.trace);
        let completion = self.next_completion();
        let retry = self.retries.first().map(|(time, _)| *time);
        let measured = self.next_measurement(now);
        let events = [submission, completion, retry, measured, self.next_held()];
        let events = events.into_iter().flatten().min();
        let period = self.next_period(now);
        events.into_iter().chain(period).min()
    }

    /// When the first of the running jobs ends if nothing changes.
    pub(super) fn next_completion(&self) -> Option<Time> {
        let running = self.system.running();
        running
            .filter_map(|job| self.progress[position(job.id)].finish())
            .min()
    }

    /// When the period elapses next, at its multiples; none while no job is there.
    fn next_period(&self, now: Time) -> Option<Time> {
        let period = self.policy.settings.period.0.max(1);
        let is_awaited = self.policy.is_periodic() && !self.system.cluster().jobs.is_empty();
        is_awaited.then(|| Time((now.0.div_euclid(period) + 1).saturating_mul(period)))
    }

    /// Takes all events of this instant, in the order completion, retrial, submission, period.
    /// An instant is not new if only jobs without work, which it started itself, end in it.
    pub(super) fn drain(&mut self, now: Time, is_new: bool) -> Result<Events, WriteError> {
        let period = self.policy.settings.period.0.max(1);
        let mut happened = Events {
            ended: self.complete(now)?,
            submitted: self.retry(now),
            nodes_changed: self.follow_others(now),
            period: is_new && self.policy.is_periodic() && now.0.rem_euclid(period) == 0,
        };
        while let Some(place) = self.submissions.take(self.trace, now) {
            let id = self.submit(place, now)?;
            happened.submitted.push(id);
        }
        Ok(happened)
    }

    fn submit(&mut self, place: usize, now: Time) -> Result<JobId, WriteError> {
        let (id, job) = (JobId(place as u64), &self.trace.jobs[place]);
        self.journal.submit(id)?;
        let work = self
            .uses
            .as_mut()
            .map_or(job.runtime, |uses| uses.submit(place, job, now));
        self.progress[place] = Progress::new(now, Some(work));
        self.system.insert(Job {
            submit: now,
            virtual_time: self.users.submit(id, now),
            ..job.to_job(id)
        });
        Ok(id)
    }

    /// Takes out the jobs that have done all their work.
    fn complete(&mut self, now: Time) -> Result<bool, WriteError> {
        let progress = &self.progress;
        let ends = |id: &JobId| progress[position(*id)].finish() == Some(now);
        let running = self.system.running().map(|job| job.id);
        let ended: Vec<JobId> = running.filter(ends).collect();
        for id in &ended {
            if let Some(job) = self.system.remove(*id) {
                let virtual_time = counted(&mut self.progress, self.uses.as_mut(), *id, now);
                self.system.experience_mut().learn(job.limit, virtual_time);
                self.users.end(*id, virtual_time, now);
                self.submissions.ended(position(*id), now);
            }
            let record = &mut self.outcome.jobs[position(*id)];
            record.finish = now;
            record.stalled = self.progress[position(*id)].stalled(now);
            if let Some(uses) = &mut self.uses {
                uses.end(*id, record, now);
            }
            self.tries.remove(id);
            self.pauses.forget(*id);
            self.journal.finish(now, *id)?;
        }
        Ok(!ended.is_empty())
    }

    /// The jobs that still wait and whose time to be tried again has come.
    fn retry(&mut self, now: Time) -> Vec<JobId> {
        let mut due = Vec::new();
        while let Some((time, id)) = self
            .retries
            .first()
            .copied()
            .filter(|(time, _)| *time <= now)
        {
            self.retries.remove(&(time, id));
            if self
                .system
                .cluster()
                .job(id)
                .is_some_and(|job| !job.is_running())
            {
                due.push(id);
            }
        }
        due
    }
}
