//! `KEY=VALUE` on a line, as Slurm's parser takes it (`keyvalue_pattern` of parse_config.c, Slurm 24.11).

use std::ops::Range;

/// One of them.
#[derive(Debug, PartialEq, Eq)]
pub struct ConfPair<'a> {
    pub key: &'a str,
    /// Without quotes.
    pub value: &'a str,
    /// From the key to the end of the value, in the line.
    pub range: Range<usize>,
}

/// The pair at the beginning of a line.
pub fn first(line: &str) -> Option<ConfPair<'_>> {
    at(line, 0)
}

/// All pairs from here on, and where the first thing begins that is none.
pub fn all(line: &str, from: usize) -> (Vec<ConfPair<'_>>, usize) {
    let mut pairs = Vec::new();
    let mut next = from;
    while let Some(pair) = at(line, next) {
        next = pair.range.end;
        pairs.push(pair);
    }
    (pairs, next)
}

/// Spaces may be on both sides of `=`, and values of several words are in quotes. A value that is missing is
/// the next word, whatever it is.
fn at(line: &str, from: usize) -> Option<ConfPair<'_>> {
    let rest = line.get(from..)?;
    let begin = from + rest.len() - rest.trim_start().len();
    let text = line.get(begin..)?;
    let is_of_key = |character: char| character.is_ascii_alphanumeric() || "_.".contains(character);
    let key = &text[..text.find(|it| !is_of_key(it)).unwrap_or(text.len())];
    let after_key = text[key.len()..].trim_start();
    let after_sign = after_key.strip_prefix(['-', '+', '*', '/']);
    let after_equals = after_sign.unwrap_or(after_key).strip_prefix('=')?;
    let value_text = after_equals.trim_start();
    if key.is_empty() || value_text.is_empty() {
        return None;
    }
    let value_at = line.len() - value_text.len();
    let (value, length) = quoted(value_text).unwrap_or_else(|| {
        let word = value_text.split_whitespace().next().unwrap_or("");
        (word, word.len())
    });
    Some(ConfPair {
        key,
        value,
        range: begin..value_at + length,
    })
}

/// What is between quotes, and its length with them. They end at a space.
fn quoted(text: &str) -> Option<(&str, usize)> {
    let (value, after) = text.strip_prefix('"')?.split_once('"')?;
    let ends = after.is_empty() || after.starts_with(char::is_whitespace);
    ends.then_some((value, value.len() + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> (Vec<(&str, &str)>, &str) {
        let (pairs, end) = all(line, 0);
        let pairs = pairs.iter().map(|pair| (pair.key, pair.value)).collect();
        (pairs, line[end..].trim())
    }

    #[test]
    fn pairs_are_read_as_slurm_reads_them() {
        for (line, pairs, rest) in [
            (
                "A=1 B = 2\tC= 3",
                &[("A", "1"), ("B", "2"), ("C", "3")][..],
                "",
            ),
            (
                "Reason=\"a b=c\" D=4",
                &[("Reason", "a b=c"), ("D", "4")],
                "",
            ),
            ("A=\"\"", &[("A", "")], ""),
            ("A=x\"y z", &[("A", "x\"y")], "z"),
            ("A=\"y\"z B=1", &[("A", "\"y\"z"), ("B", "1")], ""),
            ("A+=1 B=x=y", &[("A", "1"), ("B", "x=y")], ""),
            ("A=b, c", &[("A", "b,")], "c"),
            ("A= ", &[], "A="),
            ("A= B=1", &[("A", "B=1")], ""),
            ("é=1", &[], "é=1"),
            ("A=é B=1", &[("A", "é"), ("B", "1")], ""),
            ("", &[], ""),
        ] {
            assert_eq!(read(line), (pairs.to_vec(), rest), "{line}");
        }
    }
}
