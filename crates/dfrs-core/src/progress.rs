//! How far a job is: its share, integrated over time. Simulations, live jobs and journals use this
//! one count, in whole numbers: however often it is read, nothing drifts.

use crate::units::{Span, Time, Yield};

/// Binary digits of a rate.
const DIGITS: u32 = 52;

/// Everything that a job needs, as a rate.
const WHOLE: f64 = (1u64 << DIGITS) as f64;

/// A yield as it is integrated: a whole number of 2^-52, rounded down, so that what a journal says
/// as a real number is exactly what was integrated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rate(u64);

impl Rate {
    /// Nothing is done.
    pub const ZERO: Self = Self(0);

    /// The yield, at least 0 and at most 1, rounded down.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "0 to 2^52"
    )]
    pub fn of(share: Yield) -> Self {
        Self((share.0.clamp(0.0, 1.0) * WHOLE).floor() as u64)
    }

    /// As a yield, exactly.
    // Precise enough: at most 2^52.
    pub fn share(self) -> Yield {
        Yield(self.0 as f64 / WHOLE)
    }
}

/// How far a job is. Work is counted in microseconds of dedicated run time, times 2^52; it is
/// rounded down to a microsecond only when it is read.
///
/// ```
/// use dfrs_core::{Progress, Rate, Span, Time, Yield};
///
/// let at = Time::from_seconds;
/// let mut job = Progress::new(at(0), Some(Span::from_seconds(100)));
/// job.place(at(10), Span::ZERO);
/// job.set_rate(at(10), Rate::of(Yield(0.5)));
/// assert_eq!(job.finish(), Some(at(210)));
/// job.place(at(110), Span::from_seconds(30)); // moves, which takes 30 s
/// assert_eq!(job.finish(), Some(at(240)));
/// assert_eq!(job.virtual_time(at(150)), Span::from_seconds(55));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What there is to do, if that is known.
    work: Option<u128>,
    /// Done until `since`.
    done: u128,
    /// What it could have done until `since` in the time in which it stalled.
    stalled: u128,
    since: Time,
    stalled_until: Time,
    has_place: bool,
    had_place: bool,
    rate: Rate,
    /// When it has done everything if nothing changes.
    finish: Option<Time>,
}

impl Progress {
    /// A job of this dedicated run time, which may be unknown, with nothing done by `now`. It has
    /// no place, and no rate.
    pub fn new(now: Time, work: Option<Span>) -> Self {
        Self {
            work: work.map(to_work),
            done: 0,
            stalled: 0,
            since: now,
            stalled_until: now,
            has_place: false,
            had_place: false,
            rate: Rate::ZERO,
            finish: None,
        }
    }

    /// Sets how much is done by now.
    #[must_use]
    pub fn with_virtual_time(mut self, done: Span) -> Self {
        self.done = to_work(done);
        self.predict();
        self
    }

    /// When the job completes if nothing changes: the first microsecond at which all its work is
    /// done. `None` while it has no place or a rate of 0, and if its amount of work is unknown.
    /// O(1).
    #[inline]
    pub fn finish(&self) -> Option<Time> {
        self.finish
    }

    /// The rate that was set last. It is kept while the job has no place.
    #[inline]
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Whether it ever had a place.
    pub fn had_place(&self) -> bool {
        self.had_place
    }

    /// The time up to which it is counted.
    pub fn since(&self) -> Time {
        self.since
    }

    /// Dedicated run time done until `now`: its virtual time (TPDS, Section 4.1).
    pub fn virtual_time(&mut self, now: Time) -> Span {
        self.advance(now);
        self.counted()
    }

    /// Dedicated run time done until [`Self::since`].
    pub fn counted(&self) -> Span {
        to_span(self.done)
    }

    /// What it could have done until `now` with the CPU that it held while it stalled, as dedicated
    /// run time.
    pub fn stalled(&mut self, now: Time) -> Span {
        self.advance(now);
        to_span(self.stalled)
    }

    /// The job holds a place from `now` on, and makes no progress until `now + stall`.
    pub fn place(&mut self, now: Time, stall: Span) {
        self.advance(now);
        self.has_place = true;
        self.had_place = true;
        self.stalled_until = now + stall;
        self.predict();
    }

    /// The job gives up its place.
    pub fn pause(&mut self, now: Time) {
        self.advance(now);
        self.has_place = false;
        self.predict();
    }

    /// All that it has done is lost.
    pub fn lose(&mut self) {
        self.done = 0;
        self.predict();
    }

    /// Sets how much there is to do in all, counted from the job's beginning; `None` if unknown.
    pub fn set_work(&mut self, work: Option<Span>) {
        self.work = work.map(to_work);
        self.predict();
    }

    /// Sets the rate from `now` on.
    pub fn set_rate(&mut self, now: Time, rate: Rate) {
        self.advance(now);
        self.rate = rate;
        self.predict();
    }

    /// Counts until `now`. Where a clock was set back nothing is gained, and counted on from there.
    pub fn advance(&mut self, now: Time) {
        if self.has_place {
            let held = |from: Time, to: Time| {
                u128::from((to - from).0.max(0).unsigned_abs()) * u128::from(self.rate.0)
            };
            let stalled = held(self.since, now.min(self.stalled_until));
            let done = held(self.since.max(self.stalled_until), now);
            self.stalled = self.stalled.saturating_add(stalled);
            self.done = self.done.saturating_add(done);
        }
        self.since = now;
    }

