//! A [`Config`] as the text of a `dfrs.conf`.

use std::fmt;
use std::path::Path;

use dfrs_core::Span;

use super::keys::{GLOBAL_KEYS, PARTITION_KEYS};
use super::value::{NONE, UNLIMITED};
use super::{Config, Partition};

/// Every key with its value, defaults too; [`Config::parse`] reads it back to the same value.
impl fmt::Display for Config {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for key in GLOBAL_KEYS {
            if let Some(value) = (key.show)(self) {
                writeln!(out, "{}={value}", key.name)?;
            }
        }
        self.partitions
            .iter()
            .try_for_each(|partition| writeln!(out, "{partition}"))
    }
}

/// Its line.
impl fmt::Display for Partition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs = PARTITION_KEYS.iter().filter_map(|key| {
            let value = (key.show)(self)?;
            Some(format!("{}={value}", key.name))
        });
        out.write_str(&Vec::from_iter(pairs).join(" "))
    }
}

pub(super) fn path(path: Option<&Path>) -> String {
    quoted(&path.map_or(NONE.into(), Path::to_string_lossy))
}

pub(super) fn or_unlimited(limit: Option<impl fmt::Display>) -> String {
    limit.map_or(UNLIMITED.into(), |limit| limit.to_string())
}

pub(super) fn whole_seconds(span: Span) -> String {
    (span.0 / 1_000_000).to_string()
}

/// In quotes, so that blanks stay; with a backslash before what the reader would act on.
pub(super) fn quoted(text: &str) -> String {
    let mut result = String::from('"');
    for c in text.chars() {
        if matches!(c, '"' | '\\' | '#' | '\n') {
            result.push('\\');
        }
        result.push(c);
    }
    result.push('"');
    result
}
