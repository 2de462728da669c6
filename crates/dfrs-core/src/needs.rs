//! What jobs need, from what they were seen to use: a need falls slowly and with headroom, and is
//! the request again at once when the job was held back (docs/adr, "Needs from measurement").

use std::fmt;

use crate::units::{Cores, Span};

mod shares;

pub use shares::{GrantedYield, shares_of_requests};

/// For so long a job is not held back before its need falls, at first.
const MIN_DECREASE_DELAY: Span = Span::from_seconds(60);

/// The greatest delay before a need falls, when needs that had fallen had to rise again.
const MAX_DECREASE_DELAY: Span = Span::from_seconds(960);

/// No interval counts for more of the delay than this part of it: several have to agree.
const MIN_INTERVALS: i64 = 4;

/// A need is so many hundredths of what was used.
const HEADROOM: u128 = 125;

/// What a job needs of its request, in eighths, 1 to 8. Eight are the whole request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Need(u8);

impl Need {
    /// The whole request: what decisions use if nothing was measured.
    pub const WHOLE: Self = Self(8);

    /// No job is taken to need less.
    pub const LEAST: Self = Self(1);

    /// So many eighths, at least 1 and at most 8.
    pub const fn from_eighths(eighths: u8) -> Self {
        match eighths {
            0 => Self::LEAST,
            1..=8 => Self(eighths),
            _ => Self::WHOLE,
        }
    }

    /// The need in eighths of the request.
    pub const fn eighths(self) -> u8 {
        self.0
    }

    /// Whether it is less than the request.
    pub const fn is_less(self) -> bool {
        self.0 < Self::WHOLE.0
    }

    /// So much of this request, rounded up.
    pub fn of(self, request: Cores) -> Cores {
        let part = (u128::from(request.0) * u128::from(self.0)).div_ceil(8);
        Cores(u64::try_from(part).unwrap_or(request.0))
    }

    /// What a job needs that used so much of its request, with headroom.
    fn for_use(used: Cores, request: Cores) -> Self {
        if request.is_zero() {
            return Self::WHOLE;
        }
        let eighths = (u128::from(used.0) * 8 * HEADROOM).div_ceil(u128::from(request.0) * 100);
        Self::from_eighths(u8::try_from(eighths).unwrap_or(u8::MAX))
    }

    /// Half of it, rounded up.
    const fn half(self) -> Self {
        Self(self.0.div_ceil(2))
    }
}

impl fmt::Display for Need {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/8", self.0)
    }
}

/// What a job did in a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// How long that was.
    pub lasted: Span,
    /// CPU that it used, as a mean.
    pub used: Cores,
    /// The job could have used more than its cap allowed.
    pub throttled: bool,
}

/// What was measured of a job on one place, and the need that follows from it. A few numbers,
/// however much was measured. A job that gets another place, or comes back to one, is measured from
/// the beginning.
///
/// - After an interval in which it was held back the need is the request, whatever was measured
///   before.
/// - After one in which it used more than its need has room for, the need is at once what it used,
///   with a quarter of headroom.
/// - The need falls only when the job has not been held back for the delay, in four intervals at
///   least: to the most that it used meanwhile, with headroom, but at most by half.
/// - The delay is a minute, and doubles, up to 16 minutes, whenever a need that had fallen had to
///   rise: a job that changes often keeps its need.
///
/// ```
/// use dfrs_core::{Cores, Interval, Measured, Need, Span};
///
/// let mut measured = Measured::new(Cores::from_cores(4));
/// let idle = Interval { lasted: Span::from_seconds(10), used: Cores::from_cores(1), throttled: false };
/// let needs: Vec<u8> = (0..18).map(|_| measured.note(&idle).eighths()).collect();
/// assert_eq!(needs, [8, 8, 8, 8, 8, 4, 4, 4, 4, 4, 4, 3, 3, 3, 3, 3, 3, 3]);
/// assert_eq!(measured.note(&Interval { throttled: true, ..idle }), Need::WHOLE);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    request: Cores,
    need: Need,
    decrease_delay: Span,
    /// How much of the delay has passed.
    unthrottled_for: Span,
    /// The most that it needed meanwhile.
    max_need: Need,
}

