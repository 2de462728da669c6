//! What is known of the nodes, written by courier and prober, read by the agent.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dfrs_agent::daemons::NodeFacts;

/// The facts; a change copies them only if somebody still reads the ones before.
#[derive(Default)]
pub(super) struct Board(Mutex<Arc<NodeFacts>>);

impl Board {
    /// The facts now.
    pub(super) fn facts(&self) -> Arc<NodeFacts> {
        Arc::clone(&self.lock())
    }

    /// These nodes answered, those did not.
    pub(super) fn heard(&self, answered: &[String], silent: &[String]) {
        let mut facts = self.lock();
        let known = &facts.silent;
        let news = answered.iter().any(|node| known.contains(node))
            || silent.iter().any(|node| !known.contains(node));
        if news {
            let facts = Arc::make_mut(&mut facts);
            facts.silent.retain(|node| !answered.contains(node));
            facts.silent.extend(silent.iter().cloned());
        }
    }

    /// These nodes have swap for parked jobs, those have none that is known of.
    pub(super) fn can_park(&self, able: &[String], unable: &[String]) {
        let mut facts = self.lock();
        let known = &facts.can_park;
        let news = able.iter().any(|node| !known.contains(node))
            || unable.iter().any(|node| known.contains(node));
        if news {
            let facts = Arc::make_mut(&mut facts);
            facts.can_park.retain(|node| !unable.contains(node));
            facts.can_park.extend(able.iter().cloned());
        }
    }

    /// All nodes of this job say that it is parked.
    pub(super) fn parked(&self, job: u32) {
        Arc::make_mut(&mut self.lock()).parked.insert(job);
    }

    /// Forgets nodes that are gone, which are silent by right, and jobs that are no longer asked about.
    pub(super) fn leave_out(&self, gone: &BTreeSet<String>, parking: &BTreeMap<u32, Vec<String>>) {
        let mut facts = self.lock();
        let forgets = gone
            .iter()
            .any(|node| facts.silent.contains(node) || facts.can_park.contains(node));
        if forgets || facts.parked.iter().any(|job| !parking.contains_key(job)) {
            let facts = Arc::make_mut(&mut facts);
            facts.silent.retain(|node| !gone.contains(node));
            facts.can_park.retain(|node| !gone.contains(node));
            facts.parked.retain(|job| parking.contains_key(job));
        }
    }

    /// A poisoned lock only means that another thread panicked between two whole updates.
    fn lock(&self) -> MutexGuard<'_, Arc<NodeFacts>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
