//! Courier and prober with nodes that are missing or hang. Nothing here waits for a time: a node hangs until
//! the test lets it go.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use dfrs_proto::message::{Message, NodeState};

use super::*;
use crate::log::Kept;

/// Longer than anything takes: only a test that fails waits so long.
const FAILED: Duration = Duration::from_secs(60);

/// The nodes as a link sees them.
#[derive(Default)]
struct Nodes {
    /// Nodes and addresses where nobody listens.
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
    nodes: Mutex<Nodes>,
    changed: Condvar,
}

impl FakeLink {
    fn lock(&self) -> MutexGuard<'_, Nodes> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Nodes)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    fn wait_for(&self, what: &str, mut condition: impl FnMut(&Nodes) -> bool) {
        let wait = self
            .changed
            .wait_timeout_while(self.lock(), FAILED, |nodes| !condition(nodes));
        let (_now, waited) = wait.unwrap_or_else(PoisonError::into_inner);
        assert!(!waited.timed_out(), "waited in vain: {what}");
    }
}

impl NodeLink for FakeLink {
    /// The worst link: while one node of a message hangs, none of them gets it.
    fn push(&self, nodes: &[String], address: &str, data: &[u8]) -> Vec<String> {
        let hangs = |now: &Nodes| nodes.iter().any(|node| now.hang.contains(node));
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
    let state = NodeState {
        cpus,
        ..NodeState::default()
    };
    OrderChanges {
        changed: nodes
            .iter()
            .map(|node| (node.clone(), state.clone()))
            .collect(),
        gone: BTreeSet::new(),
    }
}

fn got_orders(nodes: &Nodes) -> BTreeSet<String> {
    let orders = nodes.got.keys().filter(|(_, address)| address == DAEMON);
    orders.map(|(node, _)| node.clone()).collect()
}

/// Couriers that try again at once, and for whom all that hangs is late soon.
fn couriers(link: &Arc<FakeLink>, log: &Log) -> Couriers {
    let pace = Pace {
        late: Duration::from_millis(50),
        retry: Duration::from_millis(1),
        ..Pace::with_time_to_live(FAILED)
    };
    let link = Arc::clone(link) as Arc<dyn NodeLink>;
    Couriers::start(&link, log, pace, 7).expect("threads")
}

/// Waits until the facts are so; who writes them has nobody to wake.
fn wait_for_facts(couriers: &Couriers, what: &str, condition: impl Fn(&NodeFacts) -> bool) {
    let end = Instant::now() + FAILED;
    while !condition(&couriers.facts()) {
        assert!(Instant::now() < end, "waited in vain: {what}");
        std::thread::yield_now();
    }
}

#[test]
fn orders_reach_each_node_and_facts_come_back() {
    let link = Arc::new(FakeLink::default());
    let mut couriers = couriers(&link, &Log::nowhere());
    let parking = BTreeMap::from([(9, vec!["n1".to_owned()])]);
    couriers.set(orders(&names(2), 4), parking);
    link.wait_for("orders", |nodes| got_orders(nodes).len() == 2);
    wait_for_facts(&couriers, "swap", |facts| facts.can_park.len() == 2);
    wait_for_facts(&couriers, "parked", |facts| facts.parked.contains(&9));
    couriers.set(OrderChanges::default(), BTreeMap::new());
    assert!(
        couriers.facts().parked.is_empty(),
        "what is no longer asked about is forgotten"
    );
}

#[test]
fn a_daemon_that_is_missing_is_silent_until_it_answers() {
    let link = Arc::new(FakeLink::default());
    link.change(|nodes| nodes.missing = BTreeSet::from(["n1".to_owned()]));
    let mut couriers = couriers(&link, &Log::nowhere());
    couriers.set(orders(&names(2), 4), BTreeMap::new());
    wait_for_facts(&couriers, "silence", |facts| {
        facts.silent == BTreeSet::from(["n1".to_owned()])
    });
    link.change(|nodes| nodes.missing.clear());
    wait_for_facts(&couriers, "answer", |facts| facts.silent.is_empty());
}

#[test]
fn a_job_is_parked_only_when_all_its_nodes_say_so_and_never_without_nodes() {
    let link = Arc::new(FakeLink::default());
    let missing = "/run/dfrs/%n/parked.9.sock".to_owned();
    link.change(|nodes| nodes.missing = BTreeSet::from([missing]));
    let mut couriers = couriers(&link, &Log::nowhere());
    let parking = BTreeMap::from([(8, Vec::new()), (9, names(2)), (10, names(2))]);
    couriers.set(orders(&names(2), 4), parking);
    wait_for_facts(&couriers, "the other job", |facts| {
        facts.parked.contains(&10)
    });
    assert_eq!(couriers.facts().parked, BTreeSet::from([10]));
}

#[test]
fn a_node_is_asked_for_eighths_of_its_swap_when_it_does_not_have_all() {
    let link = Arc::new(FakeLink::default());
    let missing = [6, 7, 8].map(|eighths| format!("/run/dfrs/%n/swap.{eighths}.sock"));
    link.change(|nodes| nodes.missing = BTreeSet::from(missing));
    let mut couriers = couriers(&link, &Log::nowhere());
    couriers.set(orders(&names(2), 4), BTreeMap::new());
    wait_for_facts(&couriers, "swap", |facts| facts.can_park.len() == 2);
    for node in names(2) {
        assert_eq!(couriers.facts().swap_eighths(&node), Some(5));
    }
}

#[test]
fn a_job_is_stuck_when_one_of_its_nodes_says_so() {
    let link = Arc::new(FakeLink::default());
    let parked = "/run/dfrs/%n/parked.9.sock".to_owned();
    let other = "/run/dfrs/%n/stuck.8.sock".to_owned();
    let slow = "/run/dfrs/%n/parked.8.sock".to_owned();
    link.change(|nodes| nodes.missing = BTreeSet::from([parked, other, slow]));
    let mut couriers = couriers(&link, &Log::nowhere());
    let parking = BTreeMap::from([(8, names(2)), (9, names(2))]);
    couriers.set(orders(&names(2), 4), parking);
    wait_for_facts(&couriers, "the job", |facts| facts.stuck.contains(&9));
    assert_eq!(couriers.facts().stuck, BTreeSet::from([9]));
    couriers.set(OrderChanges::default(), BTreeMap::new());
    assert!(couriers.facts().stuck.is_empty());
}

#[test]
fn what_a_job_needs_is_asked_where_there_is_news_and_nowhere_else() {
    let link = Arc::new(FakeLink::default());
    let mut couriers = couriers(&link, &Log::nowhere());
    couriers.set(
        dfrs_agent::model::asking(&[("n0", &[(7, 2)]), ("n1", &[])]),
        BTreeMap::new(),
    );
    let enough = |eighths: u8| format!("/run/dfrs/%n/need.7.{eighths}.sock");
    let no = [enough(2), enough(5)];
    link.change(|nodes| nodes.missing = BTreeSet::from(no));
    // It needs more than the two eighths that it counts with, and six are enough.
    wait_for_facts(&couriers, "a need", |facts| {
        facts.needs == BTreeMap::from([(7, dfrs_core::Need::from_eighths(6))])
    });
    let asked = link.lock().got.clone();
    let about_needs = |(_, address): &&(String, String)| address.contains("need");
    let nodes: BTreeSet<&String> = asked.keys().filter(about_needs).map(|key| &key.0).collect();
    assert_eq!(nodes, BTreeSet::from([&"n0".to_owned()]));
}

#[test]
fn ten_nodes_that_hang_keep_none_of_630_others_waiting_nor_the_end() {
    let link = Arc::new(FakeLink::default());
    let all = names(640);
    let hang: BTreeSet<String> = all.iter().step_by(64).cloned().collect();
    assert_eq!(hang.len(), 10);
    link.change(|nodes| nodes.hang.clone_from(&hang));
    let mut couriers = couriers(&link, &Log::nowhere());
    couriers.set(orders(&all, 4), BTreeMap::new());
    link.wait_for("orders", |nodes| got_orders(nodes).len() == 630);
    // Known by now for nodes that answer, they get the next ones, too, and before any that hang.
    link.change(|nodes| nodes.got.clear());
    couriers.set(orders(&all, 8), BTreeMap::new());
    link.wait_for("changed orders", |nodes| got_orders(nodes).len() == 630);
    couriers.stop();
    assert!(link.lock().hanging > 0, "it did not wait for them");
    link.change(|nodes| nodes.hang.clear());
    link.wait_for("the last threads", |nodes| nodes.hanging == 0);
}

#[test]
fn a_job_on_a_node_that_hangs_keeps_no_other_from_being_known_as_parked() {
    let link = Arc::new(FakeLink::default());
    let mut couriers = couriers(&link, &Log::nowhere());
    link.change(|nodes| nodes.hang = BTreeSet::from(["n0".to_owned()]));
    let job = |id| (id, vec![format!("n{}", id / 20)]);
    let parking: BTreeMap<u32, Vec<String>> = (0..40).map(job).collect();
    couriers.set(orders(&names(2), 4), parking);
    wait_for_facts(&couriers, "20 jobs", |facts| facts.parked.len() == 20);
    couriers.stop();
    link.change(|nodes| nodes.hang.clear());
}

#[test]
fn what_was_ordered_last_is_still_sent_at_the_end() {
    let link = Arc::new(FakeLink::default());
    let mut couriers = couriers(&link, &Log::nowhere());
    couriers.set(orders(&names(200), 4), BTreeMap::new());
    couriers.stop();
    assert_eq!(got_orders(&link.lock()).len(), 200);
}

#[test]
fn a_panic_on_the_way_is_an_error_line_and_the_node_is_tried_again() {
    let link = Arc::new(FakeLink::default());
    link.change(|nodes| nodes.panic = BTreeSet::from(["n0".to_owned()]));
    let kept = Kept::default();
    let mut couriers = couriers(&link, &kept.log());
    couriers.set(orders(&names(1), 4), BTreeMap::new());
    wait_for_facts(&couriers, "silence", |facts| !facts.silent.is_empty());
    link.change(|nodes| nodes.panic.clear());
    wait_for_facts(&couriers, "answer", |facts| facts.silent.is_empty());
    let errors = kept.errors();
    assert!(!errors.is_empty(), "one for each attempt");
    assert!(errors.iter().all(|line| line.contains("a fault")));
}
