//! Order sender and node poller with nodes that are missing or hang. Nothing here waits for a time:
//! a node hangs until the test releases it.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use dfrs_core::Span;
use dfrs_proto::message::{Message, NodeOrder};

use super::*;
use crate::log::CapturedLog;

/// Longer than anything takes: only a test that fails waits so long.
const FAILED: Duration = Duration::from_secs(60);

/// The nodes as a link sees them.
#[derive(Default)]
struct FakeNodeState {
    /// Nodes and addresses without a receiver.
    missing: BTreeSet<String>,
    /// A message to one of these nodes does not return before they do not hang any more, and then has
    /// reached none of them.
    hang: BTreeSet<String>,
    /// Messages to one of these nodes panic.
    panic: BTreeSet<String>,
    /// Where what was delivered last: by node and address, the generation or 0.
    got: BTreeMap<(String, String), u64>,
    /// Messages that hang.
    hanging: usize,
}

#[derive(Default)]
struct FakeLink {
    nodes: Mutex<FakeNodeState>,
    changed: Condvar,
}

impl FakeLink {
    fn lock(&self) -> MutexGuard<'_, FakeNodeState> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut FakeNodeState)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    fn wait_for(&self, what: &str, mut condition: impl FnMut(&FakeNodeState) -> bool) {
        let wait = self
            .changed
            .wait_timeout_while(self.lock(), FAILED, |nodes| !condition(nodes));
        let (_now, waited) = wait.unwrap_or_else(PoisonError::into_inner);
        assert!(!waited.timed_out(), "timeout: {what}");
    }
}

impl NodeLink for FakeLink {
    /// The worst link: while one node of a message hangs, none of them gets it.
    fn push(&self, nodes: &[String], address: &str, data: &[u8]) -> Vec<String> {
        let hangs = |now: &FakeNodeState| nodes.iter().any(|node| now.hang.contains(node));
        let mut now = self.lock();
        let late = hangs(&now);
        assert!(
            !nodes.iter().any(|node| now.panic.contains(node)),
            "a fault"
        );
        if late {
            now.hanging += 1;
            self.changed.notify_all();
            now = self
                .changed
                .wait_while(now, |now| hangs(now))
                .unwrap_or_else(PoisonError::into_inner);
            now.hanging -= 1;
            self.changed.notify_all();
            return nodes.to_vec();
        }
        let generation = match Message::decode(data) {
            Ok(Message::State(state)) => state.generation,
            _ => 0,
        };
        let mut failed = Vec::new();
        for node in nodes {
            if now.missing.contains(node) || now.missing.contains(address) {
                failed.push(node.clone());
            } else {
                now.got
                    .insert((node.clone(), address.to_owned()), generation);
            }
        }
        self.changed.notify_all();
        failed
    }
}

const DAEMON: &str = "/run/dfrs/%n/dfrsd.sock";

fn names(nodes: usize) -> Vec<String> {
    (0..nodes).map(|node| format!("n{node}")).collect()
}

fn orders(nodes: &[String], cpus: u32) -> OrderChanges {
    let state = NodeOrder {
        cpus,
        ..NodeOrder::default()
    };
    OrderChanges {
        changed: nodes
            .iter()
            .map(|node| (node.clone(), state.clone()))
            .collect(),
        gone: BTreeSet::new(),
    }
}

fn got_orders(nodes: &FakeNodeState) -> BTreeSet<String> {
    let orders = nodes.got.keys().filter(|(_, address)| address == DAEMON);
    orders.map(|(node, _)| node.clone()).collect()
}

/// Daemons that are sent to again at once, and with which all that hangs is late soon.
fn start_daemons(link: &Arc<FakeLink>, log: &Log) -> NodeDaemons {
    let timing = SendTiming {
        late: Span(50_000),
        retry: Span(1_000),
        ..SendTiming::with_time_to_live(Span::from_seconds(60))
    };
    let link = Arc::clone(link) as Arc<dyn NodeLink>;
    NodeDaemons::start(&link, log, timing, 7).expect("threads")
}

