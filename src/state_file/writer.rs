//! The thread that writes the file.

use std::collections::BTreeMap;
use std::sync::Arc;

use dfrs_agent::publish::state::{Head, PersistedJob, State, StateChanges};
use dfrs_agent::slurm::port::LogLevel;

use super::disk::Disk;
use super::shared::StateHandover;
use super::{PreWriteHook, log};
use crate::log::Log;

/// A file that is not longer than this is not rewritten for its length.
const MIN_REWRITE_LENGTH: usize = 64 << 10;

/// The thread's state.
pub(super) struct StateFileWriter {
    disk: Box<dyn Disk>,
    shared: Arc<StateHandover>,
    before: PreWriteHook,
    log: Log,
    head: Head,
    /// What the file holds, or will hold when the next attempt succeeds.
    live: BTreeMap<u32, PersistedJob>,
    /// Length of the file when it was last rewritten, and now. `None`: it has to be.
    lengths: Option<(usize, usize)>,
    /// The number of the last changes that were handed over.
    taken: u64,
}

impl StateFileWriter {
    pub(super) fn new(
        disk: Box<dyn Disk>,
        state: &State,
        shared: &Arc<StateHandover>,
        before: PreWriteHook,
        log: &Log,
    ) -> Self {
        let records = state.ledger.iter();
        let live = records.filter_map(|(id, record)| Some((id, PersistedJob::of(record)?)));
        Self {
            disk,
            shared: Arc::clone(shared),
            before,
            log: log.clone(),
            head: state.head.clone(),
            live: live.collect(),
            lengths: None,
            taken: 0,
        }
    }

    /// Writes what is handed over until there is no more.
    pub(super) fn run(&mut self) {
        if self.taken > self.shared.durable() {
            // After a panic in the middle of it.
            self.write_with_retries(StateChanges::default());
        }
        while let Some((changes, number)) = self.shared.take_changes() {
            self.taken = number;
            self.write_with_retries(changes);
        }
    }

    /// Writes these changes. While that fails it is retried, ever more rarely, and once more at the end.
    fn write_with_retries(&mut self, changes: StateChanges) {
        (self.before)();
        let (shared, log) = (Arc::clone(&self.shared), self.log.clone());
        let failure = |problem: &str| {
            format!(
                "dfrs_state not written: {problem}; will be retried; scheduling continues, but a crash now may lose what DFRS did since"
            )
        };
        let mut changes = Some(changes);
        let attempt = || self.write(changes.take().unwrap_or_default());
        if shared.retry(attempt, &log, failure) && shared.note_durable(self.taken) {
            log.write(LogLevel::Info, "dfrs_state is written again");
        }
    }

    /// Writes these changes: adds them to the file, or rewrites it if that is due.
    fn write(&mut self, changes: StateChanges) -> Result<(), String> {
        self.apply(&changes);
        match self.lengths.take() {
            Some((then, now)) if now <= (2 * then).max(MIN_REWRITE_LENGTH) => {
                let line = log::line(changes)?;
                let length = now + line.len();
                self.disk.append(&line).map_err(|error| error.to_string())?;
                self.lengths = Some((then, length));
            }
            _ => {
                let bytes = log::file(&self.head, &self.live)?;
                let shared = &self.shared;
                self.disk
                    .replace(&bytes, &|| !shared.is_abandoned())
                    .map_err(|error| error.to_string())?;
                self.lengths = Some((bytes.len(), bytes.len()));
            }
        }
        Ok(())
    }

    fn apply(&mut self, changes: &StateChanges) {
        if let Some(head) = &changes.head {
            self.head.clone_from(head);
        }
        for (id, kept) in &changes.jobs {
            match kept {
                Some(kept) => drop(self.live.insert(*id, kept.clone())),
                None => drop(self.live.remove(id)),
            }
        }
    }
}
