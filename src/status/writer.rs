//! The thread that writes the status file: a caller with a new status waits for nothing, and a disk
//! that hangs costs one status in memory.

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dfrs_agent::slurm::port::LogLevel;
use dfrs_proto::status::Status;

use super::file::StatusFile;
use crate::log::Log;
use crate::watched::Watched;

/// How long the end waits for the last status.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// The newest status that is not written yet.
#[derive(Default)]
struct LatestStatus {
    state: Mutex<PendingStatus>,
    changed: Condvar,
}

#[derive(Default)]
struct PendingStatus {
    status: Option<Box<Status>>,
    ends: bool,
    abandoned: bool,
}

impl LatestStatus {
    fn put(&self, change: impl FnOnce(&mut PendingStatus)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// Waits for a status; `None`: there will be none.
    fn take(&self) -> Option<Box<Status>> {
        let idle = |pending: &mut PendingStatus| pending.status.is_none() && !pending.ends;
        let pending = self.changed.wait_while(self.lock(), idle);
        pending
            .unwrap_or_else(PoisonError::into_inner)
            .status
            .take()
    }

    /// A poisoned lock only means that another thread panicked between two whole updates.
    fn lock(&self) -> MutexGuard<'_, PendingStatus> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The way to the thread.
pub(super) struct StatusWriter {
    latest: Arc<LatestStatus>,
    thread: Option<Watched>,
}

impl StatusWriter {
    /// Starts a thread that writes into this directory.
    ///
    /// # Errors
    ///
    /// The system's, if it has no thread to give.
    pub(super) fn start(directory: &Path, log: &Log) -> std::io::Result<Self> {
        let latest = Arc::<LatestStatus>::default();
        let state = StatusThread {
            latest: Arc::clone(&latest),
            file: StatusFile::in_directory(directory),
            log: log.clone(),
            fails: false,
        };
        let thread = Watched::start("dfrs_status", log, state, StatusThread::run)?;
        Ok(Self {
            latest,
            thread: Some(thread),
        })
    }

    /// Has it written, in place of one that is not yet.
    pub(super) fn write(&self, status: Status) {
        self.latest
            .put(|pending| pending.status = Some(Box::new(status)));
    }
}

impl Drop for StatusWriter {
    /// Waits for the last status, but not for a disk that hangs.
    fn drop(&mut self) {
        self.latest.put(|pending| pending.ends = true);
        if let Some(thread) = self.thread.take()
            && !thread.stop(SHUTDOWN_TIMEOUT)
        {
            self.latest.put(|pending| pending.abandoned = true);
        }
    }
}

/// The thread's state.
struct StatusThread {
    latest: Arc<LatestStatus>,
    file: StatusFile,
    log: Log,
    fails: bool,
}

impl StatusThread {
    fn run(&mut self) {
        while let Some(status) = self.latest.take() {
            let outcome = self.write(&status);
            let path = self.file.path().display();
            match outcome {
                Err(problem) if !std::mem::replace(&mut self.fails, true) => {
                    let line = format!("{path} not written: {problem}; scheduling continues");
                    self.log.write(LogLevel::Error, &line);
                }
                Ok(()) if std::mem::take(&mut self.fails) => {
                    let line = format!("{path} is written again");
                    self.log.write(LogLevel::Info, &line);
                }
                _ => {}
            }
        }
    }

    fn write(&self, status: &Status) -> Result<(), String> {
        let mut bytes = serde_json::to_vec(status).map_err(|error| error.to_string())?;
        bytes.push(b'\n');
        let is_wanted = || !self.latest.lock().abandoned;
        self.file
            .replace(&bytes, is_wanted)
            .map_err(|error| error.to_string())
    }
}