    fn predict(&mut self) {
        let left = self.work.map(|work| work.saturating_sub(self.done));
        self.finish = match (self.has_place, left, self.rate.0) {
            (false, ..) | (_, None, _) => None,
            (true, Some(0), _) => Some(self.since),
            (true, _, 0) => None,
            (true, Some(left), rate) => {
                let time = i64::try_from(left.div_ceil(u128::from(rate))).unwrap_or(i64::MAX);
                Some(self.since.max(self.stalled_until) + Span(time))
            }
        };
    }
}

fn to_work(span: Span) -> u128 {
    u128::from(span.0.max(0).unsigned_abs()) << DIGITS
}

/// The one rounding: down to a microsecond.
fn to_span(work: u128) -> Span {
    Span(i64::try_from(work >> DIGITS).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seconds(count: i64) -> Time {
        Time::from_seconds(count)
    }

    fn of(work: Span) -> Progress {
        Progress::new(Time::ZERO, Some(work))
    }

    #[test]
    fn a_job_ends_after_its_work_and_its_stalls() {
        let mut job = of(Span::from_seconds(100));
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
        job.lose();
        assert_eq!(job.counted(), Span::ZERO);
        assert_eq!(job.finish(), Some(seconds(1125)));
    }

    #[test]
    fn progress_does_not_drift_over_many_updates() {
        let year = Span::from_seconds(365 * 86_400);
        let rate = Rate::of(Yield(1.0 / 3.0));
        let (mut looked_at, mut left_alone) = (of(year), of(year));
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
    fn work_may_grow_while_it_is_done() {
        let mut job = of(Span::from_seconds(10));
        job.place(seconds(0), Span::ZERO);
        job.set_rate(seconds(0), Rate::of(Yield(0.5)));
        job.advance(seconds(20));
        job.set_work(Some(Span::from_seconds(30)));
        assert_eq!(job.finish(), Some(seconds(60)));
        job.set_work(None);
        assert_eq!(job.finish(), None);
    }

    #[test]
    fn zero_work_ends_at_once_and_zero_rate_never() {
        let mut empty = of(Span::ZERO);
        empty.place(seconds(5), Span::ZERO);
        assert_eq!(empty.finish(), Some(seconds(5)));
        let mut starved = of(Span(1));
        starved.place(seconds(5), Span::ZERO);
        assert_eq!(starved.finish(), None);
        starved.set_rate(seconds(5), Rate::of(Yield(1e-15)));
        assert!(starved.finish().is_some_and(|end| end > seconds(1_000)));
    }

    #[test]
    fn clock_set_back_does_not_reduce_progress() {
        let mut job = Progress::new(seconds(10), None).with_virtual_time(Span(3));
        job.place(seconds(10), Span::ZERO);
        job.set_rate(seconds(10), Rate::of(Yield::ONE));
        assert_eq!(job.virtual_time(seconds(5)), Span(3));
        assert_eq!(job.virtual_time(seconds(10)), Span(3));
        assert_eq!(job.virtual_time(seconds(11)), Span(1_000_003));
        assert_eq!(job.finish(), None, "its work is not known");
    }

    #[test]
    fn rate_round_trips_through_a_yield() {
        for share in [0.0, 1.0, 0.5, 1.0 / 3.0, 0.7, 1e-15, f64::NAN, -1.0, 2.0] {
            let rate = Rate::of(Yield(share));
            assert_eq!(Rate::of(rate.share()), rate, "{share}");
        }
        assert_eq!(Rate::of(Yield(f64::NAN)), Rate::ZERO);
        assert_eq!(Rate::of(Yield(2.0)).share(), Yield::ONE);
    }

    proptest! {
        /// No values, however odd, make it panic, and what it did only grows until it is lost.
        #[test]
        fn progress_never_panics_or_decreases(
            work in proptest::option::of(any::<i64>()),
            steps in proptest::collection::vec((any::<i64>(), any::<i64>(), any::<f64>(), 0u8..4), 0..20),
        ) {
            let mut job = Progress::new(Time(i64::MIN), work.map(Span));
            let mut before = Span::ZERO;
            for (now, stall, share, what) in steps {
                match what {
                    0 => job.place(Time(now), Span(stall)),
                    1 => job.pause(Time(now)),
                    _ => job.set_rate(Time(now), Rate::of(Yield(share))),
                }
                let done = job.virtual_time(Time(now));
                prop_assert!(done >= before);
                before = done;
            }
        }

        /// A job ends in the first microsecond in which all its work is done.
        #[test]
        fn finish_is_exact_to_a_microsecond(work in 1i64..1_000_000_000, stall in 0i64..1000, share in 1e-6f64..=1.0) {
            let mut job = of(Span(work));
            job.place(Time(0), Span(stall));
            job.set_rate(Time(0), Rate::of(Yield(share)));
            let end = job.finish().expect("it runs");
            let done_at = |time: Time| job.clone().virtual_time(time);
            prop_assert_eq!(done_at(end), Span(work));
            prop_assert!(done_at(Time(end.0 - 1)) < Span(work));
        }
    }
}
