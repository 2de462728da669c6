//! The live journal in memory, which survives slurmctld.

use std::cell::RefCell;
use std::io::Write;
use std::rc::Rc;

use dfrs_journal::JournalReader;
use dfrs_proto::journal::{JournalEvent, JournalSnapshot, JournalWriter};

use dfrs_agent::publish::live_journal::Writer;

/// What was written and not taken yet.
#[derive(Clone, Debug, Default)]
pub(super) struct MemoryJournal(Rc<RefCell<Written>>);

#[derive(Debug, Default)]
struct Written {
    bytes: Vec<u8>,
    /// Lines that were taken.
    taken: usize,
    /// Where they left the journal.
    standing: JournalSnapshot,
}

impl Write for MemoryJournal {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().bytes.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl MemoryJournal {
    /// A writer that goes on where the last one ended.
    pub(super) fn writer(&self) -> Writer {
        let mut standing = self.0.borrow().standing.clone();
        for (_, event) in self.untaken() {
            standing.follow(&event);
        }
        JournalWriter::resume(Box::new(self.clone()) as Box<dyn Write>, standing)
    }

    /// The events that were not taken yet, with their lines.
    fn untaken(&self) -> Vec<(usize, JournalEvent)> {
        let written = self.0.borrow();
        let events = JournalReader::new(written.bytes.as_slice()).flatten();
        events
            .map(|(line, event)| (written.taken + line, event))
            .collect()
    }

    /// The events since the last call, with their lines.
    pub(super) fn take(&self) -> Vec<(usize, JournalEvent)> {
        let events = self.untaken();
        let mut written = self.0.borrow_mut();
        written.taken += written.bytes.iter().filter(|byte| **byte == b'\n').count();
        written.bytes.clear();
        for (_, event) in &events {
            written.standing.follow(event);
        }
        events
    }
}
