//! Threads whose panics are noticed: one error line, and they are restarted with the state that
//! they had.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use dfrs_agent::panics::panic_text;
use dfrs_agent::slurm::port::LogLevel;

use crate::library;
use crate::log::Log;

/// A thread that panicked is restarted after this, doubled each time up to the last.
const MIN_BACKOFF: Duration = Duration::from_secs(1);
const MAX_BACKOFF: Duration = Duration::from_secs(60);

/// A thread that ends when its body returns, and not before.
pub struct Watched {
    thread: JoinHandle<()>,
    ended: Receiver<()>,
    /// Dropped when the thread shall end rather than be restarted.
    wanted: Sender<()>,
}

impl Watched {
    /// Runs `body` on `state` in a thread of this name.
    ///
    /// # Errors
    ///
    /// The system's, if it has no thread to give.
    pub fn start<T: Send + 'static>(
        name: &'static str,
        log: &Log,
        mut state: T,
        mut body: impl FnMut(&mut T) + Send + 'static,
    ) -> std::io::Result<Self> {
        let (end, ended) = channel();
        let (wanted, still_wanted) = channel();
        let log = log.clone();
        let run = move || {
            // Ends the wait for `ended` however the thread ends.
            let _end = end;
            let mut pause = MIN_BACKOFF;
            while let Err(panic) = catch_unwind(AssertUnwindSafe(|| body(&mut state))) {
                let why = panic_text(panic.as_ref());
                log.write(
                    LogLevel::Error,
                    &format!("internal error in thread {name}: {why}; thread restarted"),
                );
                if still_wanted.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
                pause = (pause * 2).min(MAX_BACKOFF);
            }
        };
        let thread = std::thread::Builder::new().name(name.into()).spawn(run)?;
        Ok(Self {
            thread,
            ended,
            wanted,
        })
    }

    /// Waits until the thread has ended, whose body was stopped; after `timeout` it is left alone,
    /// with the library in memory, as its code still runs. Returns whether it has ended.
    pub fn stop(self, timeout: Duration) -> bool {
        drop(self.wanted);
        library::join_within(timeout, self.thread, &self.ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::CapturedLog;

    const SOON: Duration = Duration::from_secs(20);

    #[test]
    fn panic_is_logged_once_and_the_thread_keeps_its_state() {
        let kept = CapturedLog::default();
        let (done, results) = channel();
        let body = move |round: &mut u32| {
            *round += 1;
            assert!(*round > 1, "the first round fails");
            done.send(*round).expect("the test listens");
        };
        let thread = Watched::start("test", &kept.log(), 0, body).expect("a thread");
        assert_eq!(results.recv_timeout(SOON), Ok(2));
        assert!(thread.stop(SOON));
        let errors = kept.errors();
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(errors[0].contains("the first round fails"), "{errors:?}");
    }

    #[test]
    fn hanging_thread_is_abandoned() {
        let (release, hangs) = channel::<()>();
        let body = move |(): &mut ()| {
            let _ = hangs.recv();
        };
        let thread = Watched::start("test", &Log::discarding(), (), body).expect("a thread");
        assert!(!thread.stop(Duration::ZERO));
        drop(release);
    }
}
