//! Keeping the ledger in the state file.

use super::Agent;
use crate::daemons::Daemons;
use crate::ledger::{Ledger, Record};
use crate::slurm::{Level, Slurm};
use crate::state::State;

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Keeps the ledger if what must survive changed.
    pub(super) fn save(&mut self) {
        if differs(&self.saved, &self.ledger) {
            self.keep(false);
        }
    }

    /// Keeps the ledger. `in_order`: as the last thing that this agent does.
    pub(super) fn keep(&mut self, in_order: bool) {
        let state = State {
            partitions: self.config.partition_names(),
            journal: self.config.journal.clone(),
            in_order,
            ledger: self.ledger.clone(),
        };
        match self.store.save(&state) {
            Ok(()) => self.saved = self.ledger.clone(),
            Err(problem) => self
                .slurm
                .log(Level::Error, &format!("state not saved: {problem}")),
        }
    }
}

/// Whether the two ledgers differ in more than the passing of time.
fn differs(saved: &Ledger, now: &Ledger) -> bool {
    let essence = |record: &Record| {
        (
            record.phase.clone(),
            record.share,
            record.shown.clone(),
            record.admitted,
        )
    };
    saved.jobs.len() != now.jobs.len()
        || saved
            .jobs
            .iter()
            .zip(&now.jobs)
            .any(|((a, before), (b, after))| a != b || essence(before) != essence(after))
}
