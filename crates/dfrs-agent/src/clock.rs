//! DFRS's time: the wall clock's, until that is set back. From then on it is ahead of the wall
//! clock, and goes on: nothing has begun later than now. Slurm's times are those of the wall clock.

use dfrs_core::Time;
use serde::{Deserialize, Serialize};

const SECOND: i64 = 1_000_000;

/// By how many seconds DFRS's time is ahead of the wall clock; never behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ahead(i64);

impl Ahead {
    /// The number of seconds.
    #[must_use]
    pub const fn seconds(self) -> i64 {
        self.0
    }

    /// The wall clock's time at this time of DFRS's.
    #[must_use]
    pub const fn wall(self, time: Time) -> Time {
        Time(time.0.saturating_sub(self.0.saturating_mul(SECOND)))
    }

    /// DFRS's time at this time of the wall clock.
    #[must_use]
    pub const fn time(self, wall: Time) -> Time {
        Time(wall.0.saturating_add(self.0.saturating_mul(SECOND)))
    }
}

/// Gives DFRS's time, which never goes back. It stands still only for as long as it is not read
/// when the wall clock is set back.
#[derive(Clone, Copy, Debug, Default)]
pub struct MonotonicClock {
    ahead: Ahead,
    /// The time that was returned last.
    last: Time,
}

impl MonotonicClock {
    /// A clock that goes on where another was so much ahead, and not before what is known to have
    /// happened.
    #[must_use]
    pub const fn resume(ahead: Ahead, happened: Time) -> Self {
        Self {
            ahead,
            last: happened,
        }
    }

    /// DFRS's time, at this time of the wall clock.
    pub fn read(&mut self, wall: Time) -> Time {
        let behind = self.last.0 - self.ahead.time(wall).0;
        if behind > 0 {
            self.ahead.0 += (behind + SECOND - 1).div_euclid(SECOND);
        }
        self.last = self.ahead.time(wall);
        self.last
    }

    /// By how much it was ahead when it was last read.
    #[must_use]
    pub const fn ahead(&self) -> Ahead {
        self.ahead
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: i64) -> Time {
        Time::from_seconds(seconds)
    }

    #[test]
    fn time_goes_on_when_the_clock_is_set_back() {
        let mut clock = MonotonicClock::default();
        assert_eq!(clock.read(seconds(5000)), seconds(5000));
        assert_eq!(clock.read(seconds(1000)), seconds(5000));
        assert_eq!(clock.read(seconds(1001)), seconds(5001));
        assert_eq!(clock.ahead().wall(seconds(5002)), seconds(1002));
        assert_eq!(clock.read(seconds(900)), seconds(5001), "and again");
        assert_eq!(clock.read(seconds(6000)), seconds(10_101));
    }

    #[test]
    fn clock_is_never_behind_what_has_happened() {
        let mut clock = MonotonicClock::resume(Ahead::default(), Time(700_500_000));
        assert_eq!(clock.read(seconds(300)), seconds(701));
        let mut clock = MonotonicClock::resume(clock.ahead(), seconds(600));
        assert_eq!(clock.read(seconds(400)), seconds(801));
    }
}
