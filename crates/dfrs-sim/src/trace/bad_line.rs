//! Lines that no reader takes.

/// How many of the malformed lines are kept to be reported.
pub(super) const MAX_REPORTED: usize = 100;

/// A malformed line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct BadLine {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong, and what is expected.
    pub what: String,
}
