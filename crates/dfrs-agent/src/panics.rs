//! Panics that are caught where they do least harm.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Does it. What it had changed when it panicked stays as it was then.
///
/// # Errors
///
/// The panic, in one line.
pub fn caught<T>(act: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(act))
        .map_err(|panic| format!("internal error: {}", panic_text(panic.as_ref())))
}

/// The text of a panic.
pub fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let literal = panic.downcast_ref::<&str>().copied();
    literal
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("unknown panic")
}
