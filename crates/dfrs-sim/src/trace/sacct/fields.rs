//! The fields of a line, as sacct prints them.

use dfrs_core::{Bytes, Span, Time};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::trace::MAX_SECONDS;
use crate::trace::decimal::scaled;
use crate::trace::values::shown;

/// The most memory that is believed: an exabyte.
const MAX_BYTES: u64 = 1 << 60;

/// The most CPU time that is believed: a million CPUs for as long as a trace may last.
const MAX_CPU_SECONDS: i64 = MAX_SECONDS * 1_000;

/// An instant, if it is known: UNIX seconds, or a date and a time, `2026-10-25T02:30:00+0200`. Without an
/// offset from UTC behind it it is local time, taken as if it were UTC.
pub(super) fn time(text: &[u8], name: &str) -> Result<Option<Time>, String> {
    if matches!(text, b"" | b"Unknown" | b"None") {
        return Ok(None);
    }
    let seconds = if is_unix(text) {
        scaled(text, 0)
    } else {
        std::str::from_utf8(text).ok().and_then(date_and_time)
    };
    seconds
        .filter(|seconds| (0..=MAX_SECONDS).contains(seconds))
        .map(|seconds| Some(Time::from_seconds(seconds)))
        .ok_or_else(|| {
            format!(
                "{name} is {}, expected is 2026-10-25T02:30:00, the same with +0200 or Z behind it, UNIX seconds (SLURM_TIME_FORMAT=%s) or Unknown",
                shown(text)
            )
        })
}

/// UNIX seconds of a date and a time with or without an offset from UTC.
fn date_and_time(text: &str) -> Option<i64> {
    let (date, rest) = text.split_once('T')?;
    let clock = rest.split(['+', '-', 'Z']).next()?;
    let is_clock = |letter: char| letter.is_ascii_digit() || matches!(letter, ':' | '.');
    if !clock.chars().all(is_clock) {
        return None;
    }
    let offset = offset(&rest[clock.len()..])?;
    let local: DateTime = text[..date.len() + 1 + clock.len()].parse().ok()?;
    let seconds = local.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second();
    Some(seconds - offset)
}

