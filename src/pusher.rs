//! Carries orders to the node daemons from a thread of its own, because a dead node can hold a
//! message up for seconds. A second thread (`prober`) learns from them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use dfrs_agent::daemons::{Daemons, NodeFacts};
use dfrs_proto::message::{DesiredState, Message, NodeState};

use crate::node_link::NodeLink;
use crate::prober;

/// Where dfrsd listens; slurmd replaces %n by the node's name.
const DAEMON: &str = "/run/dfrs/%n/dfrsd.sock";
/// Nodes in one message.
const BATCH: usize = 64;
/// How long the thread sleeps when nothing wakes it.
const TICK: Duration = Duration::from_millis(200);
/// A node that got no message is tried again after this, doubled each time up to the last.
const FIRST_RETRY: Duration = Duration::from_secs(2);
const LAST_RETRY: Duration = Duration::from_secs(60);

/// What the agent and the two threads share.
#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) orders: BTreeMap<String, NodeState>,
    unsent: BTreeSet<String>,
    pub(crate) parking: BTreeMap<u32, Vec<String>>,
    pub(crate) facts: NodeFacts,
    pub(crate) stop: bool,
}

/// A handle on the threads.
pub struct Pusher {
    shared: Arc<(Mutex<Shared>, Condvar)>,
    threads: Vec<JoinHandle<()>>,
}

impl Pusher {
    /// Starts the threads. `time_to_live` is how long daemons keep their caps without news,
    /// `generation` the number of the first message.
    ///
    /// # Errors
    ///
    /// The system's, if it has no thread to give.
    pub fn start(
        link: Arc<dyn NodeLink>,
        time_to_live: Duration,
        generation: u64,
    ) -> std::io::Result<Self> {
        let mut pusher = Self {
            shared: Arc::default(),
            threads: Vec::new(),
        };
        let courier = Courier {
            link: Arc::clone(&link),
            time_to_live,
            generation,
            retries: BTreeMap::new(),
        };
        pusher.spawn("dfrs_push", move |shared| courier.run(shared))?;
        pusher.spawn("dfrs_probe", move |shared| {
            prober::run(link.as_ref(), shared)
        })?;
        Ok(pusher)
    }

    fn spawn(
        &mut self,
        name: &str,
        body: impl FnOnce(&(Mutex<Shared>, Condvar)) + Send + 'static,
    ) -> std::io::Result<()> {
        let shared = Arc::clone(&self.shared);
        let thread = std::thread::Builder::new()
            .name(name.into())
            .spawn(move || body(&shared))?;
        self.threads.push(thread);
        Ok(())
    }
}

impl Daemons for Pusher {
    fn set(&mut self, orders: BTreeMap<String, NodeState>, parking: BTreeMap<u32, Vec<String>>) {
        let mut shared = lock(&self.shared.0);
        let changed: Vec<String> = orders
            .iter()
            .filter(|(name, state)| shared.orders.get(*name) != Some(state))
            .map(|(name, _)| name.clone())
            .collect();
        shared.facts.parked.retain(|job| parking.contains_key(job));
        // Nodes that are down are not sent to, and are silent by right.
        shared.facts.silent.retain(|node| orders.contains_key(node));
        shared.unsent.extend(changed);
        shared.orders = orders;
        shared.parking = parking;
        self.shared.1.notify_all();
    }

    fn facts(&self) -> NodeFacts {
        lock(&self.shared.0).facts.clone()
    }

    fn stop(&mut self) {
        lock(&self.shared.0).stop = true;
        self.shared.1.notify_all();
        for thread in self.threads.drain(..) {
            // A panic in the thread has nothing left to tell: the daemons fail open by themselves.
            let _ = thread.join();
        }
    }
}

impl Drop for Pusher {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A poisoned lock only means that another thread panicked between two whole updates.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The thread's own state.
struct Courier {
    link: Arc<dyn NodeLink>,
    time_to_live: Duration,
    generation: u64,
    retries: BTreeMap<String, (Instant, Duration)>,
}

impl Courier {
    fn run(mut self, shared: &(Mutex<Shared>, Condvar)) {
        let mut refreshed = Instant::now();
        loop {
            let refresh = refreshed.elapsed() >= self.time_to_live / 3;
            let (orders, stop) = Self::wait(shared, refresh);
            if refresh {
                refreshed = Instant::now();
            }
            let failed = self.send(&orders);
            self.note_failures(shared, orders.into_keys().collect(), &failed);
            if stop {
                return;
            }
        }
    }

    /// Waits for orders; returns those to send (all of them if `refresh`) and whether to end.
    fn wait(
        shared: &(Mutex<Shared>, Condvar),
        refresh: bool,
    ) -> (BTreeMap<String, NodeState>, bool) {
        let guard = lock(&shared.0);
        let waits = guard.unsent.is_empty() && !guard.stop && !refresh;
        let mut guard = if waits {
            shared
                .1
                .wait_timeout(guard, TICK)
                .map_or_else(|error| error.into_inner().0, |(guard, _)| guard)
        } else {
            guard
        };
        let unsent = std::mem::take(&mut guard.unsent);
        let orders = guard
            .orders
            .iter()
            .filter(|(name, _)| refresh || unsent.contains(*name))
            .map(|(name, state)| (name.clone(), state.clone()))
            .collect();
        (orders, guard.stop)
    }

