//! Jobs that a killed slurmctld does not know any more, although nodes may still run them: it gives
//! their ids away again (`job_id_sequence` is saved with the jobs, `_set_job_id()`, 22.05 and
//! 24.11), to whatever is submitted or split off an array next.

use std::collections::BTreeMap;

use crate::job::ledger::LedgerRecord;
use crate::job::placement::NamedPlacement;

/// Where each of them was.
#[derive(Debug, Default)]
pub(in crate::pass) struct Lost(BTreeMap<u32, NamedPlacement>);

impl Lost {
    /// These, which were there.
    pub(in crate::pass) const fn of(places: BTreeMap<u32, NamedPlacement>) -> Self {
        Self(places)
    }

    /// Slurm does not know this job any more.
    pub(in crate::pass) fn add(&mut self, id: u32, record: &LedgerRecord) {
        let place = record.life.last_place();
        if !place.0.is_empty() {
            self.0.insert(id, place.clone());
        }
    }

    /// Another job has got this id. Returns where the one before it was.
    pub(in crate::pass) fn take(&mut self, id: u32) -> Option<NamedPlacement> {
        self.0.remove(&id)
    }
}
