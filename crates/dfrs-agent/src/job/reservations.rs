//! Reservations of others on nodes where jobs are: jobs that can leave do so before, and what is
//! parked there does not come back before they are over.

use dfrs_core::{Span, Time};
use dfrs_proto::conf::Config;

use crate::slurm::records::ObservedJob;

const SECOND: i64 = 1_000_000;
/// Beside the time that it takes to park a job, or to write a checkpoint: more than a step may wait
/// for memory, so that what began to come back before has come back.
const MARGIN: Span = Span(150 * SECOND);

/// When the job's nodes count as reserved for others: so long before that what is there can leave.
/// `None`: never, as far as it is known.
pub fn reserved_at(job: &ObservedJob, config: &Config) -> Option<Time> {
    let way_out = config.park_timeout.0.max(config.checkpoint_wait.0);
    let warned = i64::from(job.warn_seconds) * SECOND;
    let before = MARGIN.0 + way_out.max(warned);
    (job.free_until_seconds > 0)
        .then(|| Time(job.free_until_seconds.saturating_mul(SECOND) - before))
}

/// Whether they do now.
pub fn is_reserved(job: &ObservedJob, config: &Config, now: Time) -> bool {
    reserved_at(job, config).is_some_and(|at| at <= now)
}

/// Whether a running job is to leave now: its nodes count as reserved, the reservation has not
/// begun, and its limit ends later, or never.
pub fn must_vacate(job: &ObservedJob, config: &Config, now: Time) -> bool {
    let begins_later = job.free_until_seconds.saturating_mul(SECOND) > now.0;
    let ends_later = job.end_seconds == 0 || job.end_seconds > job.free_until_seconds;
    begins_later && ends_later && is_reserved(job, config, now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{config, job};

    #[test]
    fn job_that_would_run_into_a_reservation_leaves_before_it() {
        let running = ObservedJob {
            free_until_seconds: 10_000,
            end_seconds: 12_000,
            ..job(1, 1)
        };
        let leaves =
            |job: &ObservedJob, second: i64| must_vacate(job, &config(), Time(second * SECOND));
        assert!(!leaves(&running, 9_000));
        assert!(leaves(&running, 9_900));
        assert!(!leaves(&running, 10_000), "it has begun");
        let ends = ObservedJob {
            end_seconds: 9_950,
            ..running.clone()
        };
        assert!(!leaves(&ends, 9_900));
        assert!(is_reserved(&ends, &config(), Time(20_000 * SECOND)));
        let free = ObservedJob {
            free_until_seconds: 0,
            ..running
        };
        assert!(!is_reserved(&free, &config(), Time(i64::MAX)));
    }
}
