//! What one key of `dfrs.conf` is: its name, its documentation, how it is read.

/// A key that sets something of `Of`: of [`super::Config`], or of one [`super::Partition`].
///
/// Its declaration, in a file of [`super::keys`], says what the parser and its suggestions need;
/// docs/configuration.md and slurm-conf/dfrs.conf say what it means.
pub struct Key<Of: 'static> {
    /// The documented spelling; any case is read.
    pub name: &'static str,
    /// What holds where it is not given.
    pub preset: Preset<Of>,
    /// Puts the value of a text in place.
    ///
    /// # Errors
    ///
    /// What is wrong with the text and what is allowed, without the place.
    pub(super) read: fn(&mut Of, &GivenText) -> Result<(), String>,
}

/// What holds where a key is not given.
pub enum Preset<Of: 'static> {
    /// The value of this text.
    Text(&'static str),
    /// The value of the text that follows from the keys before it.
    Follows(fn(&Of) -> &'static str),
    /// What the keys before it have left.
    Left,
}

impl<Of> Preset<Of> {
    /// The text to read in place of one that is not given; none: nothing is read.
    pub(super) fn text(&self, so_far: &Of) -> Option<&'static str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Follows(text) => Some(text(so_far)),
            Self::Left => None,
        }
    }
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
