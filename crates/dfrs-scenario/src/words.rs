//! Lines as words, and words as settings.

use std::fmt::Display;

use crate::error::shown;

/// The most settings of a line.
const MAX_SETTINGS: usize = 32;

/// How much a file may describe, so that a few lines cannot fill the memory: a node or a job counts
/// as [`SizeBudget::ITEM`], a node that is listed again as 1. Enough for 26,000 jobs that each list
/// 2,000 nodes.
pub(crate) struct SizeBudget(u64);

impl Default for SizeBudget {
    fn default() -> Self {
        Self(1 << 27)
    }
}

impl SizeBudget {
    /// What a node or a job counts as.
    const ITEM: u64 = 128;

    /// Counts so many things that are listed.
    pub(crate) fn take_many(&mut self, count: u64) -> Result<(), String> {
        let left = self.0.checked_sub(count);
        self.0 = left.ok_or("too much is described; split the file, or make its lists shorter")?;
        Ok(())
    }

    /// Counts so many nodes or jobs.
    pub(crate) fn take_items(&mut self, count: u64) -> Result<(), String> {
        self.take_many(count.saturating_mul(Self::ITEM))
    }
}

/// The words of a line. White space between double quotes separates nothing.
pub(crate) fn words(line: &str) -> Result<Vec<&str>, String> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    let words = line.split(|letter: char| {
        let was_escaped = std::mem::take(&mut is_escaped);
        match letter {
            '\\' if is_quoted => is_escaped = !was_escaped,
            '"' if !was_escaped => is_quoted = !is_quoted,
            _ => {}
        }
        letter.is_whitespace() && !is_quoted
    });
    let words = words.filter(|word| !word.is_empty()).collect();
    match is_quoted {
        true => Err("a quote is opened and not closed".into()),
        false => Ok(words),
    }
}

/// What the word means by the table.
pub(crate) fn meaning<T: Copy>(table: &[(&str, T)], word: &str) -> Option<T> {
    let found = table.iter().find(|(known, _)| *known == word);
    found.map(|(_, meaning)| *meaning)
}

