//! The thread that writes the file.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use dfrs_agent::slurm::Level;
use dfrs_agent::state::{Changes, Head, Kept, State};

use super::disk::Disk;
use super::shared::{Shared, Work};
use super::{Before, log};
use crate::log::Log;

/// A file that is not longer than this is not written anew for its length.
const SHORT: usize = 64 << 10;
/// What failed is tried again after this, doubled each time up to the last.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LAST_PAUSE: Duration = Duration::from_secs(60);

/// The thread's state.
pub(super) struct Writer {
    disk: Box<dyn Disk>,
    shared: Arc<Shared>,
    before: Before,
    log: Log,
    head: Head,
    /// What the file holds, or will hold when the next attempt succeeds.
    live: BTreeMap<u32, Kept>,
    /// Length of the file when it was last written anew, and now. `None`: it has to be.
    lengths: Option<(usize, usize)>,
    /// The number of the last changes that were handed over.
    taken: u64,
    fails: bool,
}

impl Writer {
    pub(super) fn new(
        disk: Box<dyn Disk>,
        state: &State,
        shared: &Arc<Shared>,
        before: Before,
        log: &Log,
    ) -> Self {
        let records = state.ledger.iter();
        let live = records.filter_map(|(id, record)| Some((id, Kept::of(record)?)));
        Self {
            disk,
            shared: Arc::clone(shared),
            before,
            log: log.clone(),
            head: state.head(),
            live: live.collect(),
            lengths: None,
            taken: 0,
            fails: false,
        }
    }

    /// Writes what is handed over until there is no more.
    pub(super) fn run(&mut self) {
        if self.taken > self.shared.durable() {
            // After a panic in the middle of it.
            self.write_at_last(Changes::default());
        }
        while let Work::Write(changes, number) = self.shared.take() {
            self.taken = number;
            self.write_at_last(*changes);
        }
    }

    /// Writes these changes. While that fails it is tried again, ever more rarely, and once more at the end.
    fn write_at_last(&mut self, changes: Changes) {
        (self.before)();
        let mut outcome = self.write(changes);
        let (mut pause, mut ends) = (FIRST_PAUSE, false);
        while let Err(problem) = outcome {
            self.complain(&problem);
            if ends {
                return;
            }
            ends = self.shared.pause(pause);
            pause = (pause * 2).min(LAST_PAUSE);
            outcome = self.write(Changes::default());
        }
        if std::mem::take(&mut self.fails) {
            self.log.write(Level::Info, "dfrs_state is written again");
        }
        self.shared.written(self.taken);
    }

    fn complain(&mut self, problem: &str) {
        if !std::mem::replace(&mut self.fails, true) {
            let line = format!(
                "dfrs_state not written: {problem}; it is tried again; scheduling goes on, and what DFRS does now it may not know after a crash"
            );
            self.log.write(Level::Error, &line);
        }
        self.shared.failed();
    }

    /// Writes these changes: adds them to the file, or writes it anew if that is due.
    fn write(&mut self, changes: Changes) -> Result<(), String> {
        self.follow(&changes);
        match self.lengths.take() {
            Some((then, now)) if now <= (2 * then).max(SHORT) => {
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

    fn follow(&mut self, changes: &Changes) {
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
