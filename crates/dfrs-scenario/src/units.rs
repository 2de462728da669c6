//! Quantities as people write them, exact to the last digit.

use dfrs_core::{Amount, Bytes, Cores, Span, Time, Weight, Yield};

/// Decimals of cores and of seconds: their units are millionths.
const MILLIONTHS: usize = 6;

/// Units of memory, and the powers of two that they stand for.
const MEMORY: [(&str, u32); 7] = [
    ("E", 60),
    ("P", 50),
    ("T", 40),
    ("G", 30),
    ("M", 20),
    ("K", 10),
    ("B", 0),
];

/// Units of time, and how many seconds they stand for.
const TIMES: [(&str, i128); 4] = [("s", 1), ("m", 60), ("h", 3600), ("d", 86_400)];

/// The digits of a decimal number without its point, and how many stood behind it. At most 24
/// digits.
fn digits(text: &str) -> Option<(i128, usize)> {
    let (number, is_negative) = match text.strip_prefix('-') {
        Some(number) => (number, true),
        None => (text, false),
    };
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let all = [whole, part].concat();
    let is_number = !whole.is_empty()
        && number.ends_with(|last: char| last.is_ascii_digit())
        && all.len() <= 24
        && all.bytes().all(|digit| digit.is_ascii_digit());
    let value: i128 = all.parse().ok().filter(|_| is_number)?;
    Some((if is_negative { -value } else { value }, part.len()))
}

/// A decimal number times `factor`, if that is whole.
fn whole(text: &str, factor: i128) -> Option<i128> {
    let (value, decimals) = digits(text)?;
    let scale = 10i128.checked_pow(u32::try_from(decimals).ok()?)?;
    let product = value.checked_mul(factor)?;
    (product % scale == 0).then_some(product / scale)
}

/// `value` over 10 to the power of `decimals`, without trailing zeros.
fn decimal(value: i128, decimals: usize) -> String {
    let sign = if value < 0 { "-" } else { "" };
    let padded = format!("{:0>width$}", value.unsigned_abs(), width = decimals + 1);
    let (whole, part) = padded.split_at(padded.len() - decimals);
    let part = part.trim_end_matches('0');
    match part {
        "" => format!("{sign}{whole}"),
        _ => format!("{sign}{whole}.{part}"),
    }
}

pub(crate) fn cores(text: &str) -> Result<Cores, &'static str> {
    let value = match text.strip_suffix('m') {
        Some(thousandths) => whole(thousandths, 1_000),
        None => whole(text, 1_000_000),
    };
    let value = value.and_then(|value| u64::try_from(value).ok());
    value.map(Cores).ok_or("cores, e.g. 4, 0.25 or 250m")
}

pub(crate) fn show_cores(cores: Cores) -> String {
    decimal(cores.0.into(), MILLIONTHS)
}

pub(crate) fn bytes(text: &str) -> Result<Bytes, &'static str> {
    const EXPECTED: &str = "memory with its unit (B, K, M, G, T, P or E), e.g. 64G or 1.5G";
    if text == "0" {
        return Ok(Bytes::ZERO);
    }
    let found = MEMORY
        .iter()
        .find_map(|(unit, power)| whole(text.strip_suffix(unit)?, 1 << power));
    let value = found.and_then(|value| u64::try_from(value).ok());
    value.map(Bytes).ok_or(EXPECTED)
}

pub(crate) fn show_bytes(bytes: Bytes) -> String {
    if bytes.is_zero() {
        return "0".into();
    }
    let divides = |power: u32| bytes.0.is_multiple_of(1u64 << power);
    let largest = MEMORY.iter().find(|(_, power)| divides(*power));
    largest.map_or_else(String::new, |(unit, power)| {
        format!("{}{unit}", bytes.0 >> power)
    })
}

/// Microseconds.
fn microseconds(text: &str) -> Result<i64, &'static str> {
    let found = TIMES
        .iter()
        .find_map(|(unit, seconds)| whole(text.strip_suffix(unit)?, seconds * 1_000_000));
    let value = found.and_then(|value| i64::try_from(value).ok());
    value.ok_or("a time with its unit (s, m, h or d), e.g. 90s or 1.5h")
}

pub(crate) fn span(text: &str) -> Result<Span, &'static str> {
    microseconds(text).map(Span)
}

pub(crate) fn show_span(span: Span) -> String {
    decimal(span.0.into(), MILLIONTHS) + "s"
}

