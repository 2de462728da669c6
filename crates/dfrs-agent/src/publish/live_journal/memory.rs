//! The memory that the journal says is used: it never shows more on a node than the node has.

use std::collections::BTreeMap;

use crate::job::ledger::Ledger;
use crate::job::life::journal::JournalState;
use crate::job::placement::NamedPlacement;
use crate::slurm::observation::Observation;
use crate::slurm::records::ObservedJob;
use crate::slurm::request::memory::memory_on_node;

/// MiB that the journal shows as used on each node: at the end of this pass by jobs that run,
/// before it by others. Counted at the first call, which is rare.
#[derive(Debug)]
pub struct MemoryShown<'a> {
    observation: &'a Observation,
    ledger: &'a Ledger,
    used: Option<UsedMemory>,
}

/// MiB by node.
#[derive(Debug, Default)]
struct UsedMemory(BTreeMap<String, u64>);

impl<'a> MemoryShown<'a> {
    /// By all jobs.
    #[must_use]
    pub fn new(observation: &'a Observation, ledger: &'a Ledger) -> Self {
        Self {
            observation,
            ledger,
            used: None,
        }
    }

    /// Takes a job's memory from its old place to the new one, if it fits there. Returns whether it
    /// does. O(places), the first time O(jobs and their places).
    pub fn moves(&mut self, job: &ObservedJob, old: &NamedPlacement, new: &NamedPlacement) -> bool {
        let (observation, ledger) = (self.observation, self.ledger);
        let used = self
            .used
            .get_or_insert_with(|| UsedMemory::of_all(observation, ledger));
        used.moves(job, old, new, observation)
    }
}

impl UsedMemory {
    fn of_all(observation: &Observation, ledger: &Ledger) -> Self {
        let mut memory = Self::default();
        for job in observation.jobs() {
            let Some(record) = ledger.get(job.id) else {
                continue;
            };
            if record.life.uses_its_allocation() {
                memory.add(job, &NamedPlacement::of_job(job, observation), observation);
            } else if let JournalState::Placed(placement) = &record.shown {
                memory.add(job, placement, observation);
            }
        }
        memory
    }

    fn moves(
        &mut self,
        job: &ObservedJob,
        old: &NamedPlacement,
        new: &NamedPlacement,
        observation: &Observation,
    ) -> bool {
        self.remove(job, old, observation);
        self.add(job, new, observation);
        let fits = new.0.iter().all(|spot| self.fits(&spot.node, observation));
        if !fits {
            self.remove(job, new, observation);
            self.add(job, old, observation);
        }
        fits
    }

    fn fits(&self, node: &str, observation: &Observation) -> bool {
        let used = self.0.get(node).copied().unwrap_or(0);
        let node = observation.node(node);
        node.is_some_and(|node| used <= node.memory)
    }

    fn add(&mut self, job: &ObservedJob, placement: &NamedPlacement, observation: &Observation) {
        for spot in &placement.0 {
            *self.0.entry(spot.node.clone()).or_default() +=
                memory_on_node(job, spot.tasks, observation);
        }
    }

    fn remove(&mut self, job: &ObservedJob, placement: &NamedPlacement, observation: &Observation) {
        for spot in &placement.0 {
            let amount = self.0.entry(spot.node.clone()).or_default();
            *amount = amount.saturating_sub(memory_on_node(job, spot.tasks, observation));
        }
    }
}
