//! slurmctld's job records, of which it is known which may have changed.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use super::slurmctld::JobEntry;

/// Job records by Slurm's id. What is read is a plain map; what is changed is remembered.
#[derive(Clone, Debug, Default)]
pub(super) struct JobRecords {
    all: BTreeMap<u32, JobEntry>,
    /// Changed since they were last shown.
    unseen: BTreeSet<u32>,
    /// Changed since they were last saved.
    unsaved: BTreeSet<u32>,
}

impl Deref for JobRecords {
    type Target = BTreeMap<u32, JobEntry>;

    fn deref(&self) -> &Self::Target {
        &self.all
    }
}

impl JobRecords {
    fn touch(&mut self, id: u32) {
        self.unseen.insert(id);
        self.unsaved.insert(id);
    }

    pub(super) fn get_mut(&mut self, id: &u32) -> Option<&mut JobEntry> {
        if self.all.contains_key(id) {
            self.touch(*id);
        }
        self.all.get_mut(id)
    }

    pub(super) fn insert(&mut self, id: u32, entry: JobEntry) {
        self.touch(id);
        self.all.insert(id, entry);
    }

    pub(super) fn remove(&mut self, id: u32) {
        self.touch(id);
        self.all.remove(&id);
    }

    /// All of them may be shown differently from now on.
    pub(super) fn touch_all(&mut self) {
        self.unseen.extend(self.all.keys());
    }

    /// The ids of the records that may have changed since the last call.
    pub(super) fn take_unseen(&mut self) -> BTreeSet<u32> {
        std::mem::take(&mut self.unseen)
    }

    /// Makes `saved` what this is. O(what changed since the last call).
    pub(super) fn save_to(&mut self, saved: &mut Self) {
        for id in std::mem::take(&mut self.unsaved) {
            match self.all.get(&id) {
                Some(entry) => saved.all.insert(id, entry.clone()),
                None => saved.all.remove(&id),
            };
        }
    }
}
