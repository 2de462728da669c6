//! Progress of one job, in whole numbers: however often it is looked at, nothing drifts.

use dfrs_core::{Span, Time, Yield};

/// Binary digits of a rate. A yield is kept as a whole number of 2^-52, rounded down, so that what is
/// written in the journal as a real number is exactly what was integrated.
const DIGITS: u32 = 52;

/// Everything that a job needs, as a rate.
const WHOLE: f64 = (1u64 << DIGITS) as f64;

/// A yield as a whole number of 2^-52.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rate(u64);

impl Rate {
    /// The yield, rounded down.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 0 to 2^52
    #[inline]
    pub fn of(share: Yield) -> Self {
        Self((share.0.clamp(0.0, 1.0) * WHOLE).floor() as u64)
    }

    /// As a real number, exactly.
    #[allow(clippy::cast_precision_loss)] // at most 2^52
    pub fn value(self) -> f64 {
        self.0 as f64 / WHOLE
    }
}

/// How far a job is. Work is counted in microseconds of dedicated run time, times 2^52.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    required: u128,
    /// Done until `since`.
    done: u128,
    /// What it could have done until `since` in the time in which it stalled.
    stalled: u128,
    since: Time,
    stalled_until: Time,
    runs: bool,
    has_run: bool,
    rate: Rate,
    /// When it has done everything if nothing changes.
    finish: Option<Time>,
}

impl Progress {
    /// Nothing is done of a job of this dedicated run time.
    pub fn new(runtime: Span) -> Self {
        Self {
            required: u128::from(runtime.0.max(0).unsigned_abs()) << DIGITS,
            done: 0,
            stalled: 0,
            since: Time::default(),
            stalled_until: Time::default(),
            runs: false,
            has_run: false,
            rate: Rate::default(),
            finish: None,
        }
    }

    /// When it completes if nothing changes: the first microsecond at which all its work is done.
    /// None while it does not run, or has no share.
    #[inline]
    pub fn finish(&self) -> Option<Time> {
        self.finish
    }

    /// Its last share.
    #[inline]
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Dedicated run time done until `now`, rounded down to a microsecond: its virtual time.
    pub fn virtual_time(&mut self, now: Time) -> Span {
        self.advance(now);
        let whole = self.done.min(self.required) >> DIGITS;
        Span(i64::try_from(whole).unwrap_or(i64::MAX))
    }

    /// What it could have done until `now` with the CPU that it held while it stalled, as dedicated run
    /// time, rounded down to a microsecond.
    pub fn stalled(&mut self, now: Time) -> Span {
        self.advance(now);
        Span(i64::try_from(self.stalled >> DIGITS).unwrap_or(i64::MAX))
    }

    /// It holds a place from `now` on, and makes no progress until `now + stall`.
    pub fn place(&mut self, now: Time, stall: Span) {
        self.advance(now);
        self.runs = true;
        self.has_run = true;
        self.stalled_until = now + stall;
        self.predict();
    }

    /// It gives up its place.
    pub fn pause(&mut self, now: Time) {
        self.advance(now);
        self.runs = false;
        self.predict();
    }

    /// All that it has done is lost.
    pub fn lose(&mut self) {
        self.done = 0;
        self.predict();
    }

    /// Whether it ever had a place.
    pub fn has_run(&self) -> bool {
        self.has_run
    }

    /// Its share from `now` on.
    pub fn set_rate(&mut self, now: Time, rate: Rate) {
        self.advance(now);
        self.rate = rate;
        self.predict();
    }

    fn advance(&mut self, now: Time) {
        if self.runs {
            let held = |from: Time, to: Time| {
                u128::from((to - from).0.max(0).unsigned_abs()) * u128::from(self.rate.0)
            };
            self.stalled += held(self.since, now.min(self.stalled_until));
            self.done += held(self.since.max(self.stalled_until), now);
        }
        self.since = now;
    }

    fn predict(&mut self) {
        let left = self.required.saturating_sub(self.done);
        self.finish = match (self.runs, left, self.rate.0) {
            (false, ..) => None,
            (true, 0, _) => Some(self.since),
            (true, _, 0) => None,
            (true, left, rate) => {
                let time = i64::try_from(left.div_ceil(u128::from(rate))).unwrap_or(i64::MAX);
                Some(self.since.max(self.stalled_until) + Span(time))
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(count: i64) -> Time {
        Time::from_seconds(count)
    }

    #[test]
    fn a_job_ends_after_its_work_and_its_stalls() {
        let mut job = Progress::new(Span::from_seconds(100));
        assert_eq!(job.finish(), None);
        job.place(seconds(10), Span::ZERO);
        job.set_rate(seconds(10), Rate::of(Yield(0.5)));
        assert_eq!(job.finish(), Some(seconds(210)));
        job.place(seconds(110), Span::from_seconds(300)); // half is done
        assert_eq!(job.finish(), Some(seconds(110 + 300 + 100)));
        assert_eq!(job.stalled(seconds(310)), Span::from_seconds(100));
        job.pause(seconds(460)); // another quarter
        assert_eq!(job.stalled(seconds(900)), Span::from_seconds(150));
        assert_eq!(job.finish(), None);
        assert_eq!(job.virtual_time(seconds(1000)), Span::from_seconds(75));
        job.set_rate(seconds(1000), Rate::of(Yield::ONE));
        job.place(seconds(1000), Span::ZERO);
        assert_eq!(job.finish(), Some(seconds(1025)));
        assert_eq!(job.virtual_time(seconds(1025)), Span::from_seconds(100));
    }

    #[test]
    fn a_year_of_looking_does_not_drift() {
        let year = 365 * 86_400;
        let rate = Rate::of(Yield(1.0 / 3.0));
        let (mut looked_at, mut left_alone) = (
            Progress::new(Span::from_seconds(year)),
            Progress::new(Span::from_seconds(year)),
        );
        for job in [&mut looked_at, &mut left_alone] {
            job.place(seconds(0), Span::ZERO);
            job.set_rate(seconds(0), rate);
        }
        for step in 1..=500_000 {
            looked_at.set_rate(Time(step * 63_071_999), rate);
        }
        let end = Time(500_000 * 63_071_999);
        assert_eq!(looked_at.virtual_time(end), left_alone.virtual_time(end));
        assert_eq!(looked_at.finish(), left_alone.finish());
    }

    #[test]
    fn no_work_is_done_at_once_and_no_share_never() {
        let mut empty = Progress::new(Span::ZERO);
        empty.place(seconds(5), Span::ZERO);
        assert_eq!(empty.finish(), Some(seconds(5)));
        let mut starved = Progress::new(Span(1));
        starved.place(seconds(5), Span::ZERO);
        assert_eq!(starved.finish(), None);
        starved.set_rate(seconds(5), Rate::of(Yield(1e-15)));
        assert!(starved.finish().is_some_and(|end| end > seconds(1_000)));
    }
}
