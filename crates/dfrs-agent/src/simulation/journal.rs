//! The live journal in memory, which survives slurmctld.

use std::cell::RefCell;
use std::io::Write;
use std::rc::Rc;

use dfrs_core::Time;
use dfrs_proto::journal::{Event, JournalReader, JournalWriter};

use crate::live_journal::Writer;

/// What was written so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Journal(Rc<RefCell<Vec<u8>>>);

impl Write for Journal {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().write(bytes)
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
        let bytes = self.0.borrow();
        let text = bytes.strip_suffix(b"\n")?;
        let begin = text
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        let mut events = JournalReader::new(&bytes[begin..]);
        Some(events.next()?.ok()?.1.t)
    }

    /// All events with their lines.
    pub(super) fn events(&self) -> Vec<(usize, Event)> {
        let bytes = self.0.borrow();
        JournalReader::new(bytes.as_slice()).flatten().collect()
    }

    /// Everything that was written.
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.0.borrow().clone()
    }
}
