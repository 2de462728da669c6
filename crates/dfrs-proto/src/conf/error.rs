//! What is wrong with a `dfrs.conf`.

use crate::text::shortened;

/// One mistake, where it is, and what to write instead; prints as one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {what}")]
pub struct ConfError {
    /// The name that the file was given.
    pub file: String,
    /// Line, counted from 1.
    pub line: usize,
    /// What is wrong there and what is allowed.
    pub what: String,
}

impl ConfError {
    /// Of a file whose name is not known yet. Control characters of the file stay out of the
    /// message: it is one line in a log.
    pub(super) fn at(line: usize, what: impl AsRef<str>) -> Self {
        let visible = |c: char| {
            if c.is_control() {
                char::REPLACEMENT_CHARACTER
            } else {
                c
            }
        };
        Self {
            file: String::new(),
            line,
            what: shortened(what.as_ref()).chars().map(visible).collect(),
        }
    }
}
