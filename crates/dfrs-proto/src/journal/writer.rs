//! Writing a journal.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};

use dfrs_core::Time;

use super::VERSION;
use super::event::{EventKind, JournalEvent};
use super::state::JournalSnapshot;

/// Why an event was not written. The journal is as it was, except after [`WriteError::Io`].
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The event is earlier than the last one.
    #[error("an event at t={} cannot follow one at t={}; use a later time", .t.seconds(), .last.seconds())]
    TimeOrder {
        /// The event's time.
        t: Time,
        /// The time of the last event.
        last: Time,
    },
    /// Nothing comes before the platform.
    #[error("the first event written must be the platform, version {VERSION}")]
    NoPlatform,
    /// The event has a number that JSON cannot hold: not a number, or infinite.
    #[error("an event has a number that is not finite")]
    NotFinite,
    /// The file could not be written.
    #[error("journal cannot be written: {0}")]
    Io(#[from] io::Error),
}

/// Appends events to a journal, each as one whole line in one write.
#[derive(Debug)]
pub struct JournalWriter<W> {
    out: W,
    last: Option<Time>,
    has_platform: bool,
    state: JournalSnapshot,
}

impl<W: Write> JournalWriter<W> {
    /// Starts a new journal.
    pub fn new(out: W) -> Self {
        Self {
            out,
            last: None,
            has_platform: false,
            state: JournalSnapshot::default(),
        }
    }

    /// Goes on with a journal that stands here (see [`reopen`]). Its first event has to be the
    /// platform again.
    pub fn resume(out: W, state: JournalSnapshot) -> Self {
        Self {
            last: state.last,
            state,
            ..Self::new(out)
        }
    }

    /// What the journal said before this writer went on with it; nothing the second time.
    pub fn take_state(&mut self) -> JournalSnapshot {
        std::mem::take(&mut self.state)
    }

    /// The earliest time that the next event may have; none if any will do.
    pub fn earliest(&self) -> Option<Time> {
        self.last
    }

    /// Writes one event.
    ///
    /// # Errors
    ///
    /// See [`WriteError`].
    pub fn write(&mut self, event: &JournalEvent) -> Result<(), WriteError> {
        if let Some(last) = self.last.filter(|last| event.t < *last) {
            return Err(WriteError::TimeOrder { t: event.t, last });
        }
        let is_platform = matches!(
            event.kind,
            EventKind::Platform {
                version: VERSION,
                ..
            }
        );
        if !is_platform && !self.has_platform {
            return Err(WriteError::NoPlatform);
        }
        if !event.kind.is_finite() {
            return Err(WriteError::NotFinite);
        }
        let mut line = serde_json::to_vec(event).map_err(io::Error::from)?;
        line.push(b'\n');
        self.out.write_all(&line)?;
        self.last = Some(event.t);
        self.has_platform = true;
        Ok(())
    }

    /// Hands what is buffered to the file.
    ///
    /// # Errors
    ///
    /// As [`Write::flush`].
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// The underlying writer.
    pub fn into_inner(self) -> W {
        self.out
    }
}

/// Prepares an existing journal (opened for reading and writing) to be continued: cuts off a last
/// line that a crash left incomplete, goes to the end, and returns where the journal stands.
/// O(length of the file).
///
/// # Errors
///
/// The file cannot be read or cut, or its last line is no event (it is left as it is then).
pub fn reopen(file: &mut File) -> io::Result<JournalSnapshot> {
    file.seek(SeekFrom::Start(0))?;
    let mut state = JournalSnapshot::default();
    let mut input = BufReader::new(&mut *file);
    let (mut complete, mut last) = (0, Vec::new());
    let mut line = Vec::new();
    loop {
        line.clear();
        let length = input.read_until(b'\n', &mut line)?;
        if line.last() != Some(&b'\n') {
            break;
        }
        complete += length as u64;
        state.read(&line);
        std::mem::swap(&mut last, &mut line);
    }
    if complete > 0 {
        state.last = Some(event_time(&last)?);
    }
    file.set_len(complete)?;
    file.seek(SeekFrom::End(0))?;
    Ok(state)
}

fn event_time(line: &[u8]) -> io::Result<Time> {
    let event: JournalEvent = serde_json::from_slice(line).map_err(|error| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            format!("the last line is no event: {error}"),
        )
    })?;
    Ok(event.t)
}
