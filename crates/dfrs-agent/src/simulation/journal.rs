//! The live journal in memory, which survives slurmctld.

use std::cell::RefCell;
use std::io::Write;
use std::rc::Rc;

use dfrs_core::Time;
use dfrs_proto::journal::{Event, JournalReader, JournalWriter};

use crate::live_journal::Writer;

/// What was written and not taken yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Journal(Rc<RefCell<Written>>);

#[derive(Debug, Default)]
struct Written {
    bytes: Vec<u8>,
    /// Lines that were taken.
    taken: usize,
    /// When the last event of these happened.
    last: Option<Time>,
}

impl Write for Journal {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().bytes.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Journal {
    /// A writer that goes on where the last one ended.
    pub(super) fn writer(&self) -> Writer {
        JournalWriter::resume(Box::new(self.clone()) as Box<dyn Write>, self.last_time())
    }

    fn last_time(&self) -> Option<Time> {
        let written = self.0.borrow();
        let Some(text) = written.bytes.strip_suffix(b"\n") else {
            return written.last;
        };
        let newline = text.iter().rposition(|byte| *byte == b'\n');
        let begin = newline.map_or(0, |at| at + 1);
        let mut events = JournalReader::new(&text[begin..]);
        Some(events.next()?.ok()?.1.t)
    }

    /// The events since the last call, with their lines.
    pub(super) fn take(&self) -> Vec<(usize, Event)> {
        let mut written = self.0.borrow_mut();
        if written.bytes.is_empty() {
            return Vec::new();
        }
        let bytes = std::mem::take(&mut written.bytes);
        let before = written.taken;
        written.taken += bytes.iter().filter(|byte| **byte == b'\n').count();
        let events = JournalReader::new(bytes.as_slice()).flatten();
        let events: Vec<_> = events.map(|(line, event)| (before + line, event)).collect();
        written.last = events.last().map(|(_, event)| event.t).or(written.last);
        events
    }
}
