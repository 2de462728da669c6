//! Time limits count virtual time: a job that gets half of its need may run twice as long. Slurm
//! counts wall-clock time, so the limit is moved by what the job lags behind, up to a bound: a job
//! that requests more CPU than it can use lags, too, and shall not get time without end for that.

use dfrs_core::{Span, Time};

use crate::job::ledger::LedgerRecord;
use crate::slurm::port::{JobTimeLimit, LimitExtension};
use crate::slurm::records::ObservedJob;

const SECOND: i64 = 1_000_000;
/// Slurm's limits are whole minutes.
const MINUTE: i64 = 60;
/// Slurm looks for jobs over their limit every 30 s; a limit that is nearer than this is moved
/// before the job lags by a whole minute, and the rest is taken off later.
const NEAR_SECONDS: i64 = 45;
/// A limit that is moved is at most so many times its partition's `MaxTime`: on average a quarter
/// of its request is enough for a job that uses all of it.
const MAX_TIMES: u32 = 4;

/// Seconds, a multiple of 60, by which the limit of `job` has to be moved now. That of a job which
/// Slurm preempts is not what ends it.
pub fn extension(record: &LedgerRecord, job: &ObservedJob, now: Time) -> Option<u32> {
    let lag = record.limit_debt.0 / SECOND;
    if job.end_seconds == 0 || job.grace_end_seconds > 0 || lag <= 0 {
        return None;
    }
    let whole = lag / MINUTE * MINUTE;
    let near = job.end_seconds - now.0 / SECOND <= NEAR_SECONDS;
    let seconds = if near {
        lag.div_euclid(MINUTE) * MINUTE + MINUTE
    } else {
        whole
    };
    // No end moves past what is known to be the latest one.
    let room = latest_end(job).map_or(i64::MAX, |latest| (latest - job.end_seconds).max(0));
    let below_max = i64::from(minutes_left(record, job)) * MINUTE;
    let seconds = seconds.min(room / MINUTE * MINUTE).min(below_max);
    u32::try_from(seconds).ok().filter(|seconds| *seconds > 0)
}

/// By how many minutes the limit of `job` may still be moved. One whose QOS, or an operator, lets
/// it run for longer than `MaxTime` is held to as many times what it was given.
fn minutes_left(record: &LedgerRecord, job: &ObservedJob) -> u32 {
    if job.partition_max_minutes == 0 {
        return u32::MAX;
    }
    let given = record.extended.map(|extended| extended.from.minutes);
    let given = given.unwrap_or(job.limit_minutes);
    let max_minutes = job
        .partition_max_minutes
        .max(given)
        .saturating_mul(MAX_TIMES);
    max_minutes.saturating_sub(job.limit_minutes)
}

/// UNIX seconds by which a job with nodes has to be over: its deadline, when its nodes are reserved
/// for others, or when its own reservation ends.
fn latest_end(job: &ObservedJob) -> Option<i64> {
    let ends = [
        job.free_until_seconds,
        job.deadline_seconds,
        job.reservation_end_seconds,
    ]
    .into_iter();
    ends.filter(|end| *end > 0).min()
}

/// The share of its need that `job`, which runs, needs from now on to get all of its time limit
/// before it has to be over; above 1 it cannot. `None`: it has no limit, or no time by which it has
/// to be over.
// Precise enough: times are far below 2^53 microseconds.
pub fn needed_share(record: &LedgerRecord, job: &ObservedJob, now: Time) -> Option<f64> {
    let latest = latest_end(job).filter(|_| job.end_seconds > 0)?;
    // What the limit lags behind is still to come.
    let wanted = job.end_seconds * SECOND - now.0 + record.limit_debt.0;
    let left = latest * SECOND - now.0;
    Some(wanted.max(0) as f64 / left.max(1) as f64)
}

