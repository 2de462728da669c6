//! Time limits that are moved, as `c_shim/requeue.c` moves them.

use crate::slurm::port::{JobTimeLimit, LimitExtension};
use crate::slurm::records::ObservedJob;

impl ObservedJob {
    /// `dfrs_job_extend_time()`. Returns what the limit was before.
    pub(super) fn extend_limit(&mut self, seconds: u32) -> JobTimeLimit {
        let before = JobTimeLimit {
            minutes: self.limit_minutes,
            set_by: 0,
        };
        self.end_seconds += i64::from(seconds);
        self.limit_minutes += seconds / 60;
        before
    }

    /// `dfrs_job_take_back_time()`.
    pub(super) fn take_back_limit(&mut self, extended: &LimitExtension) {
        let least = self.limit_minutes.min(extended.from.minutes.max(1));
        self.limit_minutes -= extended.minutes.min(self.limit_minutes - least);
    }
}
