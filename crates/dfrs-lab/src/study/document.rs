//! The file of a study as TOML, of which every value knows where it stands.

use std::fmt::Display;
use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The text of a file.
#[derive(Clone, Copy)]
pub struct Document<'a> {
    pub path: &'a Path,
    pub text: &'a str,
}

/// A single value, whatever its type, as an option of a command would get it.
#[derive(Clone, Debug)]
pub struct StudyValue {
    pub text: String,
    pub span: Range<usize>,
}

impl<'a> Document<'a> {
    pub fn table(&self) -> Result<Spanned<DeTable<'a>>, String> {
        DeTable::parse(self.text).map_err(|error| {
            let what = error.message().lines().collect::<Vec<_>>().join("; ");
            let what = format!("is no TOML: {what}");
            match error.span() {
                Some(span) => self.refuse(&span, what),
                None => format!("{}: {what}", self.path.display()),
            }
        })
    }

    /// One line about what stands there.
    pub fn refuse(&self, span: &Range<usize>, what: impl Display) -> String {
        let before = &self.text.as_bytes()[..span.start.min(self.text.len())];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        format!("{}:{line}: {what}", self.path.display())
    }

    /// The entries of a table in the order of the file; `known` are the names that it may have, `what` is
    /// what the table is.
    pub fn entries<'t>(
        &self,
        what: &str,
        table: &'t DeTable<'a>,
        known: &[&str],
    ) -> Result<Vec<(&'t str, &'t Spanned<DeValue<'a>>)>, String> {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(name, _)| name.span().start);
        if let Some((name, _)) = entries
            .iter()
            .find(|(name, _)| !known.contains(&name.get_ref().as_ref()))
        {
            let (span, name) = (name.span(), name.get_ref());
            let known = known.join(", ");
            return Err(self.refuse(
                &span,
                format!("{what} has no entry of the name {name}; allowed: {known}"),
            ));
        }
        let entries = entries.into_iter();
        Ok(entries
            .map(|(name, value)| (name.get_ref().as_ref(), value))
            .collect())
    }

    /// One value or a list of them; a list has at least one.
    pub fn items(
        &self,
        name: &str,
        value: &Spanned<DeValue<'a>>,
    ) -> Result<Vec<StudyValue>, String> {
        match value.get_ref() {
            DeValue::Array(values) if values.is_empty() => Err(self.refuse(
                &value.span(),
                format!("{name} is an empty list; give it a value, or leave it out"),
            )),
            DeValue::Array(values) => values.iter().map(|value| self.item(name, value)).collect(),
            _ => Ok(vec![self.item(name, value)?]),
        }
    }

    /// One value.
    pub fn item(&self, name: &str, value: &Spanned<DeValue<'a>>) -> Result<StudyValue, String> {
        let span = value.span();
        let text = match value.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(number) if number.radix() == 10 => number.as_str().replace('_', ""),
            DeValue::Float(number) => number.as_str().replace('_', ""),
            DeValue::Boolean(is_set) => is_set.to_string(),
            other => {
                let what = other.type_str();
                let what = format!(
                    "{name} is of the type {what}; allowed: a text, a number, true or false, or a list of them"
                );
                return Err(self.refuse(&span, what));
            }
        };
        Ok(StudyValue { text, span })
    }
}