/// The word that means this by the table.
pub(crate) fn word<T: PartialEq>(table: &[(&'static str, T)], meaning: T) -> Option<&'static str> {
    let found = table.iter().find(|(_, known)| *known == meaning);
    found.map(|(word, _)| *word)
}

/// The settings of a line, `key=value` or just `key`; what is not taken is not known.
pub(crate) struct Fields<'a> {
    left: Vec<(&'a str, Option<&'a str>)>,
    /// The keys that were looked up.
    known: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(words: &[&'a str]) -> Result<Self, String> {
        if words.len() > MAX_SETTINGS {
            return Err(format!(
                "more than {MAX_SETTINGS} settings in one line; no line has so many"
            ));
        }
        let split = |word: &&'a str| match word.split_once('=') {
            Some((key, value)) => (key, Some(value)),
            None => (*word, None),
        };
        let left: Vec<_> = words.iter().map(split).collect();
        for (index, (key, _)) in left.iter().enumerate() {
            if left[..index].iter().any(|(other, _)| other == key) {
                return Err(format!("{} is given twice; leave one", shown(key)));
            }
        }
        let known = Vec::new();
        Ok(Self { left, known })
    }

    fn take(&mut self, key: &'static str) -> Option<Option<&'a str>> {
        self.known.push(key);
        let index = self.left.iter().position(|(left, _)| *left == key)?;
        Some(self.left.remove(index).1)
    }

    /// The text of a setting, if it is there.
    pub(crate) fn text(&mut self, key: &'static str) -> Result<Option<&'a str>, String> {
        match self.take(key) {
            None => Ok(None),
            Some(Some(value)) => Ok(Some(value)),
            Some(None) => Err(format!("'{key}' has no value; write {key}=...")),
        }
    }

    /// The value of a setting, if it is there.
    pub(crate) fn value<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&'a str) -> Result<T, &'static str>,
    ) -> Result<Option<T>, String> {
        let Some(text) = self.text(key)? else {
            return Ok(None);
        };
        let value = read(text);
        let explained =
            value.map_err(|expected| format!("'{key}' is {}, but must be {expected}", shown(text)));
        explained.map(Some)
    }

    /// The value of a setting, or the one that is not written.
    pub(crate) fn value_or_default<T: Default>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&'a str) -> Result<T, &'static str>,
    ) -> Result<T, String> {
        Ok(self.value(key, read)?.unwrap_or_default())
    }

    /// The value of a setting that must be there.
    pub(crate) fn required<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&'a str) -> Result<T, &'static str>,
    ) -> Result<T, String> {
        self.value(key, read)?
            .ok_or_else(|| format!("'{key}' is missing; add {key}=..."))
    }

    /// Whether a word without a value is there.
    pub(crate) fn flag(&mut self, key: &'static str) -> Result<bool, String> {
        match self.take(key) {
            None => Ok(false),
            Some(None) => Ok(true),
            Some(Some(_)) => Err(format!("'{key}' takes no value; write just {key}")),
        }
    }

    /// Refuses keys that were not looked up.
    pub(crate) fn finish(self) -> Result<(), String> {
        match self.left.first() {
            None => Ok(()),
            Some((key, _)) => {
                let known = self.known.join(", ");
                Err(format!("{} is not known; known are {known}", shown(key)))
            }
        }
    }
}

/// The words of a line that is written; [`Fields`] reads them.
#[derive(Default)]
pub(crate) struct WrittenLine(Vec<String>);

impl WrittenLine {
    /// A word without a value, if it is to be there.
    pub(crate) fn flag(&mut self, word: &str, is_there: bool) {
        if is_there {
            self.0.push(word.into());
        }
    }

    /// The value of a setting, if there is one.
    pub(crate) fn value(&mut self, key: &str, value: Option<impl Display>) {
        self.0.extend(value.map(|value| format!("{key}={value}")));
    }

    /// The value of a setting, unless it is the one that counts where none is written.
    pub(crate) fn value_unless<T: PartialEq, D: Display>(
        &mut self,
        implied: T,
        key: &str,
        value: T,
        show: impl FnOnce(T) -> D,
    ) {
        self.value(key, (value != implied).then(|| show(value)));
    }

    /// The whole line.
    pub(crate) fn text(&self) -> String {
        self.0.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_keep_words_together() {
        assert_eq!(
            words(" a  b=\"c \\\" d\" e\t").unwrap(),
            ["a", "b=\"c \\\" d\"", "e"]
        );
        assert!(words("a \"b").is_err());
    }

    #[test]
    fn settings_are_taken_once_and_none_is_left() {
        let mut fields = Fields::new(&["a=1", "b", "c"]).unwrap();
        assert_eq!(fields.value("a", |text| Ok(text.len())), Ok(Some(1)));
        assert_eq!(fields.flag("b"), Ok(true));
        assert_eq!(fields.text("d"), Ok(None));
        let error = fields.finish().unwrap_err();
        assert_eq!(error, "'c' is not known; known are a, b, d");
        assert!(Fields::new(&["a", "a=1"]).is_err());
        let mut fields = Fields::new(&["a", "b=1"]).unwrap();
        assert_eq!(
            fields.text("a").unwrap_err(),
            "'a' has no value; write a=..."
        );
        assert_eq!(
            fields.flag("b").unwrap_err(),
            "'b' takes no value; write just b"
        );
        let missing = fields.required("c", Ok).unwrap_err();
        assert_eq!(missing, "'c' is missing; add c=...");
        let mut fields = Fields::new(&["a=x"]).unwrap();
        let wrong = fields.required::<u8>("a", |_| Err("a number")).unwrap_err();
        assert_eq!(wrong, "'a' is 'x', but must be a number");
    }
}
