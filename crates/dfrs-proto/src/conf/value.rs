//! Values of single keys. Errors say what is allowed, without the place, which the caller knows.

use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;

use dfrs_core::{PolicySetting, Settings, Span};

use super::key::GivenText;
use super::suggest;

/// The words of an option and what they mean.
pub(super) type Keywords<T> = [(&'static str, T)];

/// The word for nothing.
pub(super) const NONE: &str = "none";

/// The word for no limit.
pub(super) const UNLIMITED: &str = "unlimited";

/// A day, in seconds.
pub(super) const DAY: i64 = 86_400;

/// A week, in seconds.
pub(super) const WEEK: i64 = 604_800;

impl GivenText<'_> {
    /// What the word means, in any case.
    pub fn word<T: Copy>(&self, words: &Keywords<T>) -> Result<T, String> {
        let (key, text) = (self.key, self.text);
        if let Some((_, meaning)) = words
            .iter()
            .find(|(word, _)| word.eq_ignore_ascii_case(text))
        {
            return Ok(*meaning);
        }
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        Err(format!(
            "{key}={text} is not known; {}",
            suggest::hint(text, &known)
        ))
    }

    /// A whole number of `what` within these bounds.
    pub fn number<T>(&self, what: &str, min: T, max: T) -> Result<T, String>
    where
        T: FromStr + PartialOrd + Display,
    {
        let (key, text) = (self.key, self.text);
        let number = text.parse().ok();
        let number = number.filter(|number| (&min..=&max).contains(&number));
        number.ok_or_else(|| format!("{key}={text} is wrong; allowed: {what} from {min} to {max}"))
    }

    /// Whole seconds within these bounds.
    pub fn seconds(&self, min: i64, max: i64) -> Result<Span, String> {
        let seconds = self.number("whole seconds", min, max);
        seconds.map(Span::from_seconds)
    }

    /// An absolute path that is `good`, of `what` it has to be; `None` by the word for nothing.
    pub fn path(&self, what: &str, good: fn(&str) -> bool) -> Result<Option<PathBuf>, String> {
        let (key, text) = (self.key, self.text);
        if text.eq_ignore_ascii_case(NONE) {
            return Ok(None);
        }
        if text.starts_with('/') && good(text) {
            return Ok(Some(PathBuf::from(text)));
        }
        Err(format!(
            "{key}={text} is wrong; allowed: {what} absolute path, or {NONE}"
        ))
    }

    /// Puts the value of a setting of policies in place.
    pub fn setting(&self, setting: &PolicySetting, to: &mut Settings) -> Result<(), String> {
        let (key, text) = (self.key, self.text);
        (setting.read)(to, text).map_err(|allowed| format!("{key}={text} is wrong; {allowed}"))
    }

    /// What `limit` makes of the value; `None`, by its word: no limit.
    pub fn or_unlimited<T>(
        &self,
        limit: fn(&Self) -> Result<T, String>,
    ) -> Result<Option<T>, String> {
        if self.text.eq_ignore_ascii_case(UNLIMITED) {
            return Ok(None);
        }
        limit(self)
            .map(Some)
            .map_err(|error| format!("{error}, or {UNLIMITED}"))
    }
}

/// Puts a value that was read in place.
pub(super) fn set<T>(place: &mut T, value: Result<T, String>) -> Result<(), String> {
    *place = value?;
    Ok(())
}
