//! For how long a job is left alone after it has begun a step. Tasks on their way to the user's
//! program are not to be stopped; but a job that begins steps all the time shall not become exempt
//! from preemption by that.

use dfrs_core::{Span, Time};

use crate::slurm::records::{ObservedJob, ObservedState};

const SECOND: i64 = 1_000_000;

/// Beyond its allowance a job is left alone for so long after a step: launching mostly takes less.
const BRIEF: Span = Span::from_seconds(2);

/// For how many times `SettleTime` a job may be left alone at a stretch, and `BRIEF` beyond that.
const TIMES: i64 = 6;
const BRIEF_TIMES: i64 = 5;

/// Of the time that passes a job may be left alone for one part in so many.
const PARTS: i64 = 10;
const BRIEF_PARTS: i64 = 2;

/// The launches of one run of a job: its start, and the starts of its steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Launches {
    /// The newest, UNIX seconds; `None`: none was seen.
    newest_seconds: Option<i64>,
    /// For how long after it the job is left alone.
    alone: Span,
    usual: Allowance,
    brief: Allowance,
}

/// Time in which a job was left alone, of which ever more is forgotten.
#[derive(Clone, Debug, Default, PartialEq)]
struct Allowance {
    used: Span,
    /// All of it was used, and not half of that is forgotten: other jobs have a while in which to
    /// find the job unprotected.
    is_over: bool,
}

impl Allowance {
    /// Whether the job may be left alone for `more`, `elapsed` after the last call. If so, that is
    /// used.
    fn take(&mut self, more: Span, elapsed: Span, max_used: Span, parts: i64) -> bool {
        self.used = Span((self.used.0 - elapsed.0 / parts).max(0));
        self.is_over &= self.used.0 > max_used.0 / 2;
        self.is_over |= self.used.0 + more.0 > max_used.0;
        if !self.is_over {
            self.used += more;
        }
        !self.is_over
    }
}

impl Launches {
    /// Whether what Slurm shows of the job says nothing new.
    pub fn are_known(&self, job: &ObservedJob) -> bool {
        job.state != ObservedState::Running || self.newest_seconds == Some(job.last_launch_seconds)
    }

    /// Takes in what Slurm shows of the job, which is left alone for `settle_time` after a launch.
    pub fn see(&mut self, job: &ObservedJob, settle_time: Span) {
        if self.are_known(job) {
            return;
        }
        let newest = self.newest_seconds.replace(job.last_launch_seconds);
        let elapsed = newest.map_or(i64::MAX, |newest| {
            job.last_launch_seconds.saturating_sub(newest).max(0)
        });
        let elapsed = Span(elapsed.saturating_mul(SECOND));
        let brief = BRIEF.min(settle_time);
        // What was left of the last one's time is not used twice.
        let more = settle_time.min(elapsed);
        let max_used = Span(settle_time.0.saturating_mul(TIMES));
        if self.usual.take(more, elapsed, max_used, PARTS) {
            self.alone = settle_time;
            return;
        }
        let max_used = Span(brief.0.saturating_mul(BRIEF_TIMES));
        let may = self
            .brief
            .take(brief.min(elapsed), elapsed, max_used, BRIEF_PARTS);
        self.alone = if may { brief } else { Span::ZERO };
    }

    /// For how long after its newest launch the job is left alone. One that was not seen counts in
    /// full.
    pub fn alone(&self, job: &ObservedJob, settle_time: Span) -> Span {
        if self.are_known(job) && self.newest_seconds.is_some() {
            self.alone.min(settle_time)
        } else {
            settle_time
        }
    }

    /// When `job`, which runs, may be paused or moved as far as its last launch is concerned.
    pub fn settled_at(&self, job: &ObservedJob, settle_time: Span) -> Time {
        Time(job.last_launch_seconds.saturating_mul(SECOND) + self.alone(job, settle_time).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::job;

    const SETTLE_TIME: Span = Span::from_seconds(10);

    /// Which part of an hour a job is left alone that begins a step every so many seconds.
    fn left_alone(every: i64, settle_time: Span) -> f64 {
        let mut launches = Launches::default();
        let mut alone = 0;
        for at in (0..3600).step_by(usize::try_from(every).expect("is positive")) {
            let job = ObservedJob {
                state: ObservedState::Running,
                last_launch_seconds: 1000 + at,
                ..job(1, 1)
            };
            launches.see(&job, settle_time);
            let seen = launches.clone();
            launches.see(&job, settle_time);
            assert_eq!(launches, seen, "a launch counts once");
            let settled = launches.settled_at(&job, settle_time);
            alone += (settled.0 / SECOND - 1000 - at).min(every);
        }
        // Precise enough: an hour.
        alone as f64 / 3600.0
    }

    #[test]
    fn rare_steps_are_left_alone_for_all_of_settle_time() {
        let ten_minutes = left_alone(600, SETTLE_TIME);
        assert!((ten_minutes - 6.0 * 10.0 / 3600.0).abs() < 1e-9);
        let two_minutes = left_alone(120, SETTLE_TIME);
        assert!((two_minutes - 30.0 * 10.0 / 3600.0).abs() < 1e-9);
    }

    #[test]
    fn frequent_steps_do_not_protect_a_job_all_the_time() {
        for every in [1, 2, 3, 5, 8, 9, 10, 11, 15] {
            let part = left_alone(every, SETTLE_TIME);
            assert!(part < 0.65, "a step every {every} s: {part}");
        }
        // The one of the documents: a quarter for launches, and a little more.
        assert!(left_alone(8, SETTLE_TIME) < 0.36);
        assert!(left_alone(60, Span::from_seconds(60)) < 0.25);
    }

    #[test]
    fn launch_is_left_alone_briefly_when_the_allowance_is_used() {
        let mut launches = Launches::default();
        for at in (0..600).step_by(8) {
            let job = ObservedJob {
                state: ObservedState::Running,
                last_launch_seconds: 1000 + at,
                ..job(1, 1)
            };
            launches.see(&job, SETTLE_TIME);
            assert!(launches.alone(&job, SETTLE_TIME) >= BRIEF, "{at}");
        }
    }

    #[test]
    fn unseen_launch_counts_in_full_unless_settle_time_is_zero() {
        let running = ObservedJob {
            state: ObservedState::Running,
            last_launch_seconds: 1000,
            ..job(1, 1)
        };
        let mut launches = Launches::default();
        assert_eq!(launches.alone(&running, SETTLE_TIME), SETTLE_TIME);
        launches.see(&running, Span::ZERO);
        assert_eq!(launches.alone(&running, Span::ZERO), Span::ZERO);
    }
}
