//! What a predecessor left: caps, frozen jobs, directories of jobs that have ended.

use super::*;
use crate::job::JobImage;

impl Reconciler {
    /// Takes over what a predecessor left: caps, frozen jobs, directories of jobs that have ended.
    /// False if that cannot be seen now: then it is tried again before anything else.
    pub(super) fn adopt_once(&mut self, present: &[JobDirectory], now: Now) -> bool {
        if self.adopted {
            return true;
        }
        let leftovers = self.warnings.check(LEFTOVERS, self.cgroups.leftovers());
        let frozen = self.warnings.check("notes", self.facts.frozen());
        let limits = self.warnings.check("notes", self.facts.limit_notes());
        let images = self.warnings.check("notes", self.facts.images());
        let (Some(leftovers), Some(frozen), Some(limits), Some(images)) =
            (leftovers, frozen, limits, images)
        else {
            return false;
        };
        self.adopted = true;
        self.leftovers = leftovers;
        for directory in present {
            // A cap that cannot be read may be one.
            let capped = !matches!(self.cgroups.cap(directory), Ok(None));
            let limit = limits.get(&directory.id).copied();
            let has_image = images.contains(&directory.id);
            if capped || limit.is_some() || has_image || frozen.contains(&directory.id) {
                let mut job = NodeJob::new(directory.id, now.monotonic);
                job.adopted = true;
                job.capped = capped;
                job.limit = limit;
                if has_image {
                    job.image = JobImage::Left;
                }
                job.directory = Some(directory.clone());
                if frozen.contains(&directory.id) {
                    self.adopt_holds(&mut job, directory);
                }
                self.jobs.insert(job.id, job);
            }
        }
        let gone = |id: &u32| present.iter().all(|directory| directory.id != *id);
        for id in frozen.into_iter().filter(gone) {
            self.warnings
                .check(format!("frozen.{id}"), self.facts.set_frozen(id, false));
        }
        for id in images.into_iter().filter(gone) {
            self.warnings
                .check(format!("image.{id}"), self.facts.set_image_note(id, false));
        }
        for id in limits.into_keys().filter(gone) {
            self.warnings
                .check(format!("limit.{id}"), self.facts.set_limit_note(id, None));
        }
        true
    }

    /// Before any orders arrive nothing is changed, but a job that Slurm or a user has thawed needs
    /// its memory.
    pub(super) fn give_back_to_thawed(&mut self) {
        let mut jobs = std::mem::take(&mut self.jobs);
        for job in jobs.values_mut().filter(|job| job.limit.is_some()) {
            let Some(directory) = job.directory.clone() else {
                continue;
            };
            let steps = self.cgroups.steps(&directory).unwrap_or_default();
            let is_thawed = |step| matches!(self.cgroups.freezer(step), Ok(Freezer::Thawed));
            if !steps.is_empty() && steps.iter().all(is_thawed) {
                self.give_limit_back(job);
            }
        }
        self.jobs = jobs;
    }

    /// Takes over the freezing of a job that a predecessor noted; the note goes if the job was
    /// thawed since, lest the next freezing, by Slurm, be taken for ours.
    fn adopt_holds(&mut self, job: &mut NodeJob, directory: &JobDirectory) {
        let steps = self.cgroups.steps(directory);
        let Some(steps) = self.warnings.check(job.subject("steps"), steps) else {
            return;
        };
        // A step that cannot be read may be frozen, and nothing else would thaw it.
        let frozen = |step: &_| !matches!(self.cgroups.freezer(step), Ok(Freezer::Thawed));
        job.frozen_steps = steps
            .into_iter()
            .filter(frozen)
            .map(|step| (step.name, FrozenBy::Dfrs))
            .collect();
        job.frozen = job.has_frozen_step();
        if !job.frozen {
            self.warnings
                .check(job.subject("note"), self.facts.set_frozen(job.id, false));
        }
    }
}
