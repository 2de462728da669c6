//! Lines on their way to the journal.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dfrs_proto::status;

use crate::watched::Watched;

/// So many bytes wait at most; what comes then is lost. An hour of a busy cluster.
const MOST_BYTES: usize = 64 << 20;
/// How long the end waits for the last lines.
const LAST_WAIT: Duration = Duration::from_secs(2);

/// Between the agent and the writer.
#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<Lines>,
    changed: Condvar,
}

#[derive(Default)]
struct Lines {
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
    /// Somebody waited in vain, and nothing has been written since.
    hangs: bool,
    stops: bool,
    abandoned: bool,
}

/// What the writer has to do next.
pub(super) enum Work {
    /// Write these lines.
    Write(Vec<u8>),
    /// There will be no more.
    End,
}

impl Queue {
    /// Takes one line in; false: it is lost.
    fn put(&self, line: &[u8]) -> bool {
        let mut lines = self.lock();
        lines.overflows |= lines.bytes.len() + line.len() > MOST_BYTES;
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
    pub(super) fn take(&self) -> Work {
        let idle = |lines: &mut Lines| lines.bytes.is_empty() && !lines.stops;
        let wait = self.changed.wait_while(self.lock(), idle);
        let mut lines = wait.unwrap_or_else(PoisonError::into_inner);
        if lines.bytes.is_empty() || lines.abandoned {
            return Work::End;
        }
        lines.taken = std::mem::take(&mut lines.waiting);
        Work::Write(std::mem::take(&mut lines.bytes))
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
        let goes_on = |lines: &mut Lines| !lines.stops;
        let wait = self.changed.wait_timeout_while(self.lock(), pause, goes_on);
        let (lines, _) = wait.unwrap_or_else(PoisonError::into_inner);
        lines.stops
    }

    /// Whether nobody waits for the writer any more: it writes nothing.
    pub(super) fn is_abandoned(&self) -> bool {
        self.lock().abandoned
    }

    /// Waits until the lines that are there now are written, unless that fails or has hung before.
    pub(super) fn settle(&self, patience: Duration) {
        let lines = self.lock();
        if lines.hangs {
            return;
        }
        let number = lines.queued;
        let behind = |lines: &mut Lines| lines.is_before(number) && !lines.fails && !lines.stops;
        let wait = self.changed.wait_timeout_while(lines, patience, behind);
        let (mut lines, timeout) = wait.unwrap_or_else(PoisonError::into_inner);
        lines.hangs |= timeout.timed_out();
    }

    /// For the status file.
    pub(super) fn report(&self) -> status::Journal {
        let lines = self.lock();
        let age = lines.behind_since.map(|since| since.elapsed().as_micros());
        status::Journal {
            lines: lines.waiting + lines.taken,
            age: age.map_or(0, |age| u64::try_from(age).unwrap_or(u64::MAX)),
            lost: lines.lost,
            fails: lines.fails,
        }
    }

    /// A poisoned lock only means that another thread panicked between two whole updates.
    fn lock(&self) -> MutexGuard<'_, Lines> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lines {
    fn is_before(&self, number: u64) -> bool {
        self.queued - self.waiting - self.taken < number
    }
}

/// The agent's end: one line a write. When it is dropped, the thread ends.
pub(super) struct Sink {
    queue: Arc<Queue>,
    thread: Option<Watched>,
}

impl Sink {
    pub(super) fn new(queue: &Arc<Queue>, thread: Watched) -> Self {
        Self {
            queue: Arc::clone(queue),
            thread: Some(thread),
        }
    }
}

impl io::Write for Sink {
    /// Never fails: what is lost is counted, and said by the writer.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.queue.put(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Sink {
    /// Waits for the last lines, but not for a disk that hangs.
    fn drop(&mut self) {
        self.queue.lock().stops = true;
        self.queue.changed.notify_all();
        if let Some(thread) = self.thread.take()
            && !thread.stop(LAST_WAIT)
        {
            self.queue.lock().abandoned = true;
        }
    }
}
