//! Keeping the ledger in the state file.

use super::Agent;
use crate::daemons::Daemons;
use crate::ledger::Record;
use crate::slurm::{Level, Slurm};
use crate::state::State;

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Keeps the ledger if what must survive changed.
    pub(super) fn save(&mut self) {
        self.follow_saved();
        if self.unkept {
            self.keep(false);
        }
    }

    /// Looks whether what was kept of the jobs that changed is still so.
    fn follow_saved(&mut self) {
        for id in std::mem::take(&mut self.lists.unsaved) {
            let record = self.ledger.get(id);
            let differs = match (self.saved.get(&id), record) {
                (Some(before), Some(after)) => differs(before, after),
                (before, after) => before.is_some() != after.is_some(),
            };
            if !differs {
                continue;
            }
            self.unkept = true;
            match record {
                Some(record) => drop(self.saved.insert(id, record.clone())),
                None => drop(self.saved.remove(&id)),
            }
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
            Ok(()) => self.unkept = false,
            Err(problem) => self
                .slurm
                .log(Level::Error, &format!("state not saved: {problem}")),
        }
    }
}

/// Whether two records differ in more than the passing of time.
fn differs(before: &Record, after: &Record) -> bool {
    before.life != after.life
        || before.share != after.share
        || before.shown != after.shown
        || before.admitted != after.admitted
}
