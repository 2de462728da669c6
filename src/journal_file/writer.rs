//! The thread that writes the journal.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use dfrs_agent::slurm::port::LogLevel;
use dfrs_proto::journal::JournalSnapshot;

use super::queue::{JournalQueue, JournalWork};
use crate::log::Log;

/// What failed is retried after this, doubled each time up to the last.
const MIN_BACKOFF: Duration = Duration::from_secs(1);
const MAX_BACKOFF: Duration = Duration::from_secs(60);

/// Where the journal is kept.
pub(super) trait JournalTarget: Send {
    /// Opens it to go on; returns where it stands.
    fn open(&mut self) -> io::Result<JournalSnapshot>;
    /// Adds whole lines: all, or, after an error, none, though the end may be torn until the next call.
    fn append(&mut self, lines: &[u8]) -> io::Result<()>;
}

/// The thread's state.
pub(super) struct JournalFileWriter {
    target: Box<dyn JournalTarget>,
    path: PathBuf,
    queue: Arc<JournalQueue>,
    /// Gets the result of the opening.
    opened: Option<Sender<io::Result<JournalSnapshot>>>,
    log: Log,
    fails: bool,
}

impl JournalFileWriter {
    pub(super) fn new(
        target: Box<dyn JournalTarget>,
        path: &Path,
        queue: &Arc<JournalQueue>,
        opened: Sender<io::Result<JournalSnapshot>>,
        log: &Log,
    ) -> Self {
        Self {
            target,
            path: path.to_owned(),
            queue: Arc::clone(queue),
            opened: Some(opened),
            log: log.clone(),
            fails: false,
        }
    }

    /// Opens the journal and writes lines until there are no more.
    pub(super) fn run(&mut self) {
        if let Some(opened) = self.opened.take() {
            // The receiver may have gone by now, and will have no lines.
            let _ = opened.send(self.target.open());
        }
        while let JournalWork::Write(lines) = self.queue.take() {
            self.write_with_retries(&lines);
        }
    }

    /// Writes these lines. While that fails it is retried, ever more rarely, and once more at the end.
    fn write_with_retries(&mut self, lines: &[u8]) {
        let (mut pause, mut ends) = (MIN_BACKOFF, false);
        while let Err(problem) = self.target.append(lines) {
            self.log_failure(&problem);
            if ends || self.queue.is_abandoned() {
                return;
            }
            ends = self.queue.pause(pause);
            pause = (pause * 2).min(MAX_BACKOFF);
        }
        let lost = self.queue.written();
        if std::mem::take(&mut self.fails) || lost.is_some() {
            let path = self.path.display();
            let gap = lost.map_or_else(String::new, |lost| {
                format!("; {lost} lines were lost, and 'dfrs check' will miss them")
            });
            let line = format!("{path}: journal written again{gap}");
            self.log.write(LogLevel::Info, &line);
        }
    }

    fn log_failure(&mut self, problem: &io::Error) {
        if !std::mem::replace(&mut self.fails, true) {
            let line = format!(
                "{}: journal not written: {problem}; will be retried, scheduling continues",
                self.path.display()
            );
            self.log.write(LogLevel::Error, &line);
        }
        self.queue.failed();
    }
}
