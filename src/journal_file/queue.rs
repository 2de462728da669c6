//! Lines on their way to the journal.

use std::io;
use std::time::Duration;

use dfrs_proto::status;

use crate::writer_queue::{WriterQueue, WriterQueueState, WriterThread};

/// So many bytes wait at most; what comes then is lost. An hour of a busy cluster.
const MAX_BYTES: usize = 64 << 20;

/// Between the agent and the writer.
pub(super) type JournalQueue = WriterQueue<QueuedLines>;

#[derive(Default)]
pub(super) struct QueuedLines {
    /// Whole lines.
    bytes: Vec<u8>,
    waiting: u64,
    /// Are being written.
    taken: u64,
    queued: u64,
    lost: u64,
    /// Since the queue was full, everything is lost until it is empty: one gap, not many.
    overflows: bool,
    /// A wait timed out, and nothing has been written since.
    hangs: bool,
}

impl QueuedLines {
    /// Takes one line in, or counts it as lost.
    fn put(&mut self, line: &[u8]) {
        self.overflows |= self.bytes.len() + line.len() > MAX_BYTES;
        if self.overflows {
            self.lost += 1;
        } else {
            self.bytes.extend_from_slice(line);
            self.waiting += 1;
            self.queued += 1;
        }
    }

    fn is_before(&self, number: u64) -> bool {
        self.queued - self.waiting - self.taken < number
    }
}

impl JournalQueue {
    /// Waits for lines. `None`: there will be no more.
    pub(super) fn take_lines(&self) -> Option<Vec<u8>> {
        self.take(
            |lines| lines.bytes.is_empty(),
            |lines| {
                lines.taken = std::mem::take(&mut lines.waiting);
                std::mem::take(&mut lines.bytes)
            },
        )
    }

    /// What was taken is written. Returns whether that failed before, and how many lines were lost, if
    /// there is room again.
    pub(super) fn lines_written(&self) -> (bool, Option<u64>) {
        let mut lost = None;
        let failed = self.written(|lines| {
            lines.taken = 0;
            lines.hangs = false;
            let empty = lines.waiting == 0;
            let overflowed = empty && std::mem::take(&mut lines.overflows);
            lost = overflowed.then_some(lines.lost);
            empty
        });
        (failed, lost)
    }

    /// Waits until the lines that are there now are written, unless that fails or has hung before.
    pub(super) fn settle(&self, max_wait: Duration) {
        let (number, hangs) = {
            let lines = &self.lock().work;
            (lines.queued, lines.hangs)
        };
        if hangs {
            return;
        }
        let behind = |state: &WriterQueueState<QueuedLines>| {
            state.work.is_before(number) && !state.fails && !state.stops
        };
        let (mut state, has_timed_out) = self.wait(max_wait, behind);
        state.work.hangs |= has_timed_out;
    }

    /// For the status file.
    pub(super) fn report(&self) -> status::JournalStatus {
        let state = self.lock();
        status::JournalStatus {
            lines: state.work.waiting + state.work.taken,
            age: state.age(),
            lost: state.work.lost,
            fails: state.fails,
        }
    }
}

/// The agent's end: one line a write.
pub(super) struct JournalSink(pub(super) WriterThread<QueuedLines>);

impl io::Write for JournalSink {
    /// Never fails: what is lost is counted, and logged by the writer.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.queue().add(|lines| lines.put(line));
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
