//! Times, lengths of time and counts for people.

use dfrs_core::Time;
use jiff::Timestamp;
use jiff::tz::TimeZone;

pub use dfrs_report::{percent, significant};

/// What times mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeBase {
    /// Seconds since 1970, UTC.
    Utc,
    /// Local time, as if it were UTC.
    Local,
    /// Seconds since the beginning of the trace.
    #[default]
    SinceStart,
}

impl TimeBase {
    /// The instant, to the minute; since `first` where there is no date.
    pub fn show(self, time: Time, first: Time) -> String {
        self.formatted(time, first, "%Y-%m-%d %H:%M")
    }

    /// The instant within a year, to the minute, or the time since `first`.
    pub fn in_year(self, time: Time, first: Time) -> String {
        if self == Self::SinceStart {
            return duration(time.since(first).seconds());
        }
        self.formatted(time, first, "%m-%d %H:%M")
    }

    /// A period, by its day or days, or its length.
    pub fn period(self, first: Time, last: Time) -> String {
        if self == Self::SinceStart {
            return duration(last.since(first).seconds());
        }
        match (self.day(first, first), self.day(last, first)) {
            (day, same) if day == same => day,
            (first, last) => format!("{first} to {last}"),
        }
    }

    /// The day of the instant.
    pub fn day(self, time: Time, first: Time) -> String {
        self.formatted(time, first, "%Y-%m-%d")
    }

    fn formatted(self, time: Time, first: Time, format: &str) -> String {
        let since = || duration(time.since(first).seconds()) + " after the start";
        if self == Self::SinceStart {
            return since();
        }
        let instant = Timestamp::from_microsecond(time.0);
        instant.map_or_else(
            |_| since(),
            |instant| {
                let zoned = instant.to_zoned(TimeZone::UTC);
                zoned.strftime(format).to_string()
            },
        )
    }

    /// What people have to know about dates, if there are any.
    pub fn note(self) -> &'static str {
        match self {
            Self::Utc => "Times are UTC.",
            Self::Local => "Times are the site's local time.",
            Self::SinceStart => "Times count from the first submission.",
        }
    }
}

/// A table for a terminal: rows in columns, the first to the left and the others to the right. A row may have
/// fewer fields.
pub fn aligned(rows: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        widths.resize(widths.len().max(row.len()), 0);
        for (width, field) in widths.iter_mut().zip(row) {
            *width = field.chars().count().max(*width);
        }
    }
    let mut text = String::new();
    for row in rows {
        for (column, (field, width)) in row.iter().zip(&widths).enumerate() {
            text += &match column {
                0 => format!("{field:<width$}"),
                _ => format!("  {field:>width$}"),
            };
        }
        text.push('\n');
    }
    text
}

/// The text in lines of at most so many characters, each with a line feed at its end; lines but the first begin with
/// `indent`. A longer word has a line of its own.
pub fn wrapped(text: &str, width: usize, indent: &str) -> String {
    let mut lines = String::new();
    let mut line = String::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let length = line.chars().count() + 1 + word.chars().count();
        if !line.trim().is_empty() && length > width {
            lines += &format!("{line}\n");
            line = indent.to_owned();
        } else if !line.is_empty() {
            line.push(' ');
        }
        line += word;
    }
    match line.is_empty() {
        true => lines,
        false => lines + &line + "\n",
    }
}

/// Seconds in two units at most: `45 s`, `12 min`, `3 h 20 min`, `2 d 5 h`.
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() {
        return "–".into();
    }
    let sign = if seconds <= -0.5 { "−" } else { "" };
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // below 2^62
    let whole = seconds.abs().min(4e18).round() as u64;
    let text = match whole {
        0..60 => format!("{whole} s"),
        60..600 if !whole.is_multiple_of(60) => format!("{} min {} s", whole / 60, whole % 60),
        60..3600 => format!("{} min", (whole + 30) / 60),
        3600..86_400 => two_units((whole + 30) / 60, 60, "h", "min"),
        _ => two_units((whole + 1800) / 3600, 24, "d", "h"),
    };
    format!("{sign}{text}")
}

fn two_units(count: u64, in_larger: u64, larger: &str, smaller: &str) -> String {
    match (count / in_larger, count % in_larger) {
        (large, 0) => format!("{} {larger}", thousands(large)),
        (large, small) => format!("{} {larger} {small} {smaller}", thousands(large)),
    }
}

