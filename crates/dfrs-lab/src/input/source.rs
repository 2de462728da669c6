//! What is replayed, from whatever file.

pub mod accounting;
mod journal;
mod kind;
mod left_out;
mod replay_file;
mod replay_source;
mod trace;

use std::fmt::Write;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use dfrs_sim::trace::decompressed;

use crate::runs::progress;

pub use kind::{SourceKind, kind, trace_error_text};
pub use left_out::LeftOutCount;
pub use replay_file::ReplayFile;
pub use replay_source::{JournalFacts, ReplaySource};

/// What files that are no traces are called.
pub const DUMP: &str = "a dump of sacct";
const JOURNAL: &str = "a journal";

/// Reads the file, whatever it is.
pub fn read_file(wanted: &ReplayFile) -> Result<ReplaySource, String> {
    let file = wanted.file.display();
    let mut input = open_all(wanted.earlier, wanted.file)?;
    let kind = kind(&mut input).map_err(|error| format!("{file}: {error}"))?;
    let no_swf = |what| wanted.model.for_no_swf(what);
    let no_dump = |mut source: ReplaySource| {
        wanted.site.for_no_dump(source.kind)?;
        if let Some(note) = wanted.site.note_for_no_dump() {
            let _ = writeln!(source.warnings, "{file}: note: {note}"); // a String takes all
        }
        Ok(source)
    };
    let source = match kind {
        SourceKind::Journal => no_swf(JOURNAL)
            .and_then(|()| journal::read(wanted, input))
            .and_then(no_dump),
        SourceKind::Dump => {
            let site = (wanted.site, wanted.nodes);
            no_swf(DUMP).and_then(|()| accounting::read(wanted.file, input, site, wanted.strict))
        }
        SourceKind::Trace => trace::read(wanted, input).and_then(no_dump),
    };
    let mut source = source.map_err(|error| format!("{file}: {error}"))?;
    source.refuse_overload(wanted)?;
    source.drop_unschedulable(wanted)?;
    source.report_left_out(wanted.file);
    Ok(source)
}

/// The parts of a journal as one, or the one file that there is.
fn open_all(earlier: &[PathBuf], last: &Path) -> Result<Box<dyn BufRead>, String> {
    let mut whole = open(last)?;
    let mut next = (last, first_event_time(&mut whole));
    for part in earlier.iter().rev() {
        let mut input = open(part)?;
        let start = first_event_time(&mut input);
        if let (Some(before), Some(after)) = (start, next.1)
            && before > after
        {
            return Err(format!(
                "{}: begins after {}; name the parts of a journal oldest first",
                part.display(),
                next.0.display()
            ));
        }
        next = (part, start);
        whole = Box::new(input.chain(whole));
    }
    Ok(whole)
}

/// The time of a journal's first event, as far as it can be seen.
fn first_event_time(input: &mut impl BufRead) -> Option<f64> {
    #[derive(serde::Deserialize)]
    struct EventTime {
        t: f64,
    }
    let line = first_line(input).ok()?;
    let event: EventTime = serde_json::from_slice(&line).ok()?;
    Some(event.t)
}

/// The file, decompressed where it has to be. On a terminal it is shown how far it is read.
pub fn open(path: &Path) -> Result<Box<dyn BufRead>, String> {
    let file = path.display();
    let opened = dfrs_sim::trace::open(path).map_err(|error| {
        format!("{file}: cannot be opened: {error}; check the path and its permissions")
    })?;
    let shown = progress::reading(path, opened);
    decompressed(BufReader::with_capacity(1 << 16, shown)).map_err(|error| match error.kind() {
        ErrorKind::InvalidData => format!("{file}: {error}"),
        _ => format!("{file}: cannot be read: {error}; is the file whole?"),
    })
}

/// The first line that is not empty, which stays in the input, as far as it can be seen.
fn first_line(input: &mut impl BufRead) -> Result<Vec<u8>, String> {
    let head = input
        .fill_buf()
        .map_err(|error| format!("cannot be read: {error}; is the file whole?"))?
        .trim_ascii_start();
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or(head);
    Ok(line.to_vec())
}
