//! Keeping the ledger in the state file.

use std::collections::BTreeMap;

use crate::changes::ChangeReader;
use crate::daemons::Daemons;
use crate::job::ledger::{Ledger, LedgerRecord};
use crate::pass::Agent;
use crate::publish::state::{Head, PersistedJob, State, StateChanges, Store};
use crate::slurm::port::Slurm;

/// What was kept last, and where.
pub(in crate::pass) struct Saved {
    pub(in crate::pass) store: Box<dyn Store>,
    jobs: BTreeMap<u32, LedgerRecord>,
    /// What was kept beside the jobs, by this agent.
    head: Option<Head>,
    /// The number of the changes that were kept last.
    pub(in crate::pass) number: u64,
}

impl Saved {
    /// The ledger is as it was kept.
    pub(in crate::pass) fn new(store: Box<dyn Store>, ledger: &Ledger) -> Self {
        let jobs = ledger.iter().map(|(id, record)| (id, record.clone()));
        Self {
            store,
            jobs: jobs.collect(),
            head: None,
            number: 0,
        }
    }
}

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Keeps what changed in the ledger and must survive.
    pub(in crate::pass) fn save(&mut self) {
        let jobs = self.unsaved_changes();
        if !jobs.jobs.is_empty() {
            self.persist(jobs, false);
        }
    }

    /// As [`Self::save`], and waits until it survives a crash: what is done in Slurm next is known
    /// again after a crash by what was kept before it. The store bounds the wait.
    pub(in crate::pass) fn save_durably(&mut self) {
        self.save();
        self.publisher.saved.store.wait(self.publisher.saved.number);
    }

    /// The last thing that an agent keeps.
    pub(in crate::pass) fn persist_in_order(&mut self) {
        let changes = self.unsaved_changes();
        self.persist(changes, true);
        self.publisher.saved.store.finish();
    }

    /// All that is to be kept.
    pub(in crate::pass) fn state(&self) -> State {
        State {
            head: self.publisher.saved.head.clone().unwrap_or_default(),
            ledger: self.ledger.clone(),
        }
    }

    /// Keeps the head, if it changed. Returns the number of the changes that it is kept by.
    pub(in crate::pass) fn persist_head(&mut self) -> u64 {
        let changes = self.unsaved_changes();
        self.persist(changes, false);
        self.publisher.saved.number
    }

    /// What is to be kept of the jobs that changed.
    fn unsaved_changes(&mut self) -> StateChanges {
        let mut changes = StateChanges::default();
        for id in self.lists.changes.take(ChangeReader::State).jobs {
            let record = self.ledger.get(id);
            let differs = match (self.publisher.saved.jobs.get(&id), record) {
                (Some(before), Some(after)) => differs(before, after),
                (before, after) => before.is_some() != after.is_some(),
            };
            if !differs {
                continue;
            }
            changes.jobs.insert(id, record.and_then(PersistedJob::of));
            match record {
                Some(record) => drop(self.publisher.saved.jobs.insert(id, record.clone())),
                None => drop(self.publisher.saved.jobs.remove(&id)),
            }
        }
        changes
    }

    /// Keeps these changes. `in_order`: as the last thing that this agent does.
    fn persist(&mut self, mut changes: StateChanges, in_order: bool) {
        let head = Head {
            partitions: self.partitions(),
            journal: self.config.journal.clone(),
            experience: self.planner.planned.experience().clone(),
            ahead: self.looks.ahead,
            void_images: self.nodes.void_images.clone(),
            in_order,
        };
        if self.publisher.saved.head.as_ref() != Some(&head) {
            changes.head = Some(head.clone());
            self.publisher.saved.head = Some(head);
        }
        if !changes.is_empty() {
            self.publisher.saved.number = self.publisher.saved.store.save(changes);
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
