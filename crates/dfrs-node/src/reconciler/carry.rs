//! Jobs that are carried: whether they can be, and their images.

use super::*;
use crate::carry::{CarryFailure, CarryOutcome, CarryTask};
use crate::job::JobImage;

/// How often a job is inspected that may be carried, at last.
const INSPECTION_INTERVAL: Duration = Duration::from_secs(20);
/// What failed is tried again after this.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);

impl Reconciler {
    /// Brings the job's image to its orders; whether the job is left to that, and not frozen,
    /// parked or thawed otherwise.
    pub(super) fn carry(&mut self, job: &mut NodeJob, now: Now) -> bool {
        if self.images.is_none() {
            // In swap it would count as an image, and be requeued.
            if job.wants_image() {
                self.publish(job, JobFact::Stuck, true);
            }
            return job.wants_image();
        }
        self.publish(job, JobFact::Void, false);
        match (job.wants_image(), job.image) {
            (false, JobImage::None) => {
                self.inspect_when_due(job, now);
                return false;
            }
            (true, JobImage::Left) if job.has_failed_image => self.release_image(job, now),
            (true, JobImage::None | JobImage::Left) => {
                // Without a note a successor would leave it stopped.
                if self.note_image(job, true) {
                    self.request_carry(job, CarryTask::Dump);
                    job.image = JobImage::Writing;
                }
            }
            (_, JobImage::Discarding | JobImage::Discarded) => {
                // Of before this run.
                job.image = JobImage::None;
                return job.wants_image();
            }
            (true, JobImage::Complete) => self.publish_image(job),
            (true, JobImage::Failed) => {
                self.publish(job, JobFact::Stuck, true);
            }
            (_, JobImage::Writing | JobImage::Releasing) => {}
            (false, JobImage::Complete | JobImage::Left) if job.keeps_image() => {}
            (false, JobImage::Complete | JobImage::Left) => self.release_image(job, now),
            (false, JobImage::Failed) => {
                self.publish(job, JobFact::Stuck, false);
                self.forget_image(job);
            }
        }
        true
    }

    /// The image is complete: the job may be taken elsewhere.
    fn publish_image(&mut self, job: &mut NodeJob) {
        if !job.published.contains(&JobFact::Imaged) && self.publish(job, JobFact::Imaged, true) {
            log::line(format_args!("{}: its image is complete", log::job(job.id)));
        }
    }

    /// The job is to go on here: the link first, as it is not to be taken elsewhere then.
    fn release_image(&mut self, job: &mut NodeJob, now: Now) {
        if job.image_due > now.monotonic || !self.publish(job, JobFact::Imaged, false) {
            return;
        }
        self.request_carry(job, CarryTask::Release);
        job.image = JobImage::Releasing;
    }

    /// A job of which nothing is here is to have no image.
    pub(super) fn discard_image(&mut self, job: &mut NodeJob, now: Now) {
        if job.image == JobImage::Discarded {
            self.publish(job, JobFact::Void, true);
        } else if self.images.is_none() {
            let text = "it is to be removed: start dfrsd with --images DIRECTORY";
            self.warnings.note(job.subject("image"), text.to_owned());
        } else if job.image != JobImage::Discarding && job.image_due <= now.monotonic {
            self.request_carry(job, CarryTask::Discard);
            job.image = JobImage::Discarding;
        }
    }

    fn inspect_when_due(&mut self, job: &mut NodeJob, now: Now) {
        if !job.carry {
            self.publish(job, JobFact::Carriable, false);
            return;
        }
        if !job.is_inspected && !job.has_failed_image && job.image_due <= now.monotonic {
            self.request_carry(job, CarryTask::Inspect);
            job.is_inspected = true;
        }
    }

    fn request_carry(&mut self, job: &NodeJob, task: CarryTask) {
        if let Some(worker) = &mut self.images {
            worker.request((job.id, task));
        }
    }

    /// Takes note of what was done.
    pub(super) fn note_carried(&mut self, now: Now) {
        let outcomes = self.images.as_mut().map(|worker| worker.finished());
        for outcome in outcomes.unwrap_or_default() {
            // Taken out, so that it and the rest can be changed side by side.
            if let Some(mut job) = self.jobs.remove(&outcome.0.0) {
                self.note_outcome(&mut job, outcome, now);
                self.jobs.insert(job.id, job);
            }
        }
    }

