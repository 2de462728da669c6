//! Following a file that grows, is replaced, or is cut.

#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use dfrs_journal::JournalReader;
use dfrs_proto::journal::JournalEvent;

/// How much is read at once, in bytes.
const CHUNK: usize = 1 << 18;

/// The longest line, in bytes: what readers of journals take.
const MAX_LINE_BYTES: usize = 64 << 20;

/// What comes of looking into the file.
#[derive(Debug)]
pub enum JournalUpdate {
    Event(Box<JournalEvent>),
    /// What follows is from the beginning of another file, or of the same one after it was cut.
    Restarted,
    /// A whole line is no event: its number from 1, and what is wrong.
    Malformed(usize, String),
}

/// A journal that another process writes.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    file: File,
    /// Up to where it was read.
    offset: u64,
    /// Whole lines of it so far.
    lines: usize,
    /// The beginning of a line whose end is not written yet.
    rest: Vec<u8>,
    /// Whether the line is being skipped because it is too long to be held.
    too_long: bool,
    is_there: bool,
}

impl Follower {
    /// Opens the file; nothing is read yet.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        if file.metadata()?.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        Ok(Self {
            path: path.to_owned(),
            file,
            offset: 0,
            lines: 0,
            rest: Vec::new(),
            too_long: false,
            is_there: true,
        })
    }

    /// Whether there is a file of that name, as far as was seen last.
    pub fn is_there(&self) -> bool {
        self.is_there
    }

    /// How much of the file was read, 0 to 1.
    pub fn part_read(&self) -> f64 {
        let length = self.file.metadata().map_or(0, |found| found.len());
        // Precise enough: shown as a percentage.
        let part = self.offset as f64 / length.max(1) as f64;
        part.min(1.0)
    }

    /// Passes on what is new, at most a chunk of it; returns whether there may be more at once.
    pub fn poll(&mut self, on_update: &mut impl FnMut(JournalUpdate)) -> io::Result<bool> {
        if self.file.metadata()?.len() < self.offset {
            self.begin(on_update);
        }
        let mut chunk = vec![0; CHUNK];
        self.file.seek(SeekFrom::Start(self.offset))?;
        let length = self.file.read(&mut chunk)?;
        self.offset += length as u64;
        self.take(&chunk[..length], on_update);
        if length > 0 {
            return Ok(true);
        }
        self.reopen_if_replaced(on_update)
    }

    /// Opens the file that has taken the name of this one, which was read to its end.
    fn reopen_if_replaced(
        &mut self,
        on_update: &mut impl FnMut(JournalUpdate),
    ) -> io::Result<bool> {
        let named = match std::fs::metadata(&self.path) {
            Ok(named) => named,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.is_there = false;
                return Ok(false);
            }
            Err(error) => return Err(error),
        };
        self.is_there = true;
        let open = self.file.metadata()?;
        if (open.dev(), open.ino()) == (named.dev(), named.ino()) {
            return Ok(false);
        }
        self.file = File::open(&self.path)?;
        self.begin(on_update);
        Ok(true)
    }

    fn begin(&mut self, on_update: &mut impl FnMut(JournalUpdate)) {
        self.offset = 0;
        self.lines = 0;
        self.rest.clear();
        self.too_long = false;
        on_update(JournalUpdate::Restarted);
    }

    fn take(&mut self, mut bytes: &[u8], on_update: &mut impl FnMut(JournalUpdate)) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let (line, rest) = bytes.split_at(end + 1);
            bytes = rest;
            self.lines += 1;
            if std::mem::take(&mut self.too_long) {
                continue;
            }
            if self.rest.is_empty() {
                emit_line(self.lines, line, on_update);
            } else {
                self.rest.extend_from_slice(line);
                emit_line(self.lines, &self.rest, on_update);
                self.rest = Vec::new();
            }
        }
        if self.rest.len() + bytes.len() > MAX_LINE_BYTES {
            on_update(JournalUpdate::Malformed(
                self.lines + 1,
                "is too long".to_owned(),
            ));
            self.rest = Vec::new();
            self.too_long = true;
        }
        if !self.too_long {
            self.rest.extend_from_slice(bytes);
        }
    }
}

fn emit_line(number: usize, line: &[u8], on_update: &mut impl FnMut(JournalUpdate)) {
    match JournalReader::new(line).next() {
        Some(Ok((_, event))) => on_update(JournalUpdate::Event(Box::new(event))),
        Some(Err(error)) => on_update(JournalUpdate::Malformed(number, error.to_string())),
        None => {}
    }
}
