//! What a file is, before it is read.

use std::io::BufRead;

use dfrs_sim::trace::sacct::names_columns;
use dfrs_sim::trace::{TRACES, foreign_text};

/// What is read beside traces.
pub(super) const OR_A_DUMP: &str =
    ", or a dump of sacct --parsable2 with its header (docs/replay.md)";

/// The kinds of files that are distinguished before they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    Journal,
    Dump,
    Trace,
}

/// What the input is, of which nothing is consumed, or what it is that nothing here reads.
pub fn kind(input: &mut impl BufRead) -> Result<SourceKind, String> {
    let head = input.fill_buf();
    let head = head.map_err(|error| format!("cannot be read: {error}; is the file whole?"))?;
    if head.is_empty() {
        return Err(format!("is empty; expected is {TRACES}{OR_A_DUMP}"));
    }
    match foreign_text(head) {
        Some(what) => Err(what),
        None => Ok(kind_of(head)),
    }
}

/// The kind of a file that begins like this. Fields of a trace are few and have commas or blanks between them.
fn kind_of(head: &[u8]) -> SourceKind {
    const MIN_BARS: usize = 4;
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let head = head.trim_ascii_start();
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or(head);
    let bars = line.iter().filter(|byte| **byte == b'|').count();
    let has_bars = bars >= MIN_BARS || bars > 0 && !line.contains(&b',');
    match line.first() {
        Some(b'{') => SourceKind::Journal,
        Some(b';' | b'#') => SourceKind::Trace,
        _ if names_columns(line) || has_bars => SourceKind::Dump,
        _ => SourceKind::Trace,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_kind_is_detected_from_its_first_line() {
        for (head, expected) in [
            ("{\"t\":0,\"event\":\"platform\"}\n", SourceKind::Journal),
            ("\u{feff}\r\n{\"t\":0}\n", SourceKind::Journal),
            ("JobID|Submit|State\n", SourceKind::Dump),
            ("User;Submit;JobID;State\n", SourceKind::Dump),
            ("JobID        JobName\n", SourceKind::Dump),
            ("1|1000|1010|1100|1|cpu=1,mem=1G\n", SourceKind::Dump),
            ("a|b\n", SourceKind::Dump),
            ("a|b,0,1,1,1,5\n", SourceKind::Trace),
            ("; Note: a | b\n", SourceKind::Trace),
            (
                "1 0 0 10 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n",
                SourceKind::Trace,
            ),
            ("", SourceKind::Trace),
        ] {
            assert_eq!(kind_of(head.as_bytes()), expected, "{head}");
        }
    }
}
