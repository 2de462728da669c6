//! The memory that the journal says is used: it never shows more on a node than the node has.

use std::collections::BTreeMap;

use crate::job::ledger::Ledger;
use crate::job::life::journal::JournalState;
use crate::job::placement::NamedPlacement;
use crate::slurm::observation::Observation;
use crate::slurm::records::ObservedJob;
use crate::slurm::request::memory::memory_on_node;

/// MiB that the journal shows as used on each node: at the end of this pass by jobs that run,
/// before it by others.
#[derive(Debug)]
pub(super) struct MemoryShown<'a> {
    observation: &'a Observation,
    ledger: &'a Ledger,
    /// By node. Counted at the first call, which is rare.
    used: Option<BTreeMap<String, u64>>,
}

impl<'a> MemoryShown<'a> {
    /// By all jobs.
    pub(super) fn new(observation: &'a Observation, ledger: &'a Ledger) -> Self {
        Self {
            observation,
            ledger,
            used: None,
        }
    }

    /// Takes a job's memory from its old place to the new one, if it fits there. Returns whether it
    /// does. O(places), the first time O(jobs and their places).
    pub(super) fn moves(
        &mut self,
        job: &ObservedJob,
        old: &NamedPlacement,
        new: &NamedPlacement,
    ) -> bool {
        if self.used.is_none() {
            self.count_all();
        }
        self.change(job, old, u64::saturating_sub);
        self.change(job, new, u64::saturating_add);
        let fits = new.0.iter().all(|spot| self.fits(&spot.node));
        if !fits {
            self.change(job, new, u64::saturating_sub);
            self.change(job, old, u64::saturating_add);
        }
        fits
    }

    fn count_all(&mut self) {
        for job in self.observation.jobs() {
            let Some(record) = self.ledger.get(job.id) else {
                continue;
            };
            if record.life.uses_its_allocation() {
                let here = NamedPlacement::of_job(job, self.observation);
                self.change(job, &here, u64::saturating_add);
            } else if let JournalState::Placed(placement) = &record.shown {
                self.change(job, placement, u64::saturating_add);
            }
        }
    }

    fn fits(&self, node: &str) -> bool {
        let used = self.used.as_ref().and_then(|used| used.get(node));
        let node = self.observation.node(node);
        node.is_some_and(|node| used.is_none_or(|used| *used <= node.memory))
    }

    fn change(&mut self, job: &ObservedJob, placement: &NamedPlacement, by: fn(u64, u64) -> u64) {
        let used = self.used.get_or_insert_default();
        for spot in &placement.0 {
            let amount = used.entry(spot.node.clone()).or_default();
            *amount = by(*amount, memory_on_node(job, spot.tasks, self.observation));
        }
    }
}