    fn note_outcome(&mut self, job: &mut NodeJob, ((_, task), result): CarryOutcome, now: Now) {
        job.changed = now.monotonic;
        match task {
            CarryTask::Inspect => {
                job.is_inspected = false;
                // Its script may only be about to begin: after a second, and then after twice as long each time.
                let pause = Duration::from_secs(1 << job.inspections.min(5));
                job.image_due = now.monotonic + INSPECTION_INTERVAL.min(pause);
                job.inspections = job.inspections.saturating_add(1);
                self.note_inspection(job, result);
            }
            CarryTask::Dump if job.image == JobImage::Writing => match result {
                Ok(()) => {
                    self.warnings.clear(&job.subject("image"));
                    job.image = JobImage::Complete;
                }
                Err(error) => {
                    job.image = match error.is_stopped {
                        true => JobImage::Left,
                        false => JobImage::Failed,
                    };
                    job.has_failed_image = true;
                    self.report_image(job, &error);
                    self.publish(job, JobFact::Carriable, false);
                }
            },
            CarryTask::Release if job.image == JobImage::Releasing => match result {
                Ok(()) => {
                    self.warnings.clear(&job.subject("image"));
                    let job_id = log::job(job.id);
                    log::line(format_args!(
                        "{job_id}: image removed, the job goes on here"
                    ));
                    match job.has_failed_image {
                        true => job.image = JobImage::Failed,
                        false => self.forget_image(job),
                    }
                }
                Err(error) => {
                    self.report_image(job, &error);
                    job.image = JobImage::Left;
                    job.image_due = now.monotonic + RETRY_INTERVAL;
                }
            },
            CarryTask::Discard if job.image == JobImage::Discarding => match result {
                Ok(()) => {
                    self.warnings.clear(&job.subject("image"));
                    log::line(format_args!("{}: image removed", log::job(job.id)));
                    job.image = JobImage::Discarded;
                    job.checked_at = None;
                }
                Err(error) => {
                    self.report_image(job, &error);
                    job.image = JobImage::None;
                    job.image_due = now.monotonic + RETRY_INTERVAL;
                }
            },
            // It was meant for a run that is over, waited for other images, and met the next one.
            CarryTask::Dump if job.directory.is_some() => {
                let is_stopped = result.map_or_else(|failure| failure.is_stopped, |()| true);
                if is_stopped {
                    self.note_image(job, true);
                    job.image = JobImage::Left;
                }
            }
            // Of a run of the job that is over.
            CarryTask::Dump | CarryTask::Release | CarryTask::Discard => {}
        }
    }

    fn report_image(&mut self, job: &NodeJob, failure: &CarryFailure) {
        let text = log::without_job(job.id, &failure.text);
        self.warnings.report(job.subject("image"), text);
    }

    fn note_inspection(&mut self, job: &mut NodeJob, result: Result<(), CarryFailure>) {
        let (can_be, why) = match result {
            Ok(()) => (true, String::new()),
            Err(failure) => (false, log::without_job(job.id, &failure.text).to_owned()),
        };
        // Of what its processes are while they are being made nothing is said.
        if why != job.obstacles && (can_be || job.inspections > 2) {
            let job_id = log::job(job.id);
            match can_be {
                true => log::line(format_args!("{job_id} can be carried")),
                false => log::line(format_args!("{job_id} cannot be carried: {why}")),
            }
            job.obstacles = why;
        }
        let may_be = job.carry && !job.has_failed_image;
        self.publish(job, JobFact::Carriable, can_be && may_be);
    }

    /// Notes for a successor whether there is an image of the job; whether that was possible.
    fn note_image(&mut self, job: &NodeJob, is_there: bool) -> bool {
        let note = self.facts.set_image_note(job.id, is_there);
        self.warnings.check(job.subject("note"), note).is_some()
    }

    /// There is no image of this run of the job.
    pub(super) fn forget_image(&mut self, job: &mut NodeJob) {
        if job.image != JobImage::None {
            self.note_image(job, false);
        }
        job.image = JobImage::None;
    }

    /// The job is no longer here.
    pub(super) fn end_carrying(&mut self, job: &mut NodeJob) {
        self.publish(job, JobFact::Carriable, false);
        self.publish(job, JobFact::Imaged, false);
        self.forget_image(job);
        (job.has_failed_image, job.is_inspected) = (false, false);
        job.obstacles.clear();
        job.image_due = Duration::ZERO;
        job.inspections = 0;
    }
}
