//! Rust values for C, and C's for Rust.

use std::ffi::{CStr, CString, c_char, c_int};

use dfrs_agent::slurm::port::SlurmError;

use super::bindings;

/// Longest path or message that the shim hands out.
pub(super) const TEXT_SIZE: usize = 4096;

/// What a function of the shim that returns 0 or a Slurm error number has answered.
pub(super) fn result(code: c_int) -> Result<(), SlurmError> {
    if code == 0 { Ok(()) } else { Err(error(code)) }
}

/// This Slurm error number, with Slurm's text for it.
pub(super) fn error(code: c_int) -> SlurmError {
    // SAFETY: Slurm returns a pointer to a constant or thread-local NUL-terminated text that stays
    // valid until this thread's next call.
    let text = unsafe { text_at(bindings::dfrs_strerror(code)) };
    SlurmError { code, text }
}

/// # Safety
///
/// `pointer` is null or points to a NUL-terminated text that is not changed during the call.
pub(super) unsafe fn text_at(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(pointer) }
        .to_string_lossy()
        .into_owned()
}

/// A C string of what comes before any NUL.
pub(super) fn c_string(text: &str) -> CString {
    let text = text.split('\0').next().unwrap_or_default();
    CString::new(text).unwrap_or_default()
}

/// A C string of these names.
pub(super) fn comma_separated(names: &[String]) -> CString {
    c_string(&names.join(","))
}

/// Has `fill` write a text into a buffer of this size; returns what it returned, and the text.
pub(super) fn filled<R>(size: usize, fill: impl FnOnce(*mut c_char, usize) -> R) -> (R, String) {
    let mut room = vec![0_u8; size.max(1)];
    let returned = fill(room.as_mut_ptr().cast(), room.len());
    let end = room
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(room.len());
    (returned, String::from_utf8_lossy(&room[..end]).into_owned())
}

/// Lengths for C. More than 4 G elements do not occur; they would be cut, never overrun.
pub(super) fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