/// Waits until the facts are so; their writer wakes no thread.
fn wait_for_facts(daemons: &NodeDaemons, what: &str, condition: impl Fn(&NodeFacts) -> bool) {
    let end = Instant::now() + FAILED;
    while !condition(&daemons.facts()) {
        assert!(Instant::now() < end, "timeout: {what}");
        std::thread::yield_now();
    }
}

#[test]
fn orders_reach_each_node_and_facts_come_back() {
    let link = Arc::new(FakeLink::default());
    let mut daemons = start_daemons(&link, &Log::discarding());
    let parking = BTreeMap::from([(9, vec!["n1".to_owned()])]);
    daemons.set(orders(&names(2), 4), parking);
    link.wait_for("orders", |nodes| got_orders(nodes).len() == 2);
    wait_for_facts(&daemons, "swap", |facts| facts.can_park.len() == 2);
    wait_for_facts(&daemons, "parked", |facts| facts.parked.contains(&9));
    daemons.set(OrderChanges::default(), BTreeMap::new());
    assert!(
        daemons.facts().parked.is_empty(),
        "what is no longer asked about is forgotten"
    );
}

#[test]
fn a_daemon_that_is_missing_is_silent_until_it_answers() {
    let link = Arc::new(FakeLink::default());
    link.change(|nodes| nodes.missing = BTreeSet::from(["n1".to_owned()]));
    let mut daemons = start_daemons(&link, &Log::discarding());
    daemons.set(orders(&names(2), 4), BTreeMap::new());
    wait_for_facts(&daemons, "silence", |facts| {
        facts.silent == BTreeSet::from(["n1".to_owned()])
    });
    link.change(|nodes| nodes.missing.clear());
    wait_for_facts(&daemons, "answer", |facts| facts.silent.is_empty());
}

#[test]
fn job_is_parked_only_when_all_of_its_nodes_confirm_it() {
    let link = Arc::new(FakeLink::default());
    let missing = "/run/dfrs/%n/parked.9.sock".to_owned();
    link.change(|nodes| nodes.missing = BTreeSet::from([missing]));
    let mut daemons = start_daemons(&link, &Log::discarding());
    let parking = BTreeMap::from([(8, Vec::new()), (9, names(2)), (10, names(2))]);
    daemons.set(orders(&names(2), 4), parking);
    wait_for_facts(&daemons, "the other job", |facts| {
        facts.parked.contains(&10)
    });
    assert_eq!(daemons.facts().parked, BTreeSet::from([10]));
}

#[test]
fn node_is_polled_for_eighths_when_it_has_not_all_of_its_swap() {
    let link = Arc::new(FakeLink::default());
    let missing = [6, 7, 8].map(|eighths| format!("/run/dfrs/%n/swap.{eighths}.sock"));
    link.change(|nodes| nodes.missing = BTreeSet::from(missing));
    let mut daemons = start_daemons(&link, &Log::discarding());
    daemons.set(orders(&names(2), 4), BTreeMap::new());
    wait_for_facts(&daemons, "swap", |facts| facts.can_park.len() == 2);
    for node in names(2) {
        assert_eq!(daemons.facts().swap_eighths(&node), Some(5));
    }
}

#[test]
fn job_is_stuck_when_one_of_its_nodes_reports_it() {
    let link = Arc::new(FakeLink::default());
    let parked = "/run/dfrs/%n/parked.9.sock".to_owned();
    let other = "/run/dfrs/%n/stuck.8.sock".to_owned();
    let slow = "/run/dfrs/%n/parked.8.sock".to_owned();
    link.change(|nodes| nodes.missing = BTreeSet::from([parked, other, slow]));
    let mut daemons = start_daemons(&link, &Log::discarding());
    let parking = BTreeMap::from([(8, names(2)), (9, names(2))]);
    daemons.set(orders(&names(2), 4), parking);
    wait_for_facts(&daemons, "the job", |facts| facts.stuck.contains(&9));
    assert_eq!(daemons.facts().stuck, BTreeSet::from([9]));
    daemons.set(OrderChanges::default(), BTreeMap::new());
    assert!(daemons.facts().stuck.is_empty());
}

