//! What a thread of its own writes to a disk: its callers hand it over and go on. A disk that fails is tried
//! again, and one that hangs holds nothing up but the thread.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dfrs_agent::slurm::port::LogLevel;

use crate::log::Log;
use crate::watched::Watched;

/// What failed is retried after this, doubled each time up to the last.
const MIN_BACKOFF: Duration = Duration::from_secs(1);
const MAX_BACKOFF: Duration = Duration::from_secs(60);

/// What has been handed over, between the callers and the thread.
#[derive(Default)]
pub(crate) struct WriterQueue<Work> {
    state: Mutex<WriterQueueState<Work>>,
    changed: Condvar,
}

/// The work, and how writing it goes.
#[derive(Default)]
pub(crate) struct WriterQueueState<Work> {
    pub(crate) work: Work,
    /// Since when something is not written.
    behind_since: Option<Instant>,
    /// The last attempt failed.
    pub(crate) fails: bool,
    /// The thread is to end when it has written what it has.
    pub(crate) stops: bool,
    /// The thread is no longer waited for: it writes nothing.
    abandoned: bool,
}

impl<Work> WriterQueueState<Work> {
    /// For how long something has not been written, in microseconds.
    pub(crate) fn age(&self) -> u64 {
        let age = self.behind_since.map(|since| since.elapsed().as_micros());
        age.map_or(0, |age| u64::try_from(age).unwrap_or(u64::MAX))
    }
}

impl<Work> WriterQueue<Work> {
    /// A poisoned lock only means that another thread panicked between two whole updates.
    pub(crate) fn lock(&self) -> MutexGuard<'_, WriterQueueState<Work>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T>(&self, change: impl FnOnce(&mut WriterQueueState<Work>) -> T) -> T {
        let result = change(&mut self.lock());
        self.changed.notify_all();
        result
    }

    /// Adds to the work.
    pub(crate) fn add<T>(&self, add: impl FnOnce(&mut Work) -> T) -> T {
        self.change(|state| {
            state.behind_since.get_or_insert_with(Instant::now);
            add(&mut state.work)
        })
    }

    /// Waits while `waits`, for no longer than `max_wait`; the state then, and whether the time is over.
    pub(crate) fn wait(
        &self,
        max_wait: Duration,
        mut waits: impl FnMut(&WriterQueueState<Work>) -> bool,
    ) -> (MutexGuard<'_, WriterQueueState<Work>>, bool) {
        let wait = self
            .changed
            .wait_timeout_while(self.lock(), max_wait, |state| waits(state));
        let (state, timeout) = wait.unwrap_or_else(PoisonError::into_inner);
        (state, timeout.timed_out())
    }

    /// Waits for work, and takes it. `None`: there is none left, and will be none.
    pub(crate) fn take<T>(
        &self,
        is_empty: impl Fn(&Work) -> bool,
        take: impl FnOnce(&mut Work) -> T,
    ) -> Option<T> {
        let idle = |state: &mut WriterQueueState<Work>| is_empty(&state.work) && !state.stops;
        let wait = self.changed.wait_while(self.lock(), idle);
        let mut state = wait.unwrap_or_else(PoisonError::into_inner);
        let ends = is_empty(&state.work) || state.abandoned;
        (!ends).then(|| take(&mut state.work))
    }

    /// Tries until `attempt` succeeds, ever more rarely, and once more at the end; false: it has not. The
    /// first failure is logged, as `failure` describes it.
    pub(crate) fn retry(
        &self,
        mut attempt: impl FnMut() -> Result<(), String>,
        log: &Log,
        failure: impl Fn(&str) -> String,
    ) -> bool {
        let (mut pause, mut ends) = (MIN_BACKOFF, false);
        while let Err(problem) = attempt() {
            self.failed(&problem, log, &failure);
            if ends || self.is_abandoned() {
                return false;
            }
            ends = self.wait(pause, |state| !state.stops).0.stops;
            pause = (pause * 2).min(MAX_BACKOFF);
        }
        true
    }

    /// Notes that an attempt failed; logs the first.
    pub(crate) fn failed(&self, problem: &str, log: &Log, failure: impl Fn(&str) -> String) {
        if !self.lock().fails {
            log.write(LogLevel::Error, &failure(problem));
        }
        self.change(|state| state.fails = true);
    }

    /// Notes that work is written; `note` says whether that is all. Returns whether it failed before.
    pub(crate) fn written(&self, note: impl FnOnce(&mut Work) -> bool) -> bool {
        self.change(|state| {
            let is_all = note(&mut state.work);
            // What was handed over meanwhile is newer than that.
            state.behind_since = (!is_all).then(Instant::now);
            std::mem::take(&mut state.fails)
        })
    }

    pub(crate) fn is_abandoned(&self) -> bool {
        self.lock().abandoned
    }
}

/// The callers' end. When it is dropped, the thread ends.
pub(crate) struct WriterThread<Work> {
    queue: Arc<WriterQueue<Work>>,
    thread: Option<Watched>,
    /// How long the end waits for what is not written.
    timeout: Duration,
}

impl<Work> WriterThread<Work> {
    pub(crate) fn new(queue: Arc<WriterQueue<Work>>, thread: Watched, timeout: Duration) -> Self {
        Self {
            queue,
            thread: Some(thread),
            timeout,
        }
    }

    pub(crate) fn queue(&self) -> &Arc<WriterQueue<Work>> {
        &self.queue
    }

    /// Waits for the last work, but not for a disk that hangs: what it has not written by then it must not
    /// write over what others have written since.
    pub(crate) fn stop(&mut self) {
        self.queue.change(|state| state.stops = true);
        if let Some(thread) = self.thread.take()
            && !thread.stop(self.timeout)
        {
            self.queue.change(|state| state.abandoned = true);
        }
    }
}

impl<Work> Drop for WriterThread<Work> {
    fn drop(&mut self) {
        self.stop();
    }
}
