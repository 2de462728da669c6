//! A job's cap, and whether its memory may go to swap.

use super::*;

impl Reconciler {
    /// Sets, changes or lifts the cap, as far as it differs from the kernel's; returns the kernel's.
    pub(super) fn apply_cap(
        &mut self,
        job: &mut NodeJob,
        directory: &JobDirectory,
        now: Now,
    ) -> Option<Quota> {
        let wanted = job.share.map(|share| self.quota(job, share));
        if wanted.is_none() && !job.capped {
            return None;
        }
        let subject = job.subject("cap");
        let actual = self.warnings.check(&subject, self.cgroups.cap(directory))?;
        // What cannot be seen, the weight, may be ours even where the cap is not (any more).
        if actual != wanted || wanted.is_none() {
            job.capped = true;
            self.warnings
                .check(&subject, self.cgroups.set_cap(directory, wanted))?;
        }
        job.capped = wanted.is_some();
        if job.capped {
            let moved = self.cgroups.gather(directory);
            if self
                .warnings
                .check(job.subject("processes"), moved)
                .is_some_and(|moved| moved > 0)
            {
                // Its processes may have started others in between.
                job.changed = now.monotonic;
            }
        }
        wanted
    }

    /// A job that is frozen needs next to nothing, whatever its share: what of it is not frozen yet, as a step that comes
    /// late, shall do little.
    fn quota(&self, job: &NodeJob, share: Share) -> Quota {
        if job.frozen && job.has_frozen_step() {
            let max = Share::clamped(parking::PARKED_CORES / self.capacity_cores);
            return Quota::of(if share < max { share } else { max }, self.capacity_cores);
        }
        match job.spans_nodes {
            true => Quota::in_short_periods(share, self.capacity_cores),
            false => Quota::of(share, self.capacity_cores),
        }
    }

    /// A running job's memory beyond what it requested is its own problem; a parked one's goes to
    /// swap. What orders no longer name is as Slurm made it. Silence changes nothing for running
    /// jobs: what a job has put into swap meanwhile would not come back when orders arrive again.
    pub(super) fn apply_swap(&mut self, job: &mut NodeJob, directory: &JobDirectory) {
        if job.frozen || !job.abandoned {
            let allowed = job.frozen || !job.is_wanted() || self.settings.jobs_may_swap;
            self.set_swap_allowed(job, directory, allowed);
        }
    }

    pub(super) fn set_swap_allowed(
        &mut self,
        job: &mut NodeJob,
        directory: &JobDirectory,
        allowed: bool,
    ) {
        let ours = job.is_wanted() || job.adopted || job.swap_allowed.is_some();
        if !ours || job.swap_allowed == Some(allowed) {
            return;
        }
        let result = self.cgroups.set_swap_allowed(directory, allowed);
        if self.warnings.check(job.subject("swap"), result) == Some(true) {
            job.swap_allowed = Some(allowed);
        }
    }
}
