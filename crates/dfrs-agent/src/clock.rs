//! DFRS's time: the wall clock's, until that is set back. From then on it is ahead of the wall
//! clock, and goes on: nothing has begun later than now. Slurm's times are those of the wall clock.

use dfrs_core::{Span, Time};
use serde::{Deserialize, Serialize};

const MINUTE: i64 = Span::from_seconds(60).0;

/// By how many seconds DFRS's time is ahead of the wall clock; never behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ahead(i64);

impl Ahead {
    /// The number of seconds.
    pub const fn seconds(self) -> i64 {
        self.0
    }

    /// The wall clock's time at this time of DFRS's.
    pub const fn wall(self, time: Time) -> Time {
        Time(time.0.saturating_sub(Span::from_seconds(self.0).0))
    }

    /// DFRS's time at this time of the wall clock.
    pub const fn time(self, wall: Time) -> Time {
        Time(wall.0.saturating_add(Span::from_seconds(self.0).0))
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
            self.ahead.0 += (behind + Span::SECOND.0 - 1).div_euclid(Span::SECOND.0);
        }
        self.last = self.ahead.time(wall);
        self.last
    }

    /// By how much it was ahead when it was last read.
    pub const fn ahead(&self) -> Ahead {
        self.ahead
    }
}

/// The next full minute, as UTC: `2026-11-24T22:41Z`.
pub(crate) fn to_the_minute(wall: Time) -> String {
    let minutes = wall.0.saturating_add(MINUTE - 1).div_euclid(MINUTE);
    let (days, minute) = (minutes.div_euclid(1440), minutes.rem_euclid(1440));
    let (year, month, day) = date(days);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}Z",
        minute / 60,
        minute % 60
    )
}

/// The date so many days after 1 January 1970 (Howard Hinnant, `civil_from_days`).
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month) = (day - (153 * month + 2) / 5 + 1, (month + 2) % 12 + 1);
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_up_to_minutes() {
        let at = |seconds| to_the_minute(Time::from_seconds(seconds));
        assert_eq!(at(0), "1970-01-01T00:00Z");
        assert_eq!(at(1), "1970-01-01T00:01Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00Z");
        assert_eq!(at(951_868_800), "2000-03-01T00:00Z");
        assert_eq!(at(1_798_761_599), "2027-01-01T00:00Z");
    }

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
