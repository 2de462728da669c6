//! To the node daemons and back, with no node in another's way: each message has a thread of its
//! own (`in_flight`), the order sender decides which node is sent to when and with which others
//! (`send_queue`), the node poller polls what nodes publish. Neither ever waits for a node.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use dfrs_agent::daemons::{Daemons, NodeFacts, OrderChanges};

use crate::log::Log;
use crate::node_link::NodeLink;
use crate::watched::Watched;
use facts_store::NodeFactsStore;
use node_poller::NodePoller;
use order_sender::OrderSender;
pub use traffic::Traffic;

mod facts_store;
mod in_flight;
mod needs;
mod node_poller;
mod order_sender;
mod parked;
mod send_queue;
mod swap;
#[cfg(test)]
mod tests;
mod traffic;

/// Nodes and messages are looked after this often when nothing happens.
const TICK: Duration = Duration::from_millis(200);
/// How long `stop` waits for what may still be under way: the order sender's last messages and its
/// end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

/// How long what may take.
#[derive(Clone, Copy, Debug)]
pub struct SendTiming {
    /// How long daemons keep their caps without orders; they get some three times as often.
    pub time_to_live: Duration,
    /// A message that is under way for longer has met a node that is slow or hangs: others no
    /// longer wait for it, and new orders for its nodes are sent to each of them alone until it
    /// completes.
    pub late: Duration,
    /// A node that got no message is retried after this, and after twice as long each time, up to a
    /// minute.
    pub retry: Duration,
}

impl SendTiming {
    /// With this time to live, and all else as nodes have it: slurmd starts a process for each message, which
    /// takes milliseconds.
    #[must_use]
    pub fn with_time_to_live(time_to_live: Duration) -> Self {
        Self {
            time_to_live,
            late: Duration::from_secs(1),
            retry: Duration::from_secs(2),
        }
    }
}

/// The way to the node daemons.
pub struct NodeDaemons {
    store: Arc<NodeFactsStore>,
    traffic: Arc<Traffic>,
    orders: Sender<order_sender::SenderEvent>,
    questions: Sender<node_poller::PollerEvent>,
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
        let (questions, answers) = channel();
        let poller = NodePoller::new(link, &questions, (&store, &traffic), timing);
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
            questions,
            threads,
        })
    }
}

impl NodeDaemons {
    /// How busy they are.
    #[must_use]
    pub fn traffic(&self) -> Arc<Traffic> {
        Arc::clone(&self.traffic)
    }
}

impl Daemons for NodeDaemons {
    fn set(&mut self, changes: OrderChanges, parking: BTreeMap<u32, Vec<String>>) {
        let number = self.store.change(&changes, parking);
        // The receivers live as long as the threads, which end only after `stop`.
        let asked = node_poller::PollerEvent::NodesChanged {
            more: frozen(&changes),
            fewer: changes.gone.clone(),
        };
        let _ = self.questions.send(asked);
        if self.store.polls_needs() {
            let orders = node_poller::PollerEvent::Orders(changes.clone(), number);
            let _ = self.questions.send(orders);
        }
        let _ = self
            .orders
            .send(order_sender::SenderEvent::Orders(changes, number));
    }

    fn facts(&self) -> Arc<NodeFacts> {
        self.store.facts()
    }

    fn has_acknowledged(&self, node: &str) -> bool {
        self.store.has_newest_orders(node)
    }

    fn stop(&mut self) {
        let _ = self.questions.send(node_poller::PollerEvent::Stop);
        let _ = self.orders.send(order_sender::SenderEvent::Stop);
        for thread in self.threads.drain(..) {
            thread.stop(SHUTDOWN_TIMEOUT);
        }
    }
}

/// The jobs that each node keeps frozen whose orders changed.
fn frozen(changes: &OrderChanges) -> BTreeMap<String, BTreeSet<u32>> {
    let nodes = changes.changed.iter().map(|(name, orders)| {
        let frozen = orders.jobs.iter().filter(|job| job.frozen);
        (name.clone(), frozen.map(|job| job.id).collect())
    });
    nodes.collect()
}

impl Drop for NodeDaemons {
    fn drop(&mut self) {
        self.stop();
    }
}