pub(crate) fn time(text: &str) -> Result<Time, &'static str> {
    microseconds(text).map(Time)
}

pub(crate) fn show_time(time: Time) -> String {
    show_span(Span(time.0))
}

pub(crate) fn weight(text: &str) -> Result<Weight, &'static str> {
    let value = whole(text, 1_000).and_then(|value| u32::try_from(value).ok());
    value
        .map(Weight)
        .ok_or("a weight with at most three decimals, e.g. 1.5")
}

pub(crate) fn show_weight(weight: Weight) -> String {
    decimal(weight.0.into(), 3)
}

pub(crate) fn count(text: &str) -> Result<u32, &'static str> {
    text.parse().map_err(|_| "a whole number up to 4294967295")
}

pub(crate) fn amounts(text: &str) -> Result<Vec<Amount>, &'static str> {
    let amounts = text.split(',').map(|amount| amount.parse().map(Amount));
    let amounts: Result<_, _> = amounts.collect();
    amounts.map_err(|_| "whole numbers, e.g. 2 or 2,0,8")
}

pub(crate) fn show_amounts(amounts: &[Amount]) -> String {
    let texts: Vec<String> = amounts.iter().map(Amount::to_string).collect();
    texts.join(",")
}

/// Any number is read: that it is out of range is for the check of plans to say.
pub(crate) fn share(text: &str) -> Result<Yield, &'static str> {
    text.parse().map(Yield).map_err(|_| "a yield from 0 to 1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_exact_to_a_millionth() {
        for (text, value) in [
            ("4", 4_000_000),
            ("250m", 250_000),
            ("0.000001", 1),
            ("0", 0),
        ] {
            assert_eq!(cores(text), Ok(Cores(value)), "{text}");
        }
        for value in [0, 1, 250_000, 1_500_000, u64::MAX] {
            assert_eq!(cores(&show_cores(Cores(value))), Ok(Cores(value)));
        }
        assert_eq!(show_cores(Cores(1_250_000)), "1.25");
        for text in [
            "",
            "-1",
            "0.0000001",
            "1.",
            ".5",
            "4 ",
            "1e3",
            "m",
            "18446744073709.551616",
        ] {
            assert!(cores(text).is_err(), "{text}");
        }
    }

    #[test]
    fn memory_needs_a_unit_and_is_exact_to_a_byte() {
        let gibibytes = |count: u64| Ok(Bytes(count << 30));
        assert_eq!(bytes("64G"), gibibytes(64));
        assert_eq!(bytes("1.5K"), Ok(Bytes(1536)));
        assert_eq!(bytes("0"), Ok(Bytes(0)));
        let shown = [0, 1, 1536, 64 << 30, 3 << 20, u64::MAX].map(|value| show_bytes(Bytes(value)));
        assert_eq!(
            shown,
            ["0", "1B", "1536B", "64G", "3M", "18446744073709551615B"]
        );
        for text in [
            "64",
            "64g",
            "-1G",
            "0.3B",
            "16E",
            "G",
            "99999999999999999999999999E",
        ] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_are_exact_to_a_microsecond() {
        assert_eq!(span("1.5h"), Ok(Span::from_seconds(5400)));
        assert_eq!(time("-0.000001s"), Ok(Time(-1)));
        for value in [0, 1, -1, 90_000_000, i64::MIN, i64::MAX] {
            assert_eq!(span(&show_span(Span(value))), Ok(Span(value)));
        }
        assert_eq!(show_time(Time(90_250_000)), "90.25s");
        for text in ["90", "s", "--1s", "1.0000001s", "9999999999999999d"] {
            assert!(span(text).is_err(), "{text}");
        }
    }

    #[test]
    fn other_quantities_are_read_and_shown() {
        assert_eq!(weight("1.5"), Ok(Weight(1500)));
        assert_eq!(show_weight(Weight(1)), "0.001");
        assert_eq!(amounts("2,0"), Ok(vec![Amount(2), Amount(0)]));
        assert_eq!(show_amounts(&[Amount(2), Amount(0)]), "2,0");
        assert!(weight("1.0001").is_err());
        assert!(amounts("").is_err() && amounts("1,").is_err() && count("-1").is_err());
        assert_eq!(share("0.5"), Ok(Yield(0.5)));
        assert!(share("half").is_err());
    }
}
