//! Reading a journal.

use std::io::{self, BufRead, Read};

use dfrs_proto::journal::{EventKind, JournalEvent, VERSION};
use dfrs_proto::text::shortened;

/// The longest line that is read, in bytes: a platform of about a million nodes.
const MAX_LINE_BYTES: u64 = 64 << 20;

/// The longest name of a node and id of a job, in bytes.
const MAX_NAME_BYTES: usize = 256;

/// Why a line is no event; the text does not name the line, [`ReadError::line`] does.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The line is no event of this format.
    #[error("{what}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// The journal was written in a format that this program does not read.
    #[error("the journal has version {version}, this program reads version {VERSION}")]
    Version {
        /// Counted from 1.
        line: usize,
        /// The version of the journal.
        version: u32,
    },
    /// The input could not be read.
    #[error("cannot be read: {source}")]
    Io {
        /// Counted from 1.
        line: usize,
        /// What the system says.
        source: io::Error,
    },
}

impl ReadError {
    /// The line, counted from 1.
    pub fn line(&self) -> usize {
        match self {
            Self::Line { line, .. } | Self::Version { line, .. } | Self::Io { line, .. } => *line,
        }
    }
}

/// The events of a journal with their line numbers (from 1), one line in memory at a time. Events
/// that this program does not know are passed on as [`EventKind::Unknown`], empty lines are
/// skipped. A last line without a newline that is no event belongs to a journal that is still being
/// written, and is left out. Nothing follows an error.
#[derive(Debug)]
pub struct JournalReader<R> {
    input: R,
    line: usize,
    failed: bool,
}

impl<R: BufRead> JournalReader<R> {
    /// Reads from `input`.
    pub fn new(input: R) -> Self {
        Self {
            input,
            line: 0,
            failed: false,
        }
    }

    fn next_event(&mut self) -> Result<Option<JournalEvent>, ReadError> {
        let mut text = Vec::new();
        loop {
            text.clear();
            self.line += 1;
            let line = self.line;
            let mut input = (&mut self.input).take(MAX_LINE_BYTES);
            let length = input.read_until(b'\n', &mut text);
            let length = length.map_err(|source| ReadError::Io { line, source })?;
            if length == 0 {
                return Ok(None);
            }
            if text.trim_ascii().is_empty() {
                continue;
            }
            let whole = text.ends_with(b"\n");
            return match event(&text, line) {
                Err(ReadError::Line { .. }) if !whole && (length as u64) < MAX_LINE_BYTES => {
                    Ok(None)
                }
                result => result.map(Some),
            };
        }
    }
}

impl<R: BufRead> Iterator for JournalReader<R> {
    type Item = Result<(usize, JournalEvent), ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let result = self.next_event();
        self.failed = !matches!(result, Ok(Some(_)));
        result
            .map(|event| event.map(|event| (self.line, event)))
            .transpose()
    }
}

fn event(text: &[u8], line: usize) -> Result<JournalEvent, ReadError> {
    let event: JournalEvent = serde_json::from_slice(text).map_err(|error| ReadError::Line {
        line,
        what: explain(&error),
    })?;
    if let EventKind::Platform { version, .. } = event.kind
        && version != VERSION
    {
        return Err(ReadError::Version { line, version });
    }
    let bad_name = names(&event.kind).find(|name| !is_name(name));
    let what = bad_name.map(|name| {
        let name = shortened(name);
        format!("the name {name:?} is empty, too long or not printable; allowed are 1 to {MAX_NAME_BYTES} bytes")
    });
    match what {
        Some(what) => Err(ReadError::Line { line, what }),
        None => Ok(event),
    }
}

/// The names in an event: of the job that it is about, or of the nodes.
fn names(kind: &EventKind) -> impl Iterator<Item = &str> {
    let nodes = match kind {
        EventKind::Platform { nodes, .. } => nodes.as_slice(),
        _ => &[],
    };
    let nodes = nodes.iter().map(|node| node.name.as_str());
    kind.job().into_iter().chain(nodes)
}

fn is_name(name: &str) -> bool {
    (1..=MAX_NAME_BYTES).contains(&name.len()) && !name.chars().any(char::is_control)
}

/// serde's message without its own line number, which is always 1 here.
fn explain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or(&text);
    let (problem, column) = if error.is_data() {
        ("is no event", String::new())
    } else {
        ("is no JSON object", format!(" (column {})", error.column()))
    };
    let what = shortened(what);
    format!("{problem}: {what}{column}; a journal has one event as a JSON object on each line")
}
