//! To the node daemons and back, with no node in another's way: each message has a thread of its
//! own (`in_flight`), the order sender sends orders, the node poller polls what nodes publish. Neither
//! ever waits for a node; the rules by which they do it are the agent's
//! ([`dfrs_agent::publish::delivery`]).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use dfrs_agent::daemons::{Daemons, NodeFacts, OrderChanges};
use dfrs_agent::publish::delivery::{PolledChanges, SendTiming};

use crate::log::Log;
use crate::node_link::NodeLink;
use crate::watched::Watched;
use facts_store::NodeFactsStore;
use node_poller::{NodePoller, PollerEvent};
use order_sender::{OrderSender, SenderEvent};
pub use traffic::Traffic;

mod facts_store;
mod in_flight;
mod node_poller;
mod order_sender;
#[cfg(test)]
mod tests;
mod traffic;
mod uptime;

/// Nodes and messages are looked after this often when nothing happens.
const TICK: Duration = Duration::from_millis(200);
/// How long `stop` waits for what may still be under way: the order sender's last messages and its
/// end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

/// What has come by now, or within a tick. `None`: nothing will come any more. Each is taken when it
/// is its turn: a panic over one loses no other.
fn next_events<Event>(events: &Receiver<Event>) -> Option<impl Iterator<Item = Event>> {
    let first = match events.recv_timeout(TICK) {
        Ok(first) => Some(first),
        Err(RecvTimeoutError::Timeout) => None,
        Err(RecvTimeoutError::Disconnected) => return None,
    };
    let more = first.is_some().then(|| events.try_iter());
    Some(first.into_iter().chain(more.into_iter().flatten()))
}

/// The way to the node daemons.
pub struct NodeDaemons {
    store: Arc<NodeFactsStore>,
    traffic: Arc<Traffic>,
    orders: Sender<SenderEvent>,
    polls: Sender<PollerEvent>,
    threads: Vec<Watched>,
}

impl NodeDaemons {
    /// Starts the threads. `generation` is the number of the first message.
    ///
    /// # Errors
    ///
    /// The system's, if it has no thread to give.
    pub fn start(
        link: &Arc<dyn NodeLink>,
        log: &Log,
        timing: SendTiming,
        generation: u64,
    ) -> std::io::Result<Self> {
        let store = Arc::<NodeFactsStore>::default();
        let traffic = Arc::<Traffic>::default();
        let (orders, news) = channel();
        let sender = OrderSender::new(link, &orders, (&store, &traffic), log, timing, generation);
        let (polls, answers) = channel();
        let poller = NodePoller::new(link, &polls, (&store, &traffic), timing);
        let threads = vec![
            Watched::start("dfrs_push", log, sender, move |sender| sender.run(&news))?,
            Watched::start("dfrs_probe", log, poller, move |poller| {
                poller.run(&answers);
            })?,
        ];
        Ok(Self {
            store,
            traffic,
            orders,
            polls,
            threads,
        })
    }
}

impl NodeDaemons {
    /// How busy they are.
    pub fn traffic(&self) -> Arc<Traffic> {
        Arc::clone(&self.traffic)
    }
}

impl Daemons for NodeDaemons {
    fn set(&mut self, changes: OrderChanges, parking: BTreeMap<u32, Vec<String>>) {
        let (number, polled) = {
            let mut facts = self.store.lock();
            let number = facts.change(&changes, parking);
            (number, PolledChanges::new(&changes, number, &facts))
        };
        // The receivers live as long as the threads, which end only after `stop`.
        let _ = self.polls.send(PollerEvent::Orders(polled));
        let _ = self.orders.send(SenderEvent::Orders(changes, number));
    }

    fn facts(&self) -> Arc<NodeFacts> {
        self.store.lock().facts()
    }

    fn has_acknowledged(&self, node: &str) -> bool {
        self.store.lock().has_newest_orders(node)
    }

    fn stop(&mut self) {
        let _ = self.polls.send(PollerEvent::Stop);
        let _ = self.orders.send(SenderEvent::Stop);
        for thread in self.threads.drain(..) {
            thread.stop(SHUTDOWN_TIMEOUT);
        }
    }
}

impl Drop for NodeDaemons {
    fn drop(&mut self) {
        self.stop();
    }
}
