//! Freezing and thawing the steps of a job.

use super::*;
use crate::job::REFREEZE_DELAY;

impl Reconciler {
    /// Freezes what is not; true when all user processes of the job are frozen. In silence nothing more is frozen,
    /// but a step that comes to a job that is: Slurm counts that job suspended, and its memory as others'.
    pub(super) fn freeze(&mut self, job: &mut NodeJob, directory: &JobDirectory, now: Now) -> bool {
        let result = self.freeze_steps(job, directory, now);
        let frozen = self.warnings.check(job.subject("freezing"), result);
        let result = self.freeze_outside(job, directory, now);
        let outside = self.warnings.check(job.subject("processes"), result);
        frozen == Some(true) && outside == Some(0)
    }

    /// Brings processes of the user that are in no step into one, unless they end by themselves; how many are left.
    fn freeze_outside(
        &mut self,
        job: &mut NodeJob,
        directory: &JobDirectory,
        now: Now,
    ) -> Result<usize, CgroupError> {
        let is_over = |since| now.monotonic.saturating_sub(since) >= parking::EPILOG_TIMEOUT;
        // Where memory was given to others there is no time to wait.
        let bring = job.has_frozen_step()
            && (job.parking == Parking::Parked || job.outside_since.is_some_and(is_over));
        let left = self.cgroups.enclose(directory, bring)?;
        job.outside_since = match left {
            0 => None,
            _ => job.outside_since.or(Some(now.monotonic)),
        };
        Ok(left)
    }

    fn freeze_steps(
        &mut self,
        job: &mut NodeJob,
        directory: &JobDirectory,
        now: Now,
    ) -> Result<bool, CgroupError> {
        let steps = self.cgroups.steps(directory)?;
        let mut all_frozen = !steps.is_empty();
        for step in &steps {
            let state = self.cgroups.freezer(step)?;
            all_frozen &= state == Freezer::Frozen;
            let known = job.frozen_steps.get(&step.name).copied();
            let hold = match FrozenBy::next(known, state, now.monotonic) {
                FreezeStep::Note(hold) => hold,
                FreezeStep::Freeze if job.abandoned && !job.has_frozen_step() => continue,
                FreezeStep::Freeze => {
                    if job.abandoned {
                        job.late.insert(step.name.clone());
                    }
                    // The note first: a crash in between must not leave a job frozen for ever.
                    self.warnings
                        .check(job.subject("note"), self.facts.set_frozen(job.id, true));
                    self.cgroups.set_frozen(step, true)?;
                    FrozenBy::Dfrs
                }
            };
            if hold.is_released() && !known.is_some_and(FrozenBy::is_released) {
                log::line(format_args!(
                    "{} {}: thawed by another process, not frozen again for {} s",
                    log::job(job.id),
                    step.name,
                    REFREEZE_DELAY.as_secs()
                ));
            }
            job.frozen_steps.insert(step.name.clone(), hold);
        }
        self.thaw_late_steps(job, &steps)?;
        Ok(all_frozen)
    }

    /// Slurm does not know that a step was frozen that came in silence, and would not thaw it: it is thawed when all
    /// others are.
    fn thaw_late_steps(
        &self,
        job: &mut NodeJob,
        steps: &[StepDirectory],
    ) -> Result<(), CgroupError> {
        let is_late = |name: &str| job.late.contains(name);
        let mut others = job.frozen_steps.iter().filter(|(name, _)| !is_late(name));
        if job.late.is_empty() || others.any(|(_, hold)| !hold.is_released()) {
            return Ok(());
        }
        for step in steps.iter().filter(|step| is_late(&step.name)) {
            self.cgroups.set_frozen(step, false)?;
        }
        for name in std::mem::take(&mut job.late) {
            job.frozen_steps.remove(&name);
        }
        Ok(())
    }

    /// Thaws what we froze, and forgets how the steps came to be frozen.
    pub(super) fn thaw(&mut self, job: &mut NodeJob, directory: &JobDirectory) {
        if job.frozen_steps.is_empty() {
            return;
        }
        let result = self.thaw_steps(job, directory);
        if self
            .warnings
            .check(job.subject("thawing"), result)
            .is_some()
        {
            job.frozen_steps.clear();
            job.late.clear();
            job.outside_since = None;
            self.warnings
                .check(job.subject("note"), self.facts.set_frozen(job.id, false));
        }
    }

    fn thaw_steps(&self, job: &NodeJob, directory: &JobDirectory) -> Result<(), CgroupError> {
        for step in self.cgroups.steps(directory)? {
            let ours = job.frozen_steps.get(&step.name) == Some(&FrozenBy::Dfrs);
            if ours && self.cgroups.freezer(&step)? != Freezer::Thawed {
                self.cgroups.set_frozen(&step, false)?;
            }
        }
        Ok(())
    }
}