impl Measured {
    /// A job of this request, of which nothing was measured yet.
    pub const fn new(request: Cores) -> Self {
        Self {
            request,
            need: Need::WHOLE,
            decrease_delay: MIN_DECREASE_DELAY,
            unthrottled_for: Span::ZERO,
            max_need: Need::LEAST,
        }
    }

    /// What decisions go by.
    pub const fn need(&self) -> Need {
        self.need
    }

    /// Whether more intervals in which it uses so much, and is `throttled` or not, change nothing.
    pub fn is_settled(&self, used: Cores, throttled: bool) -> bool {
        self.need == self.wanted(used, throttled)
    }

    /// What the job needs if it used so much.
    fn wanted(&self, used: Cores, throttled: bool) -> Need {
        if throttled {
            Need::WHOLE
        } else {
            Need::for_use(used, self.request)
        }
    }

    /// Takes note of an interval and returns the need after it. O(1).
    pub fn note(&mut self, interval: &Interval) -> Need {
        let wanted = self.wanted(interval.used, interval.throttled);
        if wanted > self.need {
            self.need = wanted;
            self.decrease_delay = Span(self.decrease_delay.0 * 2).min(MAX_DECREASE_DELAY);
            self.restart_delay();
        } else if interval.throttled {
            self.restart_delay();
        } else {
            self.max_need = self.max_need.max(wanted);
            let counts = Span(self.decrease_delay.0 / MIN_INTERVALS);
            self.unthrottled_for += interval.lasted.max(Span::ZERO).min(counts);
            if self.unthrottled_for >= self.decrease_delay {
                self.need = self.max_need.max(self.need.half());
                self.restart_delay();
            }
        }
        self.need
    }

