//! To the node daemons and back, with no node in another's way: each message travels in a thread of
//! its own (`flights`), the courier decides which node is sent to when and with which others
//! (`rounds`), the prober asks what nodes publish. Neither ever waits for a node.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use dfrs_agent::daemons::{Daemons, NodeFacts, OrderChanges};

use crate::log::Log;
use crate::node_link::NodeLink;
use crate::watched::Watched;
use board::Board;
use courier::Courier;
use prober::Prober;
pub use traffic::Traffic;

mod board;
mod courier;
mod flights;
mod needs;
mod parked;
mod prober;
mod rounds;
mod swap;
#[cfg(test)]
mod tests;
mod traffic;

/// Nodes and messages are looked after this often when nothing happens.
const TICK: Duration = Duration::from_millis(200);
/// How long `stop` waits for what may still be under way: the courier's last messages and its end.
const PATIENCE: Duration = Duration::from_secs(3);

/// How long what may take.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// How long daemons keep their caps without news; they get some three times as often.
    pub time_to_live: Duration,
    /// A message that is under way for longer has met a node that is slow or hangs: others no longer wait for
    /// it, and news for its nodes travel to each of them alone until it lands.
    pub late: Duration,
    /// A node that got no message is tried again after this, and after twice as long each time, up to a
    /// minute.
    pub retry: Duration,
}

impl Pace {
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
pub struct Couriers {
    board: Arc<Board>,
    traffic: Arc<Traffic>,
    orders: Sender<courier::Event>,
    questions: Sender<prober::Event>,
    threads: Vec<Watched>,
}

impl Couriers {
    /// Starts the threads. `generation` is the number of the first message.
    ///
    /// # Errors
    ///
    /// The system's, if it has no thread to give.
    pub fn start(
        link: &Arc<dyn NodeLink>,
        log: &Log,
        pace: Pace,
        generation: u64,
    ) -> std::io::Result<Self> {
        let board = Arc::<Board>::default();
        let traffic = Arc::<Traffic>::default();
        let (orders, news) = channel();
        let courier = Courier::new(link, &orders, (&board, &traffic), log, pace, generation);
        let (questions, answers) = channel();
        let prober = Prober::new(link, &questions, (&board, &traffic), pace);
        let threads = vec![
            Watched::start("dfrs_push", log, courier, move |courier| courier.run(&news))?,
            Watched::start("dfrs_probe", log, prober, move |prober| {
                prober.run(&answers);
            })?,
        ];
        Ok(Self {
            board,
            traffic,
            orders,
            questions,
            threads,
        })
    }
}

impl Couriers {
    /// How busy they are.
    #[must_use]
    pub fn traffic(&self) -> Arc<Traffic> {
        Arc::clone(&self.traffic)
    }
}

impl Daemons for Couriers {
    fn set(&mut self, changes: OrderChanges, parking: BTreeMap<u32, Vec<String>>) {
        let number = self.board.change(&changes, parking);
        // The receivers live as long as the threads, which end only after `stop`.
        let asked = prober::Event::Ask {
            more: frozen(&changes),
            fewer: changes.gone.clone(),
        };
        let _ = self.questions.send(asked);
        if self.board.asks_for_needs() {
            let orders = prober::Event::Orders(changes.clone(), number);
            let _ = self.questions.send(orders);
        }
        let _ = self.orders.send(courier::Event::Orders(changes, number));
    }

    fn facts(&self) -> Arc<NodeFacts> {
        self.board.facts()
    }

    fn has_heard(&self, node: &str) -> bool {
        self.board.has_heard(node)
    }

    fn stop(&mut self) {
        let _ = self.questions.send(prober::Event::Stop);
        let _ = self.orders.send(courier::Event::Stop);
        for thread in self.threads.drain(..) {
            thread.stop(PATIENCE);
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

impl Drop for Couriers {
    fn drop(&mut self) {
        self.stop();
    }
}
