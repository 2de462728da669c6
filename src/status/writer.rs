//! The thread that writes the status file: whoever has a new status waits for nothing, and a disk that hangs
//! costs one status in memory.

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dfrs_agent::slurm::Level;
use dfrs_proto::status::Status;

use super::file::StatusFile;
use crate::log::Log;
use crate::watched::Watched;

/// How long the end waits for the last status.
const LAST_WAIT: Duration = Duration::from_secs(1);

/// The newest status that is not written yet.
#[derive(Default)]
struct Mailbox {
    state: Mutex<Letter>,
    changed: Condvar,
}

#[derive(Default)]
struct Letter {
    status: Option<Box<Status>>,
    ends: bool,
    abandoned: bool,
}

impl Mailbox {
    fn put(&self, change: impl FnOnce(&mut Letter)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// Waits for a status; `None`: there will be none.
    fn take(&self) -> Option<Box<Status>> {
        let idle = |letter: &mut Letter| letter.status.is_none() && !letter.ends;
        let letter = self.changed.wait_while(self.lock(), idle);
        letter.unwrap_or_else(PoisonError::into_inner).status.take()
    }

    /// A poisoned lock only means that another thread panicked between two whole updates.
    fn lock(&self) -> MutexGuard<'_, Letter> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The way to the thread.
pub(super) struct Writer {
    mailbox: Arc<Mailbox>,
    thread: Option<Watched>,
}

impl Writer {
    /// Starts a thread that writes into this directory.
    ///
    /// # Errors
    ///
    /// The system's, if it has no thread to give.
    pub(super) fn start(directory: &Path, log: &Log) -> std::io::Result<Self> {
        let mailbox = Arc::<Mailbox>::default();
        let scribe = Scribe {
            mailbox: Arc::clone(&mailbox),
            file: StatusFile::in_directory(directory),
            log: log.clone(),
            fails: false,
        };
        let thread = Watched::start("dfrs_status", log, scribe, Scribe::run)?;
        Ok(Self {
            mailbox,
            thread: Some(thread),
        })
    }

    /// Has it written, in place of one that is not yet.
    pub(super) fn write(&self, status: Status) {
        self.mailbox
            .put(|letter| letter.status = Some(Box::new(status)));
    }
}

impl Drop for Writer {
    /// Waits for the last status, but not for a disk that hangs.
    fn drop(&mut self) {
        self.mailbox.put(|letter| letter.ends = true);
        if let Some(thread) = self.thread.take()
            && !thread.stop(LAST_WAIT)
        {
            self.mailbox.put(|letter| letter.abandoned = true);
        }
    }
}

/// The thread's state.
struct Scribe {
    mailbox: Arc<Mailbox>,
    file: StatusFile,
    log: Log,
    fails: bool,
}

impl Scribe {
    fn run(&mut self) {
        while let Some(status) = self.mailbox.take() {
            let outcome = self.write(&status);
            let path = self.file.path().display();
            match outcome {
                Err(problem) if !std::mem::replace(&mut self.fails, true) => {
                    let line = format!("{path} is not written: {problem}; scheduling goes on");
                    self.log.write(Level::Error, &line);
                }
                Ok(()) if std::mem::take(&mut self.fails) => {
                    let line = format!("{path} is written again");
                    self.log.write(Level::Info, &line);
                }
                _ => {}
            }
        }
    }

    fn write(&self, status: &Status) -> Result<(), String> {
        let mut bytes = serde_json::to_vec(status).map_err(|error| error.to_string())?;
        bytes.push(b'\n');
        let is_wanted = || !self.mailbox.lock().abandoned;
        self.file
            .replace(&bytes, is_wanted)
            .map_err(|error| error.to_string())
    }
}
