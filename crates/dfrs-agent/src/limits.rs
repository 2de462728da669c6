//! Time limits count virtual time: a job that gets half of its need may run twice as long. Slurm
//! counts wall-clock time, so the limit is moved by what the job lags behind.

use dfrs_core::{Span, Time};

use crate::ledger::Record;
use crate::observation::ObservedJob;

const SECOND: i64 = 1_000_000;
/// Slurm's limits are whole minutes.
const MINUTE: i64 = 60;
/// Slurm looks for jobs over their limit every 30 s; a limit that is nearer than this is moved
/// before the job lags by a whole minute, and the rest is taken off later.
const NEAR: i64 = 45;

/// Seconds, a multiple of 60, by which the limit of `job` has to be moved now.
#[must_use]
pub fn extension(record: &Record, job: &ObservedJob, now: Time) -> Option<u32> {
    let lag = record.limit_debt.0 / SECOND;
    if job.end_time == 0 || lag <= 0 {
        return None;
    }
    let whole = lag / MINUTE * MINUTE;
    let near = job.end_time - now.0 / SECOND <= NEAR;
    let seconds = if near {
        lag.div_euclid(MINUTE) * MINUTE + MINUTE
    } else {
        whole
    };
    u32::try_from(seconds).ok().filter(|seconds| *seconds > 0)
}

/// The limit was moved by so many seconds.
pub fn extended(record: &mut Record, seconds: u32) {
    record.limit_debt = Span(record.limit_debt.0 - i64::from(seconds) * SECOND);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::life::Life;
    use crate::model::job;

    fn lagging(seconds: i64) -> Record {
        let mut record = Record::new(0, Time(0), Life::default());
        record.limit_debt = Span(seconds * SECOND);
        record
    }

    #[test]
    fn a_distant_limit_moves_by_whole_minutes() {
        let job = ObservedJob {
            end_time: 10_000,
            ..job(1, 1)
        };
        assert_eq!(extension(&lagging(59), &job, Time(0)), None);
        assert_eq!(extension(&lagging(61), &job, Time(0)), Some(60));
        assert_eq!(extension(&lagging(185), &job, Time(0)), Some(180));
    }

    #[test]
    fn a_near_limit_moves_before_it_is_reached() {
        let job = ObservedJob {
            end_time: 60,
            ..job(1, 1)
        };
        assert_eq!(extension(&lagging(10), &job, Time(10 * SECOND)), None);
        assert_eq!(extension(&lagging(10), &job, Time(20 * SECOND)), Some(60));
        let mut record = lagging(10);
        extended(&mut record, 60);
        assert_eq!(
            extension(&record, &job, Time(20 * SECOND)),
            None,
            "what was given too early is taken off"
        );
    }

    #[test]
    fn a_job_without_a_limit_or_without_a_lag_is_left_alone() {
        assert_eq!(extension(&lagging(1000), &job(1, 1), Time(0)), None);
        let job = ObservedJob {
            end_time: 60,
            ..job(1, 1)
        };
        assert_eq!(extension(&lagging(0), &job, Time(59 * SECOND)), None);
    }
}
