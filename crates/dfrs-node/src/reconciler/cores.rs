//! The cores that a job may run on.

use super::*;

/// How often it is looked at what each job of others is bound to: some files for each.
const HELD_INTERVAL: Duration = Duration::from_millis(250);

/// Cores that jobs which DFRS does not schedule are bound to.
#[derive(Debug, Default)]
pub(super) struct HeldCores {
    cores: CoreSet,
    /// These jobs, by id.
    jobs: Vec<u32>,
    checked_at: Option<Duration>,
}

impl Reconciler {
    /// Finds what jobs hold that DFRS does not schedule, where Slurm has bound them to their cores. Jobs of DFRS leave
    /// these cores, or come back to them, in this very tick. A job that orders named once is DFRS's, as is one that has
    /// a cap from a predecessor. O(jobs), and nothing while no job is wanted.
    pub(super) fn find_held_cores(&mut self, present: &[JobDirectory], now: Now) {
        let is_needed = self.jobs.values().any(NodeJob::is_wanted);
        let is_of_others =
            |directory: &&JobDirectory| is_needed && !self.jobs.contains_key(&directory.id);
        let others: Vec<&JobDirectory> = present.iter().filter(is_of_others).collect();
        let ids: Vec<u32> = others.iter().map(|directory| directory.id).collect();
        let known = &self.held_cores;
        let is_fresh = |seen: Duration| now.monotonic.saturating_sub(seen) < HELD_INTERVAL;
        if ids == known.jobs && (ids.is_empty() || known.checked_at.is_some_and(is_fresh)) {
            return;
        }
        let mut cores = CoreSet::default();
        let mut result = Ok(());
        for directory in others {
            match self.cgroups.bound_cores(directory) {
                Ok(bound) => cores.add(&bound),
                Err(error) => result = Err(error),
            }
        }
        self.warnings.check("cores of other jobs", result);
        if cores != known.cores {
            for job in self.jobs.values_mut().filter(|job| job.is_here()) {
                job.checked_at = None;
            }
        }
        self.held_cores = HeldCores {
            cores,
            jobs: ids,
            checked_at: Some(now.monotonic),
        };
    }

    /// A cap is time on any core: a job of DFRS is not held to the cores that Slurm has bound it
    /// to, which others of the node may be bound to as well, but has all that jobs outside of DFRS
    /// leave. A job that is no longer wanted keeps what it has.
    pub(super) fn unbind(&mut self, job: &mut NodeJob, directory: &JobDirectory) {
        if !job.is_wanted() {
            return;
        }
        let result = self.cgroups.unbind(directory, &self.held_cores.cores);
        let changed = self.warnings.check(job.subject("cores"), result);
        if changed.is_some_and(|changed| changed > 0) && !job.unbound {
            log::line(format_args!(
                "{}: released from the cores of ConstrainCores; may use all but those of jobs of other partitions",
                log::job(job.id)
            ));
            job.unbound = true;
        }
    }
}
