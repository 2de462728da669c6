//! What is wrong with a text.

/// Why a text is no scenario file: where, what, and what to do, in one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {what}")]
pub struct ScenarioError {
    /// The file, as the caller named it.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong, and what to do.
    pub what: String,
}

/// How many characters of a word are shown.
const MAX_SHOWN: usize = 40;

/// A word from the input, for an error: between quotes, without control characters, shortened.
pub(crate) fn shown(word: &str) -> String {
    let mut text: String = word
        .chars()
        .take(MAX_SHOWN)
        .flat_map(char::escape_debug)
        .collect();
    if word.chars().nth(MAX_SHOWN).is_some() {
        text += "...";
    }
    format!("'{text}'")
}
