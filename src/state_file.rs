//! What must survive, in StateSaveLocation: a log of what changed (`log`), written by a thread of its
//! own (`writer`), so that a pass waits for a disk only where it has to, and then not for long.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use dfrs_agent::publish::state::{State, StateChanges, Store};
use dfrs_agent::slurm::port::LogLevel;
use dfrs_proto::status::StateFileStatus;

use crate::log::Log;
use crate::watched::Watched;
use crate::writer_queue::WriterThread;
use disk::{Disk, FileOnDisk};
use shared::{PendingChanges, StateHandover};
use writer::StateFileWriter;

mod disk;
mod log;
mod shared;
#[cfg(test)]
mod tests;
mod writer;

const NAME: &str = "dfrs_state";
/// How long a pass waits for the disk, once; while it hangs no pass waits again.
const DISK_TIMEOUT: Duration = Duration::from_secs(1);
/// How long the end waits for the last changes.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

/// Where the file is in Slurm's StateSaveLocation.
pub fn path_in(state_directory: &Path) -> PathBuf {
    state_directory.join(NAME)
}

/// Reads the state; a file that is not there is an empty one. The file is not touched.
///
/// # Errors
///
/// One line on what is wrong with the file.
pub fn load(path: &Path) -> Result<State, String> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(State::default()),
        Err(error) => return Err(format!("{}: {error}", path.display())),
    };
    log::read(&bytes).map_err(|problem| format!("{}: {problem}", path.display()))
}

/// What has to be on its disk first, because the changes refer to it: the journal. Does not wait
/// for long.
pub type PreWriteHook = Box<dyn FnMut() + Send>;

/// The file as the agent's store.
pub struct StateFile {
    writer: WriterThread<PendingChanges>,
    log: Log,
    /// A wait timed out, and nothing has been kept since.
    hangs: bool,
}

impl StateFile {
    /// Reads the state, unless it is known and newer than the file (`unkept`), and goes on from there. `before`
    /// is called before changes are written. A file that cannot be read is one error line, and is kept as
    /// `dfrs_state.bad`.
    ///
    /// # Errors
    ///
    /// The system's, if it has no thread to give.
    pub fn open(
        path: &Path,
        unkept: Option<State>,
        before: PreWriteHook,
        log: &Log,
    ) -> std::io::Result<(Self, State)> {
        let (state, readable) = match unkept.map_or_else(|| load(path), Ok) {
            Ok(state) => (state, true),
            Err(problem) => {
                let line = format!(
                    "{problem}; it is kept as {NAME}.bad; going on without the history of running jobs"
                );
                log.write(LogLevel::Error, &line);
                (State::default(), false)
            }
        };
        let disk = FileOnDisk::new(path.to_owned(), readable);
        Ok((Self::start(Box::new(disk), &state, before, log)?, state))
    }

    fn start(
        disk: Box<dyn Disk>,
        state: &State,
        before: PreWriteHook,
        log: &Log,
    ) -> std::io::Result<Self> {
        let shared = Arc::<StateHandover>::default();
        let writer = StateFileWriter::new(disk, state, &shared, before, log);
        let thread = Watched::start("dfrs_state", log, writer, StateFileWriter::run)?;
        Ok(Self {
            writer: WriterThread::new(shared, thread, SHUTDOWN_TIMEOUT),
            log: log.clone(),
            hangs: false,
        })
    }
}

impl StateFile {
    /// A way to know how far the disk is behind.
    pub fn gauge(&self) -> StateFileGauge {
        StateFileGauge(Arc::clone(self.writer.queue()))
    }
}

/// Knows how far the disk is behind what was handed over.
pub struct StateFileGauge(Arc<StateHandover>);

impl StateFileGauge {
    /// How far now.
    pub fn lag(&self) -> StateFileStatus {
        self.0.lag()
    }
}

impl Store for StateFile {
    fn save(&mut self, changes: StateChanges) -> u64 {
        self.writer.queue().submit(changes)
    }

    fn durable(&self) -> u64 {
        self.writer.queue().durable()
    }

    fn wait(&mut self, number: u64) -> bool {
        let max_wait = if self.hangs {
            Duration::ZERO
        } else {
            DISK_TIMEOUT
        };
        let queue = self.writer.queue();
        let Some(durable) = queue.wait_until_durable(number, max_wait) else {
            return false; // The writer has logged why.
        };
        if !durable && !self.hangs {
            let line = format!(
                "{NAME} has not been written for {} s: StateSaveLocation hangs; scheduling continues, but a crash now may lose what DFRS did since",
                DISK_TIMEOUT.as_secs()
            );
            self.log.write(LogLevel::Error, &line);
        }
        self.hangs = !durable;
        durable
    }

    fn finish(&mut self) {
        self.writer.stop();
    }
}
