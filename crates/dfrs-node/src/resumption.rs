//! Whether a job that was frozen really goes on.
//!
//! Slurm stops a step's tasks by SIGTSTP and all of its processes by its freezer, and the resumption undoes
//! both. slurmctld sends that once, and takes the job as running from then on (`_suspend_job()`, `retry = 0`,
//! Slurm 22.05 to 26.05): where slurmd is away just then, nobody would ever wake the job. So after a while
//! dfrsd does.

use std::collections::BTreeSet;
use std::time::Duration;

/// Slurm's own word takes so long at most to come from slurmctld to `slurmstepd`, which lets two seconds pass
/// between its signals.
const SLURMS_WORD: Duration = Duration::from_secs(10);

/// The steps of a job that were held when it was to go on, and have not been seen to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resumption {
    waiting: BTreeSet<String>,
    /// Since when Slurm has the job running.
    since: Option<Duration>,
}

impl Resumption {
    /// Of these steps.
    pub fn of(steps: impl Iterator<Item = String>) -> Self {
        Self {
            waiting: steps.collect(),
            since: None,
        }
    }

    /// Whether all of them go on.
    pub fn is_complete(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Takes note of whether Slurm has the job running now, and tells whether it has so for longer than its
    /// own word takes.
    pub fn is_overdue(&mut self, runs: bool, now: Duration) -> bool {
        if !runs {
            self.since = None;
            return false;
        }
        let since = *self.since.get_or_insert(now);
        now.saturating_sub(since) >= SLURMS_WORD
    }

    /// Whether this step is one of them.
    pub fn waits_for(&self, step: &str) -> bool {
        self.waiting.contains(step)
    }

    /// Only these are still held.
    pub fn keep(&mut self, held: &BTreeSet<String>) {
        self.waiting.retain(|step| held.contains(step));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(count: u64) -> Duration {
        Duration::from_secs(count)
    }

    #[test]
    fn slurms_word_has_its_time_from_when_slurm_has_the_job_running() {
        let mut resumption = Resumption::of(["step_batch".to_owned()].into_iter());
        assert!(!resumption.is_overdue(false, seconds(0)));
        assert!(!resumption.is_overdue(false, seconds(100)), "not yet said");
        assert!(!resumption.is_overdue(true, seconds(101)));
        assert!(!resumption.is_overdue(true, seconds(110)));
        assert!(resumption.is_overdue(true, seconds(111)));
        assert!(
            !resumption.is_overdue(false, seconds(112)),
            "suspended again"
        );
        assert!(!resumption.is_overdue(true, seconds(113)));
    }

    #[test]
    fn steps_that_go_on_are_waited_for_no_longer() {
        let names = ["step_0", "step_batch"].map(str::to_owned);
        let mut resumption = Resumption::of(names.clone().into_iter());
        resumption.keep(&BTreeSet::from([names[1].clone(), "step_1".to_owned()]));
        assert!(!resumption.is_complete());
        assert!(resumption.waits_for("step_batch") && !resumption.waits_for("step_1"));
        resumption.keep(&BTreeSet::new());
        assert!(resumption.is_complete());
    }
}