    /// Sends each node its orders; returns the nodes that did not get them.
    fn send(&mut self, orders: &BTreeMap<String, NodeState>) -> BTreeSet<String> {
        let due: Vec<(&String, &NodeState)> = orders
            .iter()
            .filter(|(name, _)| {
                self.retries
                    .get(*name)
                    .is_none_or(|(at, _)| *at <= Instant::now())
            })
            .collect();
        let late = orders
            .keys()
            .filter(|name| !due.iter().any(|(due, _)| due == name))
            .cloned();
        let mut failed: BTreeSet<String> = late.collect();
        for batch in due.chunks(BATCH) {
            self.generation += 1;
            let message = Message::State(DesiredState {
                generation: self.generation,
                time_to_live: u32::try_from(self.time_to_live.as_secs()).unwrap_or(u32::MAX),
                nodes: batch
                    .iter()
                    .map(|(name, state)| ((*name).clone(), (*state).clone()))
                    .collect(),
            });
            let names: Vec<String> = batch.iter().map(|(name, _)| (*name).clone()).collect();
            match message.encode() {
                Ok(bytes) => failed.extend(self.link.push(&names, DAEMON, &bytes)),
                Err(_) => failed.extend(names),
            }
        }
        failed
    }

    /// Failed nodes stay unsent and wait longer each time; the others are fine again.
    fn note_failures(
        &mut self,
        shared: &(Mutex<Shared>, Condvar),
        tried: Vec<String>,
        failed: &BTreeSet<String>,
    ) {
        let now = Instant::now();
        let mut guard = lock(&shared.0);
        for name in tried {
            if !failed.contains(&name) {
                self.retries.remove(&name);
                guard.facts.silent.remove(&name);
                continue;
            }
            let (at, wait) = self
                .retries
                .get(&name)
                .copied()
                .unwrap_or((now, FIRST_RETRY / 2));
            if at <= now {
                let wait = (wait * 2).min(LAST_RETRY);
                self.retries.insert(name.clone(), (now + wait, wait));
            }
            guard.facts.silent.insert(name.clone());
        }
        let due = self
            .retries
            .iter()
            .filter(|(_, (at, _))| *at <= now)
            .map(|(name, _)| name.clone());
        guard.unsent.extend(due);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Daemons that are there, or not; remembers what they were sent.
    #[derive(Default)]
    struct FakeLink {
        missing: Mutex<BTreeSet<String>>,
        sent: Mutex<Vec<(String, String)>>,
    }

    impl NodeLink for FakeLink {
        fn push(&self, nodes: &[String], address: &str, data: &[u8]) -> Vec<String> {
            let missing = lock(&self.missing);
            let there = |node: &&String| !missing.contains(*node) && !missing.contains(address);
            let text = String::from_utf8_lossy(data).into_owned();
            let delivered = nodes
                .iter()
                .filter(there)
                .map(|_| (address.to_owned(), text.clone()));
            lock(&self.sent).extend(delivered);
            nodes.iter().filter(|node| !there(node)).cloned().collect()
        }
    }

    fn orders(names: &[&str]) -> BTreeMap<String, NodeState> {
        names
            .iter()
            .map(|name| ((*name).to_owned(), NodeState::default()))
            .collect()
    }

    fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
        let end = Instant::now() + Duration::from_secs(20);
        while !condition() {
            assert!(Instant::now() < end, "waited in vain: {what}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn pusher(link: &Arc<FakeLink>) -> Pusher {
        Pusher::start(
            Arc::clone(link) as Arc<dyn NodeLink>,
            Duration::from_secs(60),
            7,
        )
        .expect("threads")
    }

    #[test]
    fn orders_reach_each_node_and_facts_come_back() {
        let link = Arc::new(FakeLink::default());
        let mut pusher = pusher(&link);
        pusher.set(
            orders(&["n1", "n2"]),
            BTreeMap::from([(9, vec!["n1".to_owned()])]),
        );
        wait_for("orders", || {
            lock(&link.sent)
                .iter()
                .any(|(to, text)| to == DAEMON && text.contains("\"n2\""))
        });
        wait_for("swap", || pusher.facts().can_park.len() == 2);
        wait_for("parked", || pusher.facts().parked.contains(&9));
        pusher.set(orders(&["n1", "n2"]), BTreeMap::new());
        assert!(
            pusher.facts().parked.is_empty(),
            "what is no longer asked about is forgotten"
        );
        pusher.stop();
    }

    #[test]
    fn a_daemon_that_is_missing_is_silent_until_it_answers() {
        let link = Arc::new(FakeLink::default());
        lock(&link.missing).insert("n2".to_owned());
        let mut pusher = pusher(&link);
        pusher.set(orders(&["n1", "n2"]), BTreeMap::new());
        wait_for("silence", || {
            pusher.facts().silent == BTreeSet::from(["n2".to_owned()])
        });
        lock(&link.missing).clear();
        wait_for("answer", || pusher.facts().silent.is_empty());
        pusher.stop();
    }

    #[test]
    fn a_job_is_parked_only_when_all_its_nodes_say_so() {
        let link = Arc::new(FakeLink::default());
        lock(&link.missing).insert("/run/dfrs/%n/parked.9.sock".to_owned());
        let mut pusher = pusher(&link);
        let nodes = vec!["n1".to_owned(), "n2".to_owned()];
        pusher.set(
            orders(&["n1", "n2"]),
            BTreeMap::from([(9, nodes.clone()), (10, nodes)]),
        );
        wait_for("the other job", || pusher.facts().parked.contains(&10));
        assert!(!pusher.facts().parked.contains(&9));
        pusher.stop();
    }
}