/// Seconds in one unit, for tables: `45 s`, `12 min`, `3.3 h`, `2.2 d`.
pub fn brief(seconds: f64) -> String {
    let (unit, name) = match seconds.abs() {
        0.0..59.5 => (1.0, "s"),
        59.5..3570.0 => (60.0, "min"),
        3570.0..86_400.0 => (3600.0, "h"),
        _ => (86_400.0, "d"),
    };
    let places = if unit < 3600.0 { 0 } else { 1 };
    format!("{} {name}", dfrs_report::decimals(seconds / unit, places))
}

/// The text with a capital letter at its beginning.
pub fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_uppercase());
    first.into_iter().flatten().chain(chars).collect()
}

/// The text in one line, where a table would break it.
pub fn unbroken(text: &str) -> String {
    text.replace(' ', "\u{a0}")
        .replace('–', "\u{2060}–\u{2060}")
        .replace('-', "\u{2011}")
}

/// A count, thousands parted.
pub fn number(count: usize) -> String {
    thousands(count as u64)
}

/// A count of events, thousands parted.
pub fn count(count: u64) -> String {
    thousands(count)
}

fn thousands(count: u64) -> String {
    // Precise enough: exact below 2^53, and nothing counts further.
    dfrs_report::decimals(count as f64, 0)
}

/// Seconds as a number with its unit, short, for axes: 1 s, 10 min, 1 h, 1 d.
pub fn seconds_ticks() -> Vec<(f64, String)> {
    [
        (1.0, "≤ 1 s"),
        (10.0, "10 s"),
        (60.0, "1 min"),
        (600.0, "10 min"),
        (3600.0, "1 h"),
        (6.0 * 3600.0, "6 h"),
        (86_400.0, "1 d"),
        (7.0 * 86_400.0, "1 week"),
        (30.0 * 86_400.0, "30 d"),
    ]
    .map(|(seconds, name)| (seconds, name.to_owned()))
    .to_vec()
}

/// How many of all jobs.
pub(crate) fn of_jobs(count: usize, all: usize) -> String {
    format!("{} of {} jobs", number(count), number(all))
}

/// A sentence about so many of all jobs, if there are any; `what` is the rest of it.
pub(crate) fn sentence_about(count: usize, all: usize, what: &str) -> Option<String> {
    (count > 0).then(|| format!("{} {what}", of_jobs(count, all)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_wrapped_between_words() {
        assert_eq!(wrapped("one two three", 8, "  "), "one two\n  three\n");
        assert_eq!(wrapped("one two three", 7, "  "), "one two\n  three\n");
        assert_eq!(wrapped("one two three", 6, ""), "one\ntwo\nthree\n");
        assert_eq!(wrapped("sesquipedalian a", 5, ""), "sesquipedalian\na\n");
        assert_eq!(wrapped("", 5, " "), "");
    }

    #[test]
    fn duration_has_at_most_two_units() {
        let cases = [
            (0.0, "0 s"),
            (59.4, "59 s"),
            (60.0, "1 min"),
            (61.0, "1 min 1 s"),
            (725.0, "12 min"),
            (3600.0, "1 h"),
            (12_000.0, "3 h 20 min"),
            (86_399.0, "24 h"),
            (190_800.0, "2 d 5 h"),
            (-75.0, "−1 min 15 s"),
            (f64::NAN, "–"),
        ];
        for (seconds, text) in cases {
            assert_eq!(duration(seconds), text);
        }
    }

    #[test]
    fn brief_duration_has_one_unit() {
        let cases = [
            (0.0, "0 s"),
            (59.6, "1 min"),
            (3569.0, "59 min"),
            (3571.0, "1.0 h"),
            (12_000.0, "3.3 h"),
            (190_800.0, "2.2 d"),
            (f64::NAN, "– d"),
        ];
        for (seconds, text) in cases {
            assert_eq!(brief(seconds), text);
        }
    }

    #[test]
    fn times_are_dates_unless_base_is_the_start() {
        let time = Time::from_seconds(1_790_812_860);
        let first = Time::from_seconds(1_790_812_800);
        assert_eq!(TimeBase::Utc.show(time, first), "2026-10-01 00:01");
        assert_eq!(TimeBase::Local.day(time, first), "2026-10-01");
        assert_eq!(
            TimeBase::SinceStart.show(time, first),
            "1 min after the start"
        );
        assert_eq!(TimeBase::SinceStart.in_year(time, first), "1 min");
        assert_eq!(TimeBase::Utc.in_year(time, first), "10-01 00:01");
        assert_eq!(TimeBase::Utc.period(first, time), "2026-10-01");
        let days = TimeBase::Utc.period(first, Time(time.0 + 86_400_000_000));
        assert_eq!(days, "2026-10-01 to 2026-10-02");
        assert_eq!(TimeBase::SinceStart.period(first, time), "1 min");
    }
}
