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

/// A mistake before the name of the file is known.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mistake {
    pub line: usize,
    pub what: String,
}

impl Mistake {
    /// Control characters of the file stay out of the message: it is one line in a log.
    pub fn new(line: usize, what: impl AsRef<str>) -> Self {
        let visible = |c: char| {
            if c.is_control() {
                char::REPLACEMENT_CHARACTER
            } else {
                c
            }
        };
        Self {
            line,
            what: shortened(what.as_ref()).chars().map(visible).collect(),
        }
    }

    pub fn in_file(self, file_name: &str) -> ConfError {
        ConfError {
            file: file_name.to_owned(),
            line: self.line,
            what: self.what,
        }
    }
}
