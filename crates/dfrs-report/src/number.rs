//! Numbers for people.

/// So many decimals, thousands parted by commas; `–` for what is no finite number.
///
/// ```
/// assert_eq!(dfrs_report::decimals(12345.678, 1), "12,345.7");
/// ```
pub fn decimals(number: f64, places: usize) -> String {
    if !number.is_finite() {
        return "–".into();
    }
    let text = format!("{number:.places$}");
    // No -0.00.
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) if digits.chars().any(|digit| ('1'..='9').contains(&digit)) => ("−", digits),
        Some(digits) => ("", digits),
        None => ("", text.as_str()),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mut grouped = String::new();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    if fraction.is_empty() {
        format!("{sign}{grouped}")
    } else {
        format!("{sign}{grouped}.{fraction}")
    }
}

/// At least so many significant digits, and never fewer than those before the decimal point.
///
/// ```
/// assert_eq!(dfrs_report::significant(1633.2, 3), "1,633");
/// assert_eq!(dfrs_report::significant(0.04567, 3), "0.0457");
/// ```
pub fn significant(number: f64, digits: u32) -> String {
    if number == 0.0 || !number.is_finite() {
        return decimals(number, 0);
    }
    let before = number.abs().log10().floor();
    let places = f64::from(digits) - 1.0 - before;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 0 to 12
    decimals(number, places.clamp(0.0, 12.0) as usize)
}

/// A share as a percentage with one decimal: 0.349 is `34.9%`.
pub fn percent(share: f64) -> String {
    if share.is_finite() {
        decimals(share * 100.0, 1) + "%"
    } else {
        "–".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_parted() {
        assert_eq!(decimals(0.0, 2), "0.00");
        assert_eq!(decimals(999.0, 0), "999");
        assert_eq!(decimals(1000.0, 0), "1,000");
        assert_eq!(decimals(-1_234_567.0, 0), "−1,234,567");
        assert_eq!(decimals(-0.001, 2), "0.00");
        assert_eq!(decimals(-0.01, 2), "−0.01");
        assert_eq!(decimals(f64::NAN, 2), "–");
        assert_eq!(decimals(f64::INFINITY, 2), "–");
    }

    #[test]
    fn digits_follow_the_size() {
        assert_eq!(significant(4557.0, 3), "4,557");
        assert_eq!(significant(45.57, 3), "45.6");
        assert_eq!(significant(1.0, 3), "1.00");
        assert_eq!(significant(0.0, 3), "0");
        assert_eq!(significant(1e-30, 3), "0.000000000000");
        assert_eq!(percent(0.349), "34.9%");
        assert_eq!(percent(f64::NAN), "–");
    }
}