#[test]
fn need_is_measured_only_on_nodes_that_report_a_change() {
    let link = Arc::new(FakeLink::default());
    let mut daemons = start_daemons(&link, &Log::discarding());
    daemons.set(
        dfrs_agent::fixtures::measuring_orders(&[("n0", &[(7, 2)]), ("n1", &[])]),
        BTreeMap::new(),
    );
    let enough = |eighths: u8| format!("/run/dfrs/%n/need.7.{eighths}.sock");
    let no = [enough(2), enough(5)];
    link.change(|nodes| nodes.missing = BTreeSet::from(no));
    // The job needs more than the two eighths that it counts with, and six are enough.
    wait_for_facts(&daemons, "a need", |facts| {
        facts.needs == BTreeMap::from([(7, dfrs_core::Need::from_eighths(6))])
    });
    let asked = link.lock().got.clone();
    let about_needs = |(_, address): &&(String, String)| address.contains("need");
    let nodes: BTreeSet<&String> = asked.keys().filter(about_needs).map(|key| &key.0).collect();
    assert_eq!(nodes, BTreeSet::from([&"n0".to_owned()]));
}

#[test]
fn ten_hanging_nodes_delay_neither_630_others_nor_the_stop() {
    let link = Arc::new(FakeLink::default());
    let all = names(640);
    let hang: BTreeSet<String> = all.iter().step_by(64).cloned().collect();
    assert_eq!(hang.len(), 10);
    link.change(|nodes| nodes.hang.clone_from(&hang));
    let mut daemons = start_daemons(&link, &Log::discarding());
    daemons.set(orders(&all, 4), BTreeMap::new());
    link.wait_for("orders", |nodes| got_orders(nodes).len() == 630);
    // Known by now for nodes that answer, they get the next ones, too, and before any that hang.
    link.change(|nodes| nodes.got.clear());
    daemons.set(orders(&all, 8), BTreeMap::new());
    link.wait_for("changed orders", |nodes| got_orders(nodes).len() == 630);
    daemons.stop();
    assert!(link.lock().hanging > 0, "it did not wait for them");
    link.change(|nodes| nodes.hang.clear());
    link.wait_for("the last threads", |nodes| nodes.hanging == 0);
}

#[test]
fn hanging_node_does_not_delay_parking_on_other_nodes() {
    let link = Arc::new(FakeLink::default());
    let mut daemons = start_daemons(&link, &Log::discarding());
    link.change(|nodes| nodes.hang = BTreeSet::from(["n0".to_owned()]));
    let job = |id| (id, vec![format!("n{}", id / 20)]);
    let parking: BTreeMap<u32, Vec<String>> = (0..40).map(job).collect();
    daemons.set(orders(&names(2), 4), parking);
    wait_for_facts(&daemons, "20 jobs", |facts| facts.parked.len() == 20);
    daemons.stop();
    link.change(|nodes| nodes.hang.clear());
}

#[test]
fn last_orders_are_sent_before_the_stop() {
    let link = Arc::new(FakeLink::default());
    let mut daemons = start_daemons(&link, &Log::discarding());
    daemons.set(orders(&names(200), 4), BTreeMap::new());
    daemons.stop();
    assert_eq!(got_orders(&link.lock()).len(), 200);
}

#[test]
fn panic_while_sending_is_logged_and_the_node_is_retried() {
    let link = Arc::new(FakeLink::default());
    link.change(|nodes| nodes.panic = BTreeSet::from(["n0".to_owned()]));
    let kept = CapturedLog::default();
    let mut daemons = start_daemons(&link, &kept.log());
    daemons.set(orders(&names(1), 4), BTreeMap::new());
    wait_for_facts(&daemons, "silence", |facts| !facts.silent.is_empty());
    link.change(|nodes| nodes.panic.clear());
    wait_for_facts(&daemons, "answer", |facts| facts.silent.is_empty());
    let errors = kept.errors();
    assert!(!errors.is_empty(), "one for each attempt");
    assert!(errors.iter().all(|line| line.contains("a fault")));
}
