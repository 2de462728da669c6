//! Keeping the ledger in the state file.

use super::Agent;
use crate::daemons::Daemons;
use crate::job::ledger::LedgerRecord;
use crate::publish::state::{Head, PersistedJob, State, StateChanges};
use crate::slurm::port::Slurm;

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Keeps what changed in the ledger and must survive.
    pub(super) fn save(&mut self) {
        let jobs = self.unsaved_changes();
        if !jobs.jobs.is_empty() {
            self.persist(jobs, false);
        }
    }

    /// As [`Self::save`], and waits until it survives a crash: what is done in Slurm next is known
    /// again after a crash by what was kept before it. The store bounds the wait.
    pub(super) fn save_durably(&mut self) {
        self.save();
        self.store.wait(self.kept);
    }

    /// The last thing that an agent keeps.
    pub(super) fn persist_in_order(&mut self) {
        let changes = self.unsaved_changes();
        self.persist(changes, true);
        self.store.finish();
    }

    /// All that is to be kept.
    pub(super) fn state(&self) -> State {
        let mut state = State {
            ledger: self.ledger.clone(),
            ..State::default()
        };
        state.set_head(self.head.clone().unwrap_or_default());
        state
    }

    /// Keeps the head, if it changed. Returns the number of the changes that it is kept by.
    pub(super) fn persist_head(&mut self) -> u64 {
        let changes = self.unsaved_changes();
        self.persist(changes, false);
        self.kept
    }

    /// What is to be kept of the jobs that changed.
    fn unsaved_changes(&mut self) -> StateChanges {
        let mut changes = StateChanges::default();
        for id in std::mem::take(&mut self.lists.unsaved) {
            let record = self.ledger.get(id);
            let differs = match (self.saved.get(&id), record) {
                (Some(before), Some(after)) => differs(before, after),
                (before, after) => before.is_some() != after.is_some(),
            };
            if !differs {
                continue;
            }
            changes.jobs.insert(id, record.and_then(PersistedJob::of));
            match record {
                Some(record) => drop(self.saved.insert(id, record.clone())),
                None => drop(self.saved.remove(&id)),
            }
        }
        changes
    }

    /// Keeps these changes. `in_order`: as the last thing that this agent does.
    fn persist(&mut self, mut changes: StateChanges, in_order: bool) {
        let head = Head {
            partitions: self.partitions(),
            journal: self.config.journal.clone(),
            experience: self.planned.experience().clone(),
            ahead: self.ahead,
            in_order,
        };
        if self.head.as_ref() != Some(&head) {
            changes.head = Some(head.clone());
            self.head = Some(head);
        }
        if !changes.is_empty() {
            self.kept = self.store.save(changes);
        }
    }
}

/// Whether two records differ in more than the passing of time.
fn differs(before: &LedgerRecord, after: &LedgerRecord) -> bool {
    before.life != after.life
        || before.progress.rate() != after.progress.rate()
        || before.shown != after.shown
        || before.admitted != after.admitted
        || before.extended != after.extended
}