    fn restart_delay(&mut self) {
        self.unthrottled_for = Span::ZERO;
        self.max_need = Need::LEAST;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const REQUEST: Cores = Cores::from_cores(4);

    fn interval(seconds: i64, thousandths: u64, throttled: bool) -> Interval {
        Interval {
            lasted: Span::from_seconds(seconds),
            used: Cores(REQUEST.0 * thousandths / 1000),
            throttled,
        }
    }

    fn after(measured: &mut Measured, seconds: i64, thousandths: u64) -> u8 {
        for _ in 0..seconds / 10 {
            measured.note(&interval(10, thousandths, false));
        }
        measured.need().eighths()
    }

    #[test]
    fn a_third_with_headroom_is_half() {
        let mut measured = Measured::new(REQUEST);
        assert_eq!(after(&mut measured, 50, 333), 8);
        assert_eq!(after(&mut measured, 10, 333), 4);
        assert_eq!(after(&mut measured, 3600, 333), 4);
        assert!(measured.is_settled(Cores(REQUEST.0 / 3), false));
    }

    #[test]
    fn need_falls_by_half_at_most_and_to_an_eighth_at_least() {
        let mut measured = Measured::new(REQUEST);
        let needs = [0; 5].map(|_| after(&mut measured, 60, 0));
        assert_eq!(needs, [4, 2, 1, 1, 1]);
    }

    #[test]
    fn need_follows_the_busiest_interval() {
        let mut measured = Measured::new(REQUEST);
        after(&mut measured, 50, 100);
        measured.note(&interval(10, 600, false));
        assert_eq!(measured.need().eighths(), 6);
    }

    #[test]
    fn need_rises_at_once_and_then_falls_more_slowly() {
        let mut measured = Measured::new(REQUEST);
        assert_eq!(after(&mut measured, 180, 50), 1);
        measured.note(&interval(1, 300, false));
        assert_eq!(measured.need().eighths(), 3, "it had room for it");
        measured.note(&interval(1, 300, true));
        assert_eq!(measured.need(), Need::WHOLE);
        assert_eq!(after(&mut measured, 230, 50), 8, "four minutes by now");
        assert_eq!(after(&mut measured, 10, 50), 4);
    }

    #[test]
    fn one_long_interval_is_not_several() {
        let mut measured = Measured::new(REQUEST);
        for _ in 0..3 {
            assert_eq!(measured.note(&interval(86_400, 0, false)), Need::WHOLE);
        }
        assert_eq!(measured.note(&interval(86_400, 0, false)).eighths(), 4);
    }

    #[test]
    fn need_of_an_empty_request_is_whole() {
        let mut measured = Measured::new(Cores::ZERO);
        for _ in 0..100 {
            assert_eq!(measured.note(&interval(60, 0, false)), Need::WHOLE);
        }
        assert_eq!(Need::WHOLE.of(Cores::ZERO), Cores::ZERO);
    }

    #[test]
    fn eighths_are_brought_into_range_and_rounded_up() {
        let all = [0, 1, 8, 9, 255].map(|eighths| Need::from_eighths(eighths).eighths());
        assert_eq!(all, [1, 1, 8, 8, 8]);
        assert_eq!(Need::from_eighths(3).of(Cores(9)), Cores(4));
        assert_eq!(Need::WHOLE.of(Cores(u64::MAX)), Cores(u64::MAX));
        assert_eq!(Need::from_eighths(3).to_string(), "3/8");
    }

    fn intervals() -> impl Strategy<Value = Vec<Interval>> {
        let one = (0i64..200, 0u64..1500, proptest::bool::weighted(0.1));
        let one = one.prop_map(|(seconds, part, throttled)| interval(seconds, part, throttled));
        proptest::collection::vec(one, 0..400)
    }

    proptest! {
        /// The need is never more than the request, and never less than an eighth of it; a job that
        /// is held back has its request, and another has room for what it used.
        #[test]
        fn need_covers_use_after_every_interval(intervals in intervals()) {
            let mut measured = Measured::new(REQUEST);
            for interval in intervals {
                let before = measured.need();
                let need = measured.note(&interval);
                prop_assert!(need >= Need::LEAST && need <= Need::WHOLE);
                prop_assert!(need.of(REQUEST) <= REQUEST);
                prop_assert!(!interval.throttled || need == Need::WHOLE);
                prop_assert!(need.of(REQUEST) >= interval.used.min(REQUEST));
                prop_assert!(need >= before.half(), "it falls by half at most");
                prop_assert_eq!(need, measured.need());
            }
        }

        /// However a job behaves, it is seldom held back for what was measured: its need has to
        /// fall first, which takes four intervals and a time that doubles with each rise.
        #[test]
        fn throttling_by_a_lowered_need_is_rare(intervals in intervals()) {
            let mut measured = Measured::new(REQUEST);
            let (mut held_back, mut elapsed) = (0, Span::ZERO);
            for interval in intervals {
                elapsed += interval.lasted;
                let is_less = measured.need().is_less();
                measured.note(&interval);
                held_back += i64::from(is_less && interval.throttled);
            }
            prop_assert!(held_back <= 5 + elapsed.0 / MAX_DECREASE_DELAY.0, "{held_back} times");
        }

        /// What is settled stays as it is.
        #[test]
        fn settled_need_does_not_change(intervals in intervals(), part in 0u64..1500, throttled: bool) {
            let mut measured = Measured::new(REQUEST);
            for interval in &intervals {
                measured.note(interval);
            }
            let last = interval(60, part, throttled);
            if measured.is_settled(last.used, throttled) {
                let need = measured.need();
                for _ in 0..100 {
                    prop_assert_eq!(measured.note(&last), need);
                }
            }
        }

        /// A job that uses the same for long has what it used, with headroom.
        #[test]
        fn need_converges_to_steady_use(part in 0u64..=1000) {
            let mut measured = Measured::new(REQUEST);
            for _ in 0..100 {
                measured.note(&interval(60, part, false));
            }
            prop_assert!(measured.is_settled(interval(1, part, false).used, false));
        }
    }
}
