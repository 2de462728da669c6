//! Numbers as they are shown, in little room.

use dfrs_core::{Span, Time};
use jiff::Timestamp;

/// A journal whose times are later has real times: seconds in UNIX time.
const MIN_UNIX_SECONDS: i64 = 1_000_000_000;

/// A length of time in at most five characters.
pub fn span(span: Span) -> String {
    let seconds = span.0.max(0) / 1_000_000;
    let tenths = |unit: i64, letter| {
        let tenths = seconds * 10 / unit;
        match tenths {
            0..1000 => format!("{}.{}{letter}", tenths / 10, tenths % 10),
            _ => format!("{}{letter}", tenths / 10),
        }
    };
    match seconds {
        0..100 => format!("{seconds}s"),
        100..6000 => format!("{}m", seconds / 60),
        6000..172_800 => tenths(3600, 'h'),
        _ => tenths(86_400, 'd'),
    }
}

/// Whether a time of a journal is one of the real world.
pub fn is_real(time: Time) -> bool {
    time.0 / 1_000_000 >= MIN_UNIX_SECONDS
}

/// An instant: date and time, or how long after the beginning of a trace.
pub fn instant(time: Time) -> String {
    let seconds = time.0.div_euclid(1_000_000);
    match Timestamp::from_second(seconds) {
        Ok(timestamp) if is_real(time) => timestamp.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        _ => {
            let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
            let (hours, minutes, seconds) = (rest / 3600, rest / 60 % 60, rest % 60);
            format!("day {days}, {hours:02}:{minutes:02}:{seconds:02}")
        }
    }
}

/// A part of a whole, 0 to 1, in eleven characters.
pub fn part(done: f64) -> String {
    const BAR_WIDTH: usize = 6;
    // A full bar is that of a job which has done everything.
    let full = times(done, BAR_WIDTH).min(if done < 1.0 { BAR_WIDTH - 1 } else { BAR_WIDTH });
    format!(
        "{}{} {:>3.0}%",
        "=".repeat(full),
        ".".repeat(BAR_WIDTH - full),
        (done * 100.0).floor()
    )
}

/// So much of `max`, for a part from 0 to 1.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "cells of a screen"
)]
pub fn times(part: f64, max: usize) -> usize {
    // What is no number becomes 0.
    ((part.clamp(0.0, 1.0) * max as f64).round() as usize).min(max)
}

/// A percentage of something that may be 0.
pub fn percent(part: f64, whole: f64) -> String {
    let percent = if whole > 0.0 {
        part / whole * 100.0
    } else {
        0.0
    };
    format!("{:.0}", percent.clamp(0.0, 9999.0))
}

/// A quantity in the journal's units; large ones are taken as bytes.
pub fn quantity(value: f64) -> String {
    const UNITS: [(f64, &str); 3] = [(1e15, "PB"), (1e12, "TB"), (1e9, "GB")];
    let unit = UNITS.iter().find(|(size, _)| value >= *size);
    match unit {
        Some((size, unit)) => format!("{:.1} {unit}", (value / size).min(1e6)),
        None if value >= 1e6 => format!("{:.1} MB", value / 1e6),
        None if value >= 1000.0 => format!("{value:.0}"),
        None => format!("{value:.1}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_short() {
        let shown = |seconds| span(Span::from_seconds(seconds));
        let all: Vec<String> = [
            -5,
            0,
            99,
            100,
            5999,
            6000,
            172_799,
            172_800,
            86_400 * 99_999,
        ]
        .map(shown)
        .into();
        let expected = [
            "0s", "0s", "99s", "1m", "99m", "1.6h", "47.9h", "2.0d", "99999d",
        ];
        assert_eq!(all, expected);
    }

    #[test]
    fn instants_are_dates_where_they_are_real() {
        assert_eq!(instant(Time::from_seconds(93_784)), "day 1, 02:03:04");
        let real = Time::from_seconds(1_700_000_000);
        assert_eq!(instant(real), "2023-11-14 22:13:20 UTC");
        assert_eq!(instant(Time(-1)), "day -1, 23:59:59");
    }

    #[test]
    fn texts_fit_their_width() {
        assert_eq!(part(0.0), "......   0%");
        assert_eq!(part(0.5), "===...  50%");
        assert_eq!(part(1.0), "====== 100%");
        assert_eq!(times(f64::NAN, 5), 0);
        assert_eq!(percent(1.0, 0.0), "0");
        assert_eq!(percent(f64::INFINITY, 1.0), "9999");
        assert_eq!(quantity(2.5e12), "2.5 TB");
        assert_eq!(quantity(0.25), "0.2");
        assert_eq!(quantity(1e300), "1000000.0 PB");
    }
}
