//! The thread that writes the status file: a caller with a new status waits for nothing, and a disk
//! that hangs costs one status in memory.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use dfrs_agent::slurm::port::LogLevel;
use dfrs_proto::status::Status;

use super::file::StatusFile;
use crate::log::Log;
use crate::watched::Watched;
use crate::writer_queue::{WriterQueue, WriterThread};

/// How long the end waits for the last status.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// The newest status that is not written yet.
type LatestStatus = WriterQueue<Option<Box<Status>>>;

/// The way to the thread.
pub(super) struct StatusWriter(WriterThread<Option<Box<Status>>>);

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
        };
        let thread = Watched::start("dfrs_status", log, state, StatusThread::run)?;
        Ok(Self(WriterThread::new(latest, thread, SHUTDOWN_TIMEOUT)))
    }

    /// Has it written, in place of one that is not yet.
    pub(super) fn write(&self, status: Status) {
        let latest = self.0.queue();
        latest.add(|newest| *newest = Some(Box::new(status)));
    }
}

/// The thread's state.
struct StatusThread {
    latest: Arc<LatestStatus>,
    file: StatusFile,
    log: Log,
}

impl StatusThread {
    fn run(&mut self) {
        while let Some(Some(status)) = self.latest.take(Option::is_none, Option::take) {
            let path = self.file.path().display();
            if let Err(problem) = self.write(&status) {
                self.latest.failed(&problem, &self.log, |problem| {
                    format!("{path} not written: {problem}; scheduling continues")
                });
            } else if self.latest.written(|newest| newest.is_none()) {
                let line = format!("{path} is written again");
                self.log.write(LogLevel::Info, &line);
            }
        }
    }

    fn write(&self, status: &Status) -> Result<(), String> {
        let mut bytes = serde_json::to_vec(status).map_err(|error| error.to_string())?;
        bytes.push(b'\n');
        let is_wanted = || !self.latest.is_abandoned();
        self.file
            .replace(&bytes, is_wanted)
            .map_err(|error| error.to_string())
    }
}
