//! What is known of the nodes, written by order sender and node poller, read by the agent.

use std::sync::{Mutex, MutexGuard, PoisonError};

use dfrs_agent::publish::delivery::DeliveryFacts;

/// The facts that the threads share.
#[derive(Debug, Default)]
pub(super) struct NodeFactsStore(Mutex<DeliveryFacts>);

impl NodeFactsStore {
    /// Held for no longer than it takes to read them, to change them, or to find the next query:
    /// never while anything is sent. A poisoned lock only means that another thread panicked: each
    /// change of the facts is whole by then, and the poller starts its schedule again.
    pub(super) fn lock(&self) -> MutexGuard<'_, DeliveryFacts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
