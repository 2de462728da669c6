//! Lines on their way to the journal.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dfrs_proto::status;

use crate::watched::Watched;

/// So many bytes wait at most; what comes then is lost. An hour of a busy cluster.
const MAX_BYTES: usize = 64 << 20;
/// How long the end waits for the last lines.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// Between the agent and the writer.
#[derive(Default)]
pub(super) struct JournalQueue {
    state: Mutex<QueuedLines>,
    changed: Condvar,
}

#[derive(Default)]
struct QueuedLines {
    /// Whole lines.
    bytes: Vec<u8>,
    waiting: u64,
    /// Are being written.
    taken: u64,
    queued: u64,
    lost: u64,
    /// Since the queue was full, everything is lost until it is empty: one gap, not many.
    overflows: bool,
    behind_since: Option<Instant>,
    fails: bool,
    /// A wait timed out, and nothing has been written since.
    hangs: bool,
    stops: bool,
    abandoned: bool,
}

/// What the writer has to do next.
pub(super) enum JournalWork {
    /// Write these lines.
    Write(Vec<u8>),
    /// There will be no more.
    End,
}

impl JournalQueue {
    /// Takes one line in; false: it is lost.
    fn put(&self, line: &[u8]) -> bool {
        let mut lines = self.lock();
        lines.overflows |= lines.bytes.len() + line.len() > MAX_BYTES;
        if lines.overflows {
            lines.lost += 1;
            return false;
        }
        lines.bytes.extend_from_slice(line);
        lines.waiting += 1;
        lines.queued += 1;
        lines.behind_since.get_or_insert_with(Instant::now);
        self.changed.notify_all();
        true
    }

    /// Waits for lines.
    pub(super) fn take(&self) -> JournalWork {
        let idle = |lines: &mut QueuedLines| lines.bytes.is_empty() && !lines.stops;
        let wait = self.changed.wait_while(self.lock(), idle);
        let mut lines = wait.unwrap_or_else(PoisonError::into_inner);
        if lines.bytes.is_empty() || lines.abandoned {
            return JournalWork::End;
        }
        lines.taken = std::mem::take(&mut lines.waiting);
        JournalWork::Write(std::mem::take(&mut lines.bytes))
    }

    /// What was taken is written. Returns how many lines were lost, if there is room again.
    pub(super) fn written(&self) -> Option<u64> {
        let mut lines = self.lock();
        lines.taken = 0;
        lines.fails = false;
        lines.hangs = false;
        let empty = lines.waiting == 0;
        lines.behind_since = (!empty).then(Instant::now);
        self.changed.notify_all();
        let overflowed = empty && std::mem::take(&mut lines.overflows);
        overflowed.then_some(lines.lost)
    }

    /// An attempt failed.
    pub(super) fn failed(&self) {
        self.lock().fails = true;
        self.changed.notify_all();
    }

    /// Waits before the next attempt; true: there is none.
    pub(super) fn pause(&self, pause: Duration) -> bool {
        let goes_on = |lines: &mut QueuedLines| !lines.stops;
        let wait = self.changed.wait_timeout_while(self.lock(), pause, goes_on);
        let (lines, _) = wait.unwrap_or_else(PoisonError::into_inner);
        lines.stops
    }

    /// Whether the writer is no longer waited for: it writes nothing.
    pub(super) fn is_abandoned(&self) -> bool {
        self.lock().abandoned
    }

    /// Waits until the lines that are there now are written, unless that fails or has hung before.
    pub(super) fn settle(&self, max_wait: Duration) {
        let lines = self.lock();
        if lines.hangs {
            return;
        }
        let number = lines.queued;
        let behind =
            |lines: &mut QueuedLines| lines.is_before(number) && !lines.fails && !lines.stops;
        let wait = self.changed.wait_timeout_while(lines, max_wait, behind);
        let (mut lines, timeout) = wait.unwrap_or_else(PoisonError::into_inner);
        lines.hangs |= timeout.timed_out();
    }

    /// For the status file.
    pub(super) fn report(&self) -> status::JournalStatus {
        let lines = self.lock();
        let age = lines.behind_since.map(|since| since.elapsed().as_micros());
        status::JournalStatus {
            lines: lines.waiting + lines.taken,
            age: age.map_or(0, |age| u64::try_from(age).unwrap_or(u64::MAX)),
            lost: lines.lost,
            fails: lines.fails,
        }
    }

    /// A poisoned lock only means that another thread panicked between two whole updates.
    fn lock(&self) -> MutexGuard<'_, QueuedLines> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueuedLines {
    fn is_before(&self, number: u64) -> bool {
        self.queued - self.waiting - self.taken < number
    }
}

/// The agent's end: one line a write. When it is dropped, the thread ends.
pub(super) struct JournalSink {
    queue: Arc<JournalQueue>,
    thread: Option<Watched>,
}

impl JournalSink {
    pub(super) fn new(queue: &Arc<JournalQueue>, thread: Watched) -> Self {
        Self {
            queue: Arc::clone(queue),
            thread: Some(thread),
        }
    }
}

impl io::Write for JournalSink {
    /// Never fails: what is lost is counted, and logged by the writer.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.queue.put(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for JournalSink {
    /// Waits for the last lines, but not for a disk that hangs.
    fn drop(&mut self) {
        self.queue.lock().stops = true;
        self.queue.changed.notify_all();
        if let Some(thread) = self.thread.take()
            && !thread.stop(SHUTDOWN_TIMEOUT)
        {
            self.queue.lock().abandoned = true;
        }
    }
}
