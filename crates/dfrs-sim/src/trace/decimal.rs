//! Decimal numbers without rounding on the way.

/// `text` times ten to the power of `digits`, rounded to the nearest whole number (halves away from
/// zero). `None` if it is no finite decimal number or is out of range.
pub fn scaled(text: &[u8], digits: u32) -> Option<i64> {
    if let Some(value) = short_whole(text) {
        return value.checked_mul(10i64.checked_pow(digits)?);
    }
    let (negative, unsigned) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let mut value: i64 = 0;
    let mut seen = false;
    let mut after_point: Option<u32> = None;
    for (place, byte) in unsigned.iter().enumerate() {
        match (byte, after_point) {
            (b'0'..=b'9', _) => {
                seen = true;
                let digit = i64::from(byte - b'0');
                match after_point {
                    Some(count) if count > digits => continue,
                    Some(count) if count == digits => {
                        value = value.checked_add(i64::from(digit >= 5))?
                    }
                    _ => value = value.checked_mul(10)?.checked_add(digit)?,
                }
                after_point = after_point.map(|count| count + 1);
            }
            (b'.', None) => after_point = Some(0),
            (b'e' | b'E', _) if seen && place > 0 => return scaled_real(text, digits),
            _ => return None,
        }
    }
    if !seen {
        return None;
    }
    let missing = digits.saturating_sub(after_point.unwrap_or(0));
    let value = value.checked_mul(10i64.checked_pow(missing)?)?;
    Some(if negative { -value } else { value })
}

/// The value of a number that is whole, without rounding: 2, 2.0 and 2e0, but not 2.0004.
pub(super) fn whole(text: &[u8]) -> Option<i64> {
    if text.iter().any(|byte| matches!(byte, b'e' | b'E')) {
        let number: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
        return scaled(text, 0).filter(|_| number.fract() == 0.0);
    }
    let point = text.iter().position(|byte| *byte == b'.');
    let behind = point.map_or(&b""[..], |point| &text[point + 1..]);
    let is_whole = behind.iter().all(|digit| *digit == b'0');
    is_whole.then(|| scaled(text, 0)).flatten()
}

/// The value of 1 to 18 digits and nothing else, as most numbers of most files are.
fn short_whole(text: &[u8]) -> Option<i64> {
    if text.is_empty() || text.len() > 18 {
        return None;
    }
    text.iter().try_fold(0, |value: i64, byte| {
        let digit = byte.wrapping_sub(b'0');
        (digit < 10).then(|| value * 10 + i64::from(digit))
    })
}

/// The value of a number with an exponent.
fn scaled_real(text: &[u8], digits: u32) -> Option<i64> {
    let number: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    let value = (number * 10f64.powi(i32::try_from(digits).ok()?)).round();
    #[allow(clippy::cast_possible_truncation)] // in range, as just checked
    (value.abs() < 9e18).then_some(value as i64)
}

#[cfg(test)]
mod tests {
    use super::{scaled, whole};

    #[test]
    fn fraction_is_no_whole_number() {
        assert_eq!(whole(b"2"), Some(2));
        assert_eq!(whole(b"-1"), Some(-1));
        assert_eq!(whole(b"2.000"), Some(2));
        assert_eq!(whole(b"2."), Some(2));
        assert_eq!(whole(b"1e3"), Some(1_000));
        assert_eq!(whole(b"25e-1"), None);
        for text in [
            "2.0004",
            "0.9999999999",
            "3.7",
            "2.0.0",
            "",
            ".",
            "x",
            "1e99",
        ] {
            assert_eq!(whole(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn decimals_are_exact_and_rounded_once() {
        assert_eq!(scaled(b"12", 6), Some(12_000_000));
        assert_eq!(scaled(b"-1", 6), Some(-1_000_000));
        assert_eq!(scaled(b"+0.1", 12), Some(100_000_000_000));
        assert_eq!(scaled(b"0.1234565", 6), Some(123_457));
        assert_eq!(scaled(b"0.12345649999", 6), Some(123_456));
        assert_eq!(scaled(b"0.999999999", 6), Some(1_000_000));
        assert_eq!(scaled(b".5", 1), Some(5));
        assert_eq!(scaled(b"5.", 0), Some(5));
        assert_eq!(scaled(b"1e-05", 6), Some(10));
        assert_eq!(scaled(b"2.5E2", 0), Some(250));
    }

    #[test]
    fn malformed_number_is_none() {
        for text in [
            "", "-", ".", "1.2.3", "nan", "inf", "0x10", "1 2", "e5", "1e999", "--1", "1-",
        ] {
            assert_eq!(scaled(text.as_bytes(), 6), None, "{text:?}");
        }
        assert_eq!(scaled(b"99999999999999999999", 0), None);
        assert_eq!(scaled(b"9999999999999", 6 + 6), None);
    }
}
