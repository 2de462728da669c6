//! What one key of `dfrs.conf` is: its name, its documentation, how it is read and printed.

use dfrs_core::PolicySetting;

/// A key that sets something of `Of`: of [`super::Config`], or of one [`super::Partition`].
///
/// Everything about a key is in its declaration, in a file of [`super::keys`]: the parser, the
/// printer, the suggestions, the tables of docs/configuration.md and slurm-conf/dfrs.conf follow.
pub struct Key<Of: 'static> {
    /// The documented spelling; any case is read.
    pub name: &'static str,
    /// What it is for.
    pub purpose: KeyPurpose,
    /// What can be written, with unit and range, as a cell of a Markdown table.
    pub values: &'static str,
    /// What holds where it is not given.
    pub preset: Preset<Of>,
    /// What it means, in sentences, as a cell of a Markdown table. Links are relative to docs/.
    pub meaning: &'static str,
    /// Its part of slurm-conf/dfrs.conf; none for studies, and where another key's part shows it.
    pub sample: Option<KeySample>,
    /// Puts the value of a text in place.
    ///
    /// # Errors
    ///
    /// What is wrong with the text and what is allowed, without the place.
    pub(super) read: fn(&mut Of, &GivenText) -> Result<(), String>,
    /// The value as text that is read to the same value; none: it is not printed.
    pub(super) show: fn(&Of) -> Option<String>,
}

/// What a key is for.
#[derive(Clone, Copy)]
pub enum KeyPurpose {
    /// The operation of a cluster.
    Operation,
    /// Studies of policies other than the default one: this setting of them.
    Study(&'static PolicySetting),
}

/// What holds where a key is not given.
pub enum Preset<Of: 'static> {
    /// The value of this text.
    Text(&'static str),
    /// What follows from the keys before it.
    Follows {
        /// In words, as a cell of a Markdown table.
        words: &'static str,
        /// As text.
        text: fn(&Of) -> &'static str,
    },
    /// What the keys before it have left; in words, as a cell of a Markdown table.
    Left(&'static str),
}

impl<Of> Preset<Of> {
    /// The text to read in place of one that is not given; none: nothing is read.
    pub(super) fn text(&self, so_far: &Of) -> Option<&'static str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Follows { text, .. } => Some(text(so_far)),
            Self::Left(_) => None,
        }
    }
}

/// What a key has in slurm-conf/dfrs.conf.
pub struct KeySample {
    /// What is said of it above, in one line of any length.
    pub comment: &'static str,
    /// The line itself, with `#` in front if it only shows the default.
    pub line: &'static str,
}

/// A value as text, and what may be said of it.
#[derive(Clone, Copy)]
pub(super) struct GivenText<'a> {
    /// The name of its key.
    pub key: &'static str,
    pub text: &'a str,
}

#[cfg(test)]
pub(super) mod testing {
    use crate::conf::Config;

    /// The configuration with these lines, and one partition `a`.
    pub fn config(lines: &str) -> Config {
        let text = format!("Partition=a\n{lines}");
        Config::parse(&text, "f").unwrap_or_else(|error| panic!("{error}"))
    }

    /// What is printed for a key of it, or of partition `a`, without quotes.
    pub fn printed(lines: &str, key: &str) -> String {
        let text = config(lines).to_string();
        let words = text.lines().flat_map(|line| line.split(' '));
        let mut values = words.filter_map(|word| word.strip_prefix(key)?.strip_prefix('='));
        let value = values
            .next_back()
            .unwrap_or_else(|| panic!("no {key} in {text}"));
        value.trim_matches('"').to_owned()
    }

    /// What is wrong with these lines, without their place.
    pub fn mistake(lines: &str) -> String {
        let text = format!("Partition=a\n{lines}");
        Config::parse(&text, "f").expect_err(lines).what
    }

    /// What is wrong with partition `a` with these keys.
    pub fn partition_mistake(keys: &str) -> String {
        let text = format!("Partition=a {keys}");
        Config::parse(&text, "f").expect_err(keys).what
    }
}
