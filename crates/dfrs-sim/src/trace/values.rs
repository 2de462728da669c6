//! Values of fields in range, and what a field holds for messages.

use std::fmt::Display;

use super::decimal::scaled;
use super::{MAX_SECONDS, MAX_TASKS};

/// A number of tasks in range; `what` begins the message.
pub(super) fn tasks_of(count: i64, what: &str) -> Result<u32, String> {
    u32::try_from(count)
        .ok()
        .filter(|tasks| (1..=MAX_TASKS).contains(tasks))
        .ok_or_else(|| format!("{what} {count}, allowed are 1 to {MAX_TASKS}"))
}

/// Seconds as microseconds, in range.
pub(super) fn seconds_of(text: &[u8], what: impl Display) -> Result<i64, String> {
    let max = MAX_SECONDS * 1_000_000;
    scaled(text, 6)
        .filter(|microseconds| (0..=max).contains(microseconds))
        .ok_or_else(|| {
            format!(
                "{what} is {}, allowed are 0 to {MAX_SECONDS} s",
                shown(text)
            )
        })
}

/// What a field holds, short enough for a message.
pub(super) fn shown(text: &[u8]) -> String {
    let short = &text[..text.len().min(24)];
    format!("{:?}", String::from_utf8_lossy(short))
}
