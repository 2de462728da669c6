//! Questions and answers on their way between the thread that serves clients and the scheduler.

use std::collections::VecDeque;
use std::io;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dfrs_proto::explain::{ExplainRequest, ExplainResponse};
use rustix::net::{SendFlags, send};

use super::Requester;

/// A question that waits for the next tick.
#[derive(Debug)]
pub(super) struct PendingQuestion {
    /// Which client's it is.
    pub token: u64,
    pub requester: Requester,
    pub question: ExplainRequest,
}

#[derive(Default)]
struct Pending {
    questions: VecDeque<PendingQuestion>,
    answers: Vec<(u64, ExplainResponse)>,
    closed: bool,
}

/// The queues' lock is never held for longer than it takes to move a question or an answer.
pub(super) struct Queues {
    pending: Mutex<Pending>,
    /// A byte here wakes the thread.
    wake: UnixStream,
}

impl Queues {
    /// Empty ones, and the stream by which they wake the thread.
    pub(super) fn new() -> io::Result<(Arc<Self>, UnixStream)> {
        let (wake, woken) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        woken.set_nonblocking(true)?;
        let pending = Mutex::default();
        Ok((Arc::new(Self { pending, wake }), woken))
    }

    /// Adds a question.
    pub(super) fn ask(&self, asked: PendingQuestion) {
        self.lock().questions.push_back(asked);
    }

    /// The oldest questions.
    pub(super) fn take_questions(&self, max: usize) -> Vec<PendingQuestion> {
        let mut pending = self.lock();
        let count = pending.questions.len().min(max);
        pending.questions.drain(..count).collect()
    }

    /// The answer is no longer waited for.
    pub(super) fn withdraw(&self, token: u64) {
        let mut pending = self.lock();
        pending.questions.retain(|asked| asked.token != token);
        pending.answers.retain(|(theirs, _)| *theirs != token);
    }

    /// Leaves an answer, and wakes the thread.
    pub(super) fn answer(&self, token: u64, answer: ExplainResponse) {
        self.lock().answers.push((token, answer));
        self.wake();
    }

    /// All answers that are there.
    pub(super) fn take_answers(&self) -> Vec<(u64, ExplainResponse)> {
        std::mem::take(&mut self.lock().answers)
    }

    /// The thread shall end.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.wake();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    fn wake(&self) {
        // If it is full, the thread has enough to wake up for.
        let _ = send(&self.wake, &[0], SendFlags::NOSIGNAL);
    }

    /// A poisoned lock only means that another thread panicked between two whole updates.
    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
