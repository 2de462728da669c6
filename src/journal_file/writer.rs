//! The thread that writes the journal.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use dfrs_agent::slurm::Level;
use dfrs_proto::journal::Standing;

use super::queue::{Queue, Work};
use crate::log::Log;

/// What failed is tried again after this, doubled each time up to the last.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LAST_PAUSE: Duration = Duration::from_secs(60);

/// Where the journal is kept.
pub(super) trait Target: Send {
    /// Opens it to go on; returns where it stands.
    fn open(&mut self) -> io::Result<Standing>;
    /// Adds whole lines: all, or, after an error, none, though the end may be torn until the next call.
    fn append(&mut self, lines: &[u8]) -> io::Result<()>;
}

/// The thread's state.
pub(super) struct Writer {
    target: Box<dyn Target>,
    path: PathBuf,
    queue: Arc<Queue>,
    /// Who waits for it to be opened.
    opened: Option<Sender<io::Result<Standing>>>,
    log: Log,
    fails: bool,
}

impl Writer {
    pub(super) fn new(
        target: Box<dyn Target>,
        path: &Path,
        queue: &Arc<Queue>,
        opened: Sender<io::Result<Standing>>,
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
            // Whoever waited may have gone by now, and will have no lines.
            let _ = opened.send(self.target.open());
        }
        while let Work::Write(lines) = self.queue.take() {
            self.write_at_last(&lines);
        }
    }

    /// Writes these lines. While that fails it is tried again, ever more rarely, and once more at the end.
    fn write_at_last(&mut self, lines: &[u8]) {
        let (mut pause, mut ends) = (FIRST_PAUSE, false);
        while let Err(problem) = self.target.append(lines) {
            self.complain(&problem);
            if ends || self.queue.is_abandoned() {
                return;
            }
            ends = self.queue.pause(pause);
            pause = (pause * 2).min(LAST_PAUSE);
        }
        let lost = self.queue.written();
        if std::mem::take(&mut self.fails) || lost.is_some() {
            let path = self.path.display();
            let gap = lost.map_or_else(String::new, |lost| {
                format!("; {lost} lines were lost, and 'dfrs check' will miss them")
            });
            let line = format!("{path}: the journal is written again{gap}");
            self.log.write(Level::Info, &line);
        }
    }

    fn complain(&mut self, problem: &io::Error) {
        if !std::mem::replace(&mut self.fails, true) {
            let line = format!(
                "{}: the journal is not written: {problem}; it is tried again, and scheduling goes on",
                self.path.display()
            );
            self.log.write(Level::Error, &line);
        }
        self.queue.failed();
    }
}
