//! Values of options that several commands have.

use dfrs_core::Span;
use dfrs_sim::trace::MAX_SECONDS;

/// Seconds, 0 or more.
///
/// # Errors
///
/// What is allowed.
pub fn seconds(text: &str) -> Result<Span, String> {
    match text.parse::<f64>() {
        #[allow(clippy::cast_possible_truncation)] // in range
        Ok(number) if (0.0..=MAX_SECONDS as f64).contains(&number) => {
            Ok(Span((number * 1e6).round() as i64))
        }
        _ => Err(format!("allowed: seconds, from 0 to {MAX_SECONDS}")),
    }
}

/// The shortest time between remaps: each of them looks at all jobs.
const MIN_PERIOD: Span = Span::from_seconds(1);

/// A time between remaps.
///
/// # Errors
///
/// What is allowed.
pub fn period(text: &str) -> Result<Span, String> {
    match seconds_above_0(text)? {
        span if span < MIN_PERIOD => Err("allowed: seconds, at least 1".into()),
        span => Ok(span),
    }
}

/// Seconds, more than 0.
///
/// # Errors
///
/// What is allowed.
pub fn seconds_above_0(text: &str) -> Result<Span, String> {
    match seconds(text)? {
        Span::ZERO => Err("allowed: seconds, above 0".into()),
        span => Ok(span),
    }
}