/// The seconds by which a clock with this offset is ahead of UTC: `Z`, `+02`, `+0200` or `+02:00`; 0 for none.
fn offset(text: &str) -> Option<i64> {
    let (sign, digits) = match text.as_bytes() {
        [] | [b'Z'] => return Some(0),
        [b'+', digits @ ..] => (1, digits),
        [b'-', digits @ ..] => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = match digits {
        [_, _] => (digits, &b"00"[..]),
        [_, _, b':', _, _] => (&digits[..2], &digits[3..]),
        [_, _, _, _] => (&digits[..2], &digits[2..]),
        _ => return None,
    };
    let (hours, minutes) = (whole(hours)?, whole(minutes)?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

/// Whether a time that is known says which instant it is, without a time zone: UNIX seconds, or with an offset.
pub(super) fn is_instant(text: &[u8]) -> bool {
    let clock = text.iter().position(|byte| *byte == b'T');
    let is_offset = |byte: &u8| matches!(byte, b'+' | b'-' | b'Z');
    is_unix(text) || clock.is_some_and(|clock| text[clock..].iter().any(is_offset))
}

/// Whether a time is written as UNIX seconds.
pub(super) fn is_unix(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

/// CPU time, if it was measured: not empty and not 0.
pub(super) fn cpu_time(text: &[u8]) -> Result<Option<Span>, String> {
    match text {
        b"" | b"INVALID" => Ok(None),
        _ => length(text, MAX_CPU_SECONDS)
            .map(|span| (span > Span::ZERO).then_some(span))
            .ok_or_else(|| refused("TotalCPU", text)),
    }
}

/// The time limit, if there is one.
pub(super) fn time_limit(text: &[u8]) -> Result<Option<Span>, String> {
    match text {
        b"" | b"UNLIMITED" | b"Partition_Limit" | b"INVALID" => Ok(None),
        _ => limit_length(text, MAX_SECONDS)
            .map(Some)
            .ok_or_else(|| refused("Timelimit", text)),
    }
}

/// How long a job was suspended.
pub(super) fn suspended(text: &[u8]) -> Result<Span, String> {
    match text {
        b"" | b"INVALID" => Ok(Span::ZERO),
        _ => length(text, MAX_SECONDS).ok_or_else(|| refused("Suspended", text)),
    }
}

fn refused(name: &str, text: &[u8]) -> String {
    format!(
        "{name} is {}, expected is [days-]hours:minutes:seconds",
        shown(text)
    )
}

/// A length of time: `[DD-[HH:]]MM:SS[.mmm]`, at most so many seconds.
fn length(text: &[u8], max: i64) -> Option<Span> {
    let (days, clock) = days(text)?;
    let parts: Vec<&[u8]> = clock.split(|byte| *byte == b':').collect();
    match parts[..] {
        [hours, minutes, seconds] => span([days, whole(hours)?, whole(minutes)?], seconds, max),
        [minutes, seconds] => span([days, 0, whole(minutes)?], seconds, max),
        _ => None,
    }
}

/// Reads a time limit as [`length`] does, or as sbatch does: `1-00` and `1-00:30` are days, hours
/// and minutes. Of a time that sacct prints nothing is left out behind days.
fn limit_length(text: &[u8], max: i64) -> Option<Span> {
    let (days, clock) = days(text)?;
    let parts: Vec<&[u8]> = clock.split(|byte| *byte == b':').collect();
    match (text.contains(&b'-'), &parts[..]) {
        (true, [hours]) => span([days, whole(hours)?, 0], b"0", max),
        (true, [hours, minutes]) => span([days, whole(hours)?, whole(minutes)?], b"0", max),
        _ => length(text, max),
    }
}

/// The days, 0 where none are written, and what is behind them.
fn days(text: &[u8]) -> Option<(i64, &[u8])> {
    match text.iter().position(|byte| *byte == b'-') {
        Some(place) => Some((whole(&text[..place])?, &text[place + 1..])),
        None => Some((0, text)),
    }
}

/// The sum of so many days, hours, minutes and seconds, if that is at most so many seconds.
fn span([days, hours, minutes]: [i64; 3], seconds: &[u8], max: i64) -> Option<Span> {
    let seconds = decimal(seconds, 6)?;
    let hours = days.checked_mul(24)?.checked_add(hours)?;
    let minutes = hours.checked_mul(60)?.checked_add(minutes)?;
    let sum = minutes.checked_mul(60_000_000)?.checked_add(seconds)?;
    (sum <= max.checked_mul(1_000_000)?).then_some(Span(sum))
}

fn whole(text: &[u8]) -> Option<i64> {
    is_unix(text).then(|| scaled(text, 0)).flatten()
}

/// A number without sign or exponent, times ten to the power of `digits`.
fn decimal(text: &[u8], digits: u32) -> Option<i64> {
    let plain = text
        .iter()
        .all(|byte| byte.is_ascii_digit() || *byte == b'.');
    plain.then(|| scaled(text, digits)).flatten()
}

/// What a request for memory is counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Per {
    /// All of the job (Slurm 21.08 and later).
    Job,
    /// `n`: each node.
    Node,
    /// `c`: each CPU.
    Cpu,
}

/// The memory that a job requested; none if that is nothing or 0, which to Slurm is all memory of
/// its nodes.
pub(super) fn requested_memory(text: &[u8]) -> Result<Option<(Bytes, Per)>, String> {
    let (number, per) = match text {
        b"" => return Ok(None),
        [number @ .., b'n'] => (number, Per::Node),
        [number @ .., b'c'] => (number, Per::Cpu),
        number => (number, Per::Job),
    };
    let bytes =
        some_memory(number, 20).ok_or_else(|| not_memory("ReqMem", text, "4000M, 4Gn or 4Gc"))?;
    Ok(bytes.map(|bytes| (bytes, per)))
}

/// What Slurm kept for all of the job: `mem` of `billing=4,cpu=4,mem=8000M,node=2`.
pub(super) fn allocated_memory(text: &[u8]) -> Result<Option<Bytes>, String> {
    let mut parts = text.split(|byte| *byte == b',');
    let Some(number) = parts.find_map(|part| part.strip_prefix(b"mem=")) else {
        return Ok(None);
    };
    some_memory(number, 20).ok_or_else(|| not_memory("AllocTRES", text, "cpu=4,mem=8000M,node=2"))
}

/// The largest memory of a task of a step; none if it was not measured.
pub(super) fn max_rss(text: &[u8]) -> Result<Option<Bytes>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    some_memory(text, 0).ok_or_else(|| not_memory("MaxRSS", text, "1234K or 1.5G"))
}

/// Reads memory as [`memory`] does; 0 is none.
fn some_memory(text: &[u8], exponent: u32) -> Option<Option<Bytes>> {
    memory(text, exponent).map(|bytes| Some(bytes).filter(|bytes| *bytes > Bytes::ZERO))
}

/// What is wrong with a column that has an amount of memory.
fn not_memory(column: &str, text: &[u8], example: &str) -> String {
    format!(
        "{column} is {}, expected is for example {example}",
        shown(text)
    )
}

/// A number with K, M, G, T or P behind it; without, the unit is two to the power of `exponent` bytes.
fn memory(text: &[u8], exponent: u32) -> Option<Bytes> {
    let (number, exponent) = match text {
        [number @ .., unit] if unit.is_ascii_alphabetic() => {
            let place = b"KMGTP"
                .iter()
                .position(|known| known.eq_ignore_ascii_case(unit))?;
            (number, 10 * (u32::try_from(place).ok()? + 1))
        }
        number => (number, exponent),
    };
    let thousandths = u128::try_from(decimal(number, 3)?).ok()?;
    let bytes = u64::try_from((thousandths << exponent) / 1000).ok()?;
    (bytes <= MAX_BYTES).then_some(Bytes(bytes))
}

/// A number of nodes, CPUs or tasks; none if empty.
pub(super) fn count(text: &[u8], name: &str) -> Result<Option<u32>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    whole(text)
        .and_then(|count| u32::try_from(count).ok())
        .map(Some)
        .ok_or_else(|| format!("{name} is {}, expected is a whole number", shown(text)))
}

/// A number of nodes; none if empty. sacct writes `AllocNodes` with a unit where that is exact: 1024 as
/// `1K`, 1536 as `1.50K`.
pub(super) fn nodes(text: &[u8]) -> Result<Option<u32>, String> {
    let [number @ .., b'K'] = text else {
        return count(text, "NNodes");
    };
    decimal(number, 3)
        .and_then(|thousandths| thousandths.checked_mul(1024))
        .filter(|thousandths| thousandths % 1000 == 0)
        .and_then(|thousandths| u32::try_from(thousandths / 1000).ok())
        .map(Some)
        .ok_or_else(|| format!("NNodes is {}, expected is for example 1K", shown(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_local_or_unix_or_unknown() {
        let seconds = |text: &str| time(text.as_bytes(), "Start").expect("a time");
        assert_eq!(
            seconds("1970-01-02T00:00:10"),
            Some(Time::from_seconds(86_410))
        );
        assert_eq!(
            seconds("2024-02-29T23:59:59"),
            Some(Time::from_seconds(1_709_251_199))
        );
        assert_eq!(
            seconds("1709251199"),
            Some(Time::from_seconds(1_709_251_199))
        );
        for unknown in ["", "Unknown", "None"] {
            assert_eq!(seconds(unknown), None);
        }
        for bad in [
            "2023-02-29T00:00:00",
            "2026-10-01",
            "10:30",
            "-5",
            "99999999999",
            "1e9",
            "yesterday",
            "2026-10-01T25:00:00",
            "99999999999999999999",
            "1969-12-31T23:59:59",
            "####",
        ] {
            let error = time(bad.as_bytes(), "Start").expect_err(bad);
            assert!(error.starts_with("Start is \""), "{error}");
        }
        assert!(time(b"\xff\xfeT", "End").is_err());
    }

    #[test]
    fn offsets_from_utc_count() {
        let seconds = |text: &str| {
            assert!(is_instant(text.as_bytes()), "{text}");
            time(text.as_bytes(), "Start").expect(text)
        };
        let noon = Some(Time::from_seconds(1_792_929_600));
        for text in [
            "2026-10-25T12:00:00Z",
            "2026-10-25T12:00:00+0000",
            "2026-10-25T14:00:00+0200",
            "2026-10-25T14:00:00+02:00",
            "2026-10-25T14:00:00+02",
            "2026-10-25T08:30:00-0330",
            "2026-10-26T00:00:00.000+12:00",
        ] {
            assert_eq!(seconds(text), noon, "{text}");
        }
        assert!(!is_instant(b"2026-10-25T12:00:00"));
        for bad in [
            "2026-10-25T12:00:00+2",
            "2026-10-25T12:00:00+2400",
            "2026-10-25T12:00:00+02:60",
            "2026-10-25T12:00:00+0200Z",
            "2026-10-25T12:00:00 +0200",
            "2026-10-25T12:00:00CEST",
            "2026-10-25T12:00:00[Europe/Berlin]",
            "2026-10-25T12:00:00+02:00[Europe/Berlin]",
            "2026-10-25T12:00:00-",
            "1970-01-01T01:00:00+0200",
        ] {
            assert!(time(bad.as_bytes(), "Start").is_err(), "{bad}");
        }
    }

    #[test]
    fn lengths_have_days_and_parts_of_seconds() {
        let of = |text: &str| cpu_time(text.as_bytes()).expect(text).map(|span| span.0);
        assert_eq!(of("00:01.500"), Some(1_500_000));
        assert_eq!(of("01:02:03"), Some(3_723_000_000));
        assert_eq!(of("2-00:00:01"), Some(172_801_000_000));
        assert_eq!(of("1-10:30.25"), Some((86_400 + 630) * 1_000_000 + 250_000));
        assert_eq!(of("00:00:00"), None);
        assert_eq!(of(""), None);
        let limit = |text: &str| time_limit(text.as_bytes()).expect(text);
        assert_eq!(limit("1-00:00:00"), Some(Span::from_seconds(86_400)));
        assert_eq!(limit("00:00:00"), Some(Span::ZERO));
        assert_eq!(limit("1-00"), Some(Span::from_seconds(86_400)));
        assert_eq!(limit("1-02:30"), Some(Span::from_seconds(86_400 + 9_000)));
        assert_eq!(limit("02:30"), Some(Span::from_seconds(150)));
        for none in ["UNLIMITED", "Partition_Limit", ""] {
            assert_eq!(limit(none), None);
        }
        for bad in [
            "12",
            "1:2:3:4",
            "-1:00",
            "1--1:00",
            "a:b",
            "1:-5",
            "00:1e9",
            ":",
            "1:",
            "99999999999-00:00:00",
            "9223372036854775807:00:00",
            "1:00 ",
        ] {
            assert!(cpu_time(bad.as_bytes()).is_err(), "{bad}");
            assert!(time_limit(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn memory_is_of_the_job_or_a_node_or_a_cpu() {
        let of = |text: &str| requested_memory(text.as_bytes()).expect(text);
        assert_eq!(of("4000M"), Some((Bytes(4000 << 20), Per::Job)));
        assert_eq!(of("4Gn"), Some((Bytes(4 << 30), Per::Node)));
        assert_eq!(of("1.50Gc"), Some((Bytes(3 << 29), Per::Cpu)));
        assert_eq!(of("512"), Some((Bytes(512 << 20), Per::Job)));
        for none in ["", "0", "0n", "0Mc"] {
            assert_eq!(of(none), None, "{none}");
        }
        let allocated = |text: &str| allocated_memory(text.as_bytes()).expect(text);
        assert_eq!(
            allocated("billing=4,cpu=4,mem=1.50G,node=2"),
            Some(Bytes(3 << 29))
        );
        for none in ["", "cpu=4", "cpu=4,mem=0", "gres/gpumem=4G"] {
            assert_eq!(allocated(none), None, "{none}");
        }
        assert!(allocated_memory(b"cpu=4,mem=lots").is_err());
        let resident = |text: &str| max_rss(text.as_bytes()).expect(text);
        assert_eq!(resident("1234K"), Some(Bytes(1234 << 10)));
        assert_eq!(resident("4096"), Some(Bytes(4096)));
        assert_eq!(resident("2T"), Some(Bytes(2 << 40)));
        for bad in [
            "G", "4X", "-4G", "4GG", "1e9G", "9999999P", "nan", "?", "4 G",
        ] {
            assert!(requested_memory(bad.as_bytes()).is_err(), "{bad}");
            assert!(max_rss(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn nodes_have_units() {
        for (text, expected) in [
            ("1024", 1024),
            ("1K", 1024),
            ("1.50K", 1536),
            ("20K", 20_480),
        ] {
            assert_eq!(nodes(text.as_bytes()), Ok(Some(expected)), "{text}");
        }
        assert_eq!(nodes(b""), Ok(None));
        for bad in [
            "K",
            "1.01K",
            "-1K",
            "1KK",
            "1M",
            "4194304K",
            "9999999999999999K",
            "1.5",
        ] {
            assert!(nodes(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn counts_are_whole() {
        assert_eq!(count(b"12", "NCPUS"), Ok(Some(12)));
        assert_eq!(count(b"", "NCPUS"), Ok(None));
        for bad in ["-1", "1.5", "4294967296", "x", "1K", "1e3"] {
            assert!(count(bad.as_bytes(), "NCPUS").is_err(), "{bad}");
        }
    }
}