/// The limit, which was `before`, was moved by so many seconds.
pub fn record_extension(record: &mut LedgerRecord, seconds: u32, before: JobTimeLimit) {
    record.limit_debt = Span(record.limit_debt.0 - i64::from(seconds) * SECOND);
    // A user who made the limit shorter has taken off all that was added until then.
    let known = record.extended;
    let known = known.filter(|extended| extended.from.minutes <= before.minutes);
    let (so_far, from) = known.map_or((0, before), |known| (known.minutes, known.from));
    record.extended = Some(LimitExtension {
        minutes: so_far.saturating_add(seconds / 60),
        from,
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::job;
    use crate::job::life::Life;

    fn limit(minutes: u32) -> JobTimeLimit {
        JobTimeLimit { minutes, set_by: 1 }
    }

    fn lagging(seconds: i64) -> LedgerRecord {
        let mut record = LedgerRecord::new(0, Time(0), Life::default());
        record.limit_debt = Span(seconds * SECOND);
        record
    }

    #[test]
    fn a_distant_limit_moves_by_whole_minutes() {
        let job = ObservedJob {
            end_seconds: 10_000,
            ..job(1, 1)
        };
        assert_eq!(extension(&lagging(59), &job, Time(0)), None);
        assert_eq!(extension(&lagging(61), &job, Time(0)), Some(60));
        assert_eq!(extension(&lagging(185), &job, Time(0)), Some(180));
    }

    #[test]
    fn no_limit_moves_into_a_reservation_or_past_a_deadline() {
        let job = ObservedJob {
            end_seconds: 10_000,
            free_until_seconds: 10_130,
            ..job(1, 1)
        };
        assert_eq!(extension(&lagging(185), &job, Time(0)), Some(120));
        let deadline = ObservedJob {
            deadline_seconds: 10_090,
            ..job.clone()
        };
        assert_eq!(extension(&lagging(185), &deadline, Time(0)), Some(60));
        let over = ObservedJob {
            free_until_seconds: 9_000,
            ..job
        };
        assert_eq!(extension(&lagging(185), &over, Time(0)), None);
    }

    #[test]
    fn no_limit_moves_beyond_four_times_max_time() {
        let job = ObservedJob {
            end_seconds: 1_000_000,
            limit_minutes: 10,
            partition_max_minutes: 20,
            ..job(1, 1)
        };
        let mut record = lagging(1000 * 60);
        assert_eq!(extension(&record, &job, Time(0)), Some(70 * 60));
        record_extension(&mut record, 70 * 60, limit(10));
        let moved = ObservedJob {
            limit_minutes: 80,
            ..job.clone()
        };
        assert_eq!(extension(&record, &moved, Time(0)), None);
        // An operator has given it more than that.
        let longer = ObservedJob {
            limit_minutes: 100,
            ..job.clone()
        };
        assert_eq!(extension(&record, &longer, Time(0)), None);
        // Its QOS lets it run for longer than its partition.
        let of_qos = ObservedJob {
            limit_minutes: 30,
            ..job.clone()
        };
        let first = extension(&lagging(1000 * 60), &of_qos, Time(0));
        assert_eq!(first, Some(90 * 60));
        let unbounded = ObservedJob {
            partition_max_minutes: 0,
            ..job
        };
        let all = extension(&lagging(1000 * 60), &unbounded, Time(0));
        assert_eq!(all, Some(1000 * 60));
    }

    #[test]
    fn needed_share_grows_when_a_job_lags() {
        let job = ObservedJob {
            end_seconds: 500,
            free_until_seconds: 1000,
            ..job(1, 1)
        };
        assert_eq!(needed_share(&lagging(0), &job, Time(0)), Some(0.5));
        assert_eq!(needed_share(&lagging(500), &job, Time(0)), Some(1.0));
        let free = ObservedJob {
            free_until_seconds: 0,
            ..job
        };
        assert_eq!(needed_share(&lagging(500), &free, Time(0)), None);
    }

    #[test]
    fn a_near_limit_moves_before_it_is_reached() {
        let job = ObservedJob {
            end_seconds: 60,
            ..job(1, 1)
        };
        assert_eq!(extension(&lagging(10), &job, Time(10 * SECOND)), None);
        assert_eq!(extension(&lagging(10), &job, Time(20 * SECOND)), Some(60));
        let mut record = lagging(10);
        record_extension(&mut record, 60, limit(1));
        assert_eq!(
            extension(&record, &job, Time(20 * SECOND)),
            None,
            "what was given too early is taken off"
        );
    }

    #[test]
    fn extension_counts_from_the_original_limit() {
        let mut record = lagging(1000);
        record_extension(&mut record, 60, limit(30));
        // An operator has given it ten minutes more.
        let set_by = JobTimeLimit {
            minutes: 41,
            set_by: 2,
        };
        record_extension(&mut record, 120, set_by);
        let from = limit(30);
        assert_eq!(record.extended, Some(LimitExtension { minutes: 3, from }));
        // Its user wants it to end sooner than he first said.
        record_extension(&mut record, 60, limit(20));
        let from = limit(20);
        assert_eq!(record.extended, Some(LimitExtension { minutes: 1, from }));
    }

    #[test]
    fn job_without_a_limit_or_a_lag_is_not_extended() {
        assert_eq!(extension(&lagging(1000), &job(1, 1), Time(0)), None);
        let job = ObservedJob {
            end_seconds: 60,
            ..job(1, 1)
        };
        assert_eq!(extension(&lagging(0), &job, Time(59 * SECOND)), None);
    }
}
