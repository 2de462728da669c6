//! The thread that writes the journal.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use dfrs_agent::slurm::port::LogLevel;
use dfrs_proto::journal::JournalSnapshot;

use super::queue::JournalQueue;
use crate::log::Log;

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
        }
    }

    /// Opens the journal and writes lines until there are no more.
    pub(super) fn run(&mut self) {
        if let Some(opened) = self.opened.take() {
            // The receiver may have gone by now, and will have no lines.
            let _ = opened.send(self.target.open());
        }
        while let Some(lines) = self.queue.take_lines() {
            self.write_with_retries(&lines);
        }
    }

    /// Writes these lines. While that fails it is retried, ever more rarely, and once more at the end.
    fn write_with_retries(&mut self, lines: &[u8]) {
        let path = self.path.display();
        let failure = |problem: &str| {
            format!("{path}: journal not written: {problem}; will be retried, scheduling continues")
        };
        let attempt = || self.target.append(lines).map_err(|error| error.to_string());
        if !self.queue.retry(attempt, &self.log, failure) {
            return;
        }
        let (failed, lost) = self.queue.lines_written();
        if failed || lost.is_some() {
            let gap = lost.map_or_else(String::new, |lost| {
                format!("; {lost} lines were lost, and 'dfrs check' will miss them")
            });
            let line = format!("{path}: journal written again{gap}");
            self.log.write(LogLevel::Info, &line);
        }
    }
}
