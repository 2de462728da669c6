//! The jobs of a file, whatever its kind.

mod accounting;
mod journal;
mod kind;
mod left_out;
mod log_jobs;
mod trace;

use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use dfrs_sim::trace::decompressed;

use super::log_file::{LogFile, LogPurpose};
use crate::runs::progress;
use kind::{SourceKind, kind};

pub use left_out::LeftOutCount;
pub use log_jobs::{JournalFacts, LogJobs};

/// Reads the file, which is opened once: there is nothing before the first line of a pipe.
pub fn read_file(log: &LogFile) -> Result<LogJobs, String> {
    let in_file = |error| format!("{}: {error}", log.file.display());
    let mut input = open_all(log.earlier, log.file)?;
    let kind = kind(&mut input).map_err(in_file)?;
    let is_dump = kind == SourceKind::Dump;
    let no_swf = |what| log.model.for_no_swf(what);
    let source = match (kind, log.purpose) {
        // A journal is a record of what happened, taken only to be compared with it.
        (SourceKind::Journal, LogPurpose::Simulation) => {
            Err("is a journal of slurm-dfrs, no trace; dfrs replay takes it".to_owned())
        }
        (SourceKind::Journal, LogPurpose::Replay) => {
            no_swf("a journal").and_then(|()| journal::read(log, input))
        }
        (SourceKind::Dump, _) => {
            no_swf("a dump of sacct").and_then(|()| accounting::read(log, input))
        }
        (SourceKind::Trace, _) => trace::read(log, input),
    };
    let mut source = source.map_err(in_file)?;
    if !is_dump {
        log.site.for_no_dump(source.kind).map_err(in_file)?;
        if let Some(note) = log.site.note_for_no_dump() {
            source.warn(log.file, &format!("note: {note}"));
        }
        if let Some(cpus) = log.node_cpus {
            source.trace.count_cpus(cpus);
        }
    }
    Ok(source)
}

/// The parts of a journal as one, or the one file that there is.
fn open_all(earlier: &[PathBuf], last: &Path) -> Result<Box<dyn BufRead>, String> {
    let mut whole = open(last)?;
    if earlier.is_empty() {
        return Ok(whole);
    }
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
fn open(path: &Path) -> Result<Box<dyn BufRead>, String> {
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
