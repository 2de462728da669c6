//! The journal's file. A pass puts lines into a queue (`queue`), a thread of its own writes them (`writer`): a
//! disk that is full or hangs holds nothing up.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use dfrs_agent::publish::live_journal;
use dfrs_proto::journal::JournalWriter;
use dfrs_proto::status;

use crate::log::Log;
use crate::watched::Watched;
use crate::writer_queue::WriterThread;
use queue::{JournalQueue, JournalSink};
use regular::RegularFile;
use writer::{JournalFileWriter, JournalTarget};

mod queue;
mod regular;
#[cfg(test)]
mod tests;
mod writer;

/// How long the start waits for the file to be opened, which reads all of it.
const OPEN_TIMEOUT: Duration = Duration::from_secs(10);
/// How long what depends on the journal waits for it, once; while it hangs nothing waits again.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(1);
/// How long the end waits for the last lines.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// Opens the journal at `path`, going on with what is there.
///
/// # Errors
///
/// One line with the file's name.
pub fn open(path: &Path, log: &Log) -> Result<(live_journal::Writer, JournalGauge), String> {
    open_target(Box::new(RegularFile::new(path.to_owned())), path, log)
}

fn open_target(
    target: Box<dyn JournalTarget>,
    path: &Path,
    log: &Log,
) -> Result<(live_journal::Writer, JournalGauge), String> {
    let queue = Arc::<JournalQueue>::default();
    let (opened, outcome) = channel();
    let writer = JournalFileWriter::new(target, path, &queue, opened, log);
    let describe = |error: std::io::Error| format!("{}: {error}", path.display());
    let thread =
        Watched::start("dfrs_journal", log, writer, JournalFileWriter::run).map_err(describe)?;
    // From here on whatever ends early stops the thread.
    let sink = JournalSink(WriterThread::new(
        Arc::clone(&queue),
        thread,
        SHUTDOWN_TIMEOUT,
    ));
    let hangs = |_| {
        format!(
            "{}: has not been opened for {} s",
            path.display(),
            OPEN_TIMEOUT.as_secs()
        )
    };
    let standing = outcome.recv_timeout(OPEN_TIMEOUT).map_err(hangs)?;
    let standing = standing.map_err(describe)?;
    let writer = JournalWriter::resume(Box::new(sink) as Box<dyn std::io::Write>, standing);
    Ok((writer, JournalGauge(queue)))
}

/// Knows how far the journal is behind.
#[derive(Clone)]
pub struct JournalGauge(Arc<JournalQueue>);

impl JournalGauge {
    /// For the status file.
    pub fn report(&self) -> status::JournalStatus {
        self.0.report()
    }

    /// Waits until the lines that are there now are written, not for long, and not at all while that hangs.
    pub fn settle(&self) {
        self.0.settle(SETTLE_TIMEOUT);
    }
}
