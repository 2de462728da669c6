//! What must hold of any input from any source: a clear error or a right result, never a panic.
//!
//! Each function takes one input and panics if something does not hold. The fuzz targets in `fuzz/`
//! call them with what libFuzzer comes up with, the tests of this crate with mutations of `seeds/`.
#![forbid(unsafe_code)]

mod proto;
mod scenario;
mod simulation;
mod traces;

pub use proto::{conf, journal, message};
pub use scenario::scenario;
pub use simulation::simulation;
pub use traces::{csv, policy, sacct, swf};

/// The longest error, in bytes. A line of a log or a terminal stays readable.
const MAX_ERROR_BYTES: usize = 2000;

/// An error is one line of bounded length without control characters.
fn is_clear(error: &impl std::fmt::Display) {
    let text = error.to_string();
    assert!(!text.is_empty());
    assert!(
        text.len() <= MAX_ERROR_BYTES,
        "{} bytes: {}",
        text.len(),
        &text[..200]
    );
    assert!(!text.chars().any(char::is_control), "{text:?}");
}
