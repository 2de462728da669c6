//! Whole clusters for minutes, by a clock that only this advances: no node that answers may be
//! without orders for so long that its caps lapse, whatever other nodes do.

use std::collections::BTreeSet;

use super::*;

/// How long caps live without orders.
const TIME_TO_LIVE: Span = Span::from_seconds(60);
/// The order sender looks at least so often.
const TICK: Span = Span(200_000);
/// A message under way for longer is late.
const LATE: Span = Span::from_seconds(1);
/// How long a message takes to a node without problems.
const QUICK: Span = Span(10_000);

/// What a node does with a message.
#[derive(Clone, Copy)]
enum NodeBehavior {
    /// The node has the message after this time.
    Answers(Span),
    /// The node never has it, which is known after this time.
    Fails(Span),
}

impl NodeBehavior {
    fn time(self) -> Span {
        match self {
            NodeBehavior::Answers(time) | NodeBehavior::Fails(time) => time,
        }
    }
}

/// How messages reach the nodes that they are for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MessageRoute {
    /// From slurmctld to each of them.
    Direct,
    /// By way of the others: a `TreeWidth` below a batch, or nodes behind switches.
    ByOthers,
}

struct SimulatedNode {
    nature: NodeBehavior,
    /// When messages came, or will come, and which change they brought.
    received: Vec<(Time, u64)>,
    /// When it became known.
    confirmed: Vec<(Time, u64)>,
}

/// What came of it.
#[derive(Debug, Default)]
struct DeliveryStats {
    /// The longest time between two messages to a node that answers.
    longest_gap: Span,
    /// Nodes that answer and whose caps lapsed.
    lapsed: usize,
    /// The longest time until a change had reached a node that answers.
    slowest_news: Span,
    /// The longest time until that was known.
    slowest_confirmation: Span,
    messages: u64,
    /// Nodes in all messages together.
    sent: usize,
    /// The most that was under way at any time.
    max_in_flight: usize,
}

struct SimulatedCluster {
    queue: SendQueue,
    way: MessageRoute,
    begin: Time,
    /// Until then no node has problems.
    trouble: Time,
    now: Time,
    nodes: BTreeMap<String, SimulatedNode>,
    /// When all orders changed; the first time is the beginning.
    changes: Vec<Time>,
    completions: BTreeSet<(Time, u64)>,
    failed: BTreeMap<u64, Vec<String>>,
    outcome: DeliveryStats,
}

fn name(index: usize) -> String {
    format!("n{index:04}")
}

impl SimulatedCluster {
    /// So many nodes, of which `others` are of another nature, evenly spread.
    fn new(nodes: usize, nature: NodeBehavior, others: usize, other: NodeBehavior) -> Self {
        let now = Time::ZERO;
        let is_other = |index: usize| (index + 1) * others / nodes > index * others / nodes;
        let simulated = |index| {
            let nature = if is_other(index) { other } else { nature };
            let (received, confirmed) = (Vec::new(), Vec::new());
            SimulatedNode {
                nature,
                received,
                confirmed,
            }
        };
        Self {
            queue: SendQueue::new(SendTiming::with_time_to_live(TIME_TO_LIVE)),
            way: MessageRoute::Direct,
            begin: now,
            trouble: now,
            now,
            nodes: (0..nodes)
                .map(|index| (name(index), simulated(index)))
                .collect(),
            changes: Vec::new(),
            completions: BTreeSet::new(),
            failed: BTreeMap::new(),
            outcome: DeliveryStats::default(),
        }
    }

    fn all(nodes: usize, nature: NodeBehavior) -> Self {
        Self::new(nodes, nature, 0, nature)
    }

    fn by_others(mut self) -> Self {
        self.way = MessageRoute::ByOthers;
        self
    }

    /// No problems at first.
    fn later(mut self) -> Self {
        self.trouble = self.trouble + Span::from_seconds(65);
        self
    }

    /// Runs for so many seconds; all orders change at the beginning and then `every` so often.
    fn run(mut self, seconds: i64, every: Span) -> DeliveryStats {
        let end = self.begin + Span::from_seconds(seconds);
        let mut change = self.begin;
        while self.now < end {
            if self.now >= change {
                self.change_all();
                change = self.now + every;
            }
            self.complete();
            self.queue.mark_late(self.now);
            while let Some(load) = self.queue.next(self.now) {
                assert!(self.queue.next_due().is_some_and(|due| due <= self.now));
                self.send(&load);
            }
            let landing = self.completions.first().map(|(at, _)| *at);
            let tick = self.now + TICK;
            self.now = landing.map_or(tick, |at| at.min(tick));
        }
        self.finish()
    }

    fn change_all(&mut self) {
        self.changes.push(self.now);
        let orders = self.nodes.keys();
        let changes = OrderChanges {
            changed: orders
                .map(|node| (node.clone(), NodeOrder::default()))
                .collect(),
            gone: BTreeSet::new(),
        };
        let number = self.changes.len() as u64;
        self.queue.change(changes, number, self.now);
    }

    fn send(&mut self, load: &OrderBatch) {
        self.outcome.messages += 1;
        self.outcome.sent += load.len();
        let message = self.outcome.messages;
        self.queue.started(message, load, self.now);
        self.outcome.max_in_flight = self.outcome.max_in_flight.max(self.queue.messages().0);
        let nature = |node: &SimulatedNode| {
            if self.now < self.trouble {
                NodeBehavior::Answers(QUICK)
            } else {
                node.nature
            }
        };
        let natures = load.keys().map(|name| nature(&self.nodes[name]));
        let takes = natures.map(NodeBehavior::time).max().unwrap_or_default();
        let number = self.changes.len() as u64;
        let mut failed = Vec::new();
        for name in load.keys() {
            let Some(node) = self.nodes.get_mut(name) else {
                continue;
            };
            let takes = match (nature(node), self.way) {
                (NodeBehavior::Fails(_), _) => {
                    failed.push(name.clone());
                    continue;
                }
                (NodeBehavior::Answers(time), MessageRoute::Direct) => time,
                (NodeBehavior::Answers(_), MessageRoute::ByOthers) => takes,
            };
            node.received.push((self.now + takes, number));
        }
        self.completions.insert((self.now + takes, message));
        self.failed.insert(message, failed);
    }

    /// What has come to its end by now.
    fn complete(&mut self) {
        while let Some((at, message)) = self.completions.first().copied()
            && at <= self.now
        {
            self.completions.remove(&(at, message));
            let failed = self.failed.remove(&message).unwrap_or_default();
            let answers = self.queue.completed(message, &failed, self.now);
            for (name, number) in answers.confirmed {
                self.confirm(&name, number);
            }
        }
    }

    fn confirm(&mut self, name: &str, number: u64) {
        let now = self.now;
        if let Some(node) = self.nodes.get_mut(name) {
            let mut received = node.received.iter();
            assert!(
                received.any(|(at, seen)| *at <= now && *seen >= number),
                "{name}: {number}"
            );
            node.confirmed.push((now, number));
        }
    }

    fn finish(mut self) -> DeliveryStats {
        let nodes = std::mem::take(&mut self.nodes).into_values();
        for mut node in nodes.filter(|node| matches!(node.nature, NodeBehavior::Answers(_))) {
            let gap = self.longest_gap(&mut node.received);
            let (news, confirmation) =
                (self.slowest(&node.received), self.slowest(&node.confirmed));
            let outcome = &mut self.outcome;
            outcome.longest_gap = outcome.longest_gap.max(gap);
            outcome.lapsed += usize::from(gap > TIME_TO_LIVE);
            outcome.slowest_news = outcome.slowest_news.max(news);
            outcome.slowest_confirmation = outcome.slowest_confirmation.max(confirmation);
        }
        self.outcome
    }

    /// The longest time without a message, from the beginning to the end.
    fn longest_gap(&self, received: &mut [(Time, u64)]) -> Span {
        received.sort_unstable();
        let times = received.iter().map(|(at, _)| (*at).min(self.now));
        let mut last = self.begin;
        let mut longest = Span::ZERO;
        for at in times.chain([self.now]) {
            longest = longest.max(at - last);
            last = at;
        }
        longest
    }

    /// The longest time from a change to this node's receipt of it, or of a later one.
    fn slowest(&self, news: &[(Time, u64)]) -> Span {
        let changes = (1..).zip(&self.changes);
        let waited = changes.map(|(number, changed)| {
            let seen = news.iter().filter(|(_, seen)| *seen >= number);
            let first = seen.map(|(at, _)| *at).min();
            first.unwrap_or(self.now).min(self.now) - *changed
        });
        waited.max().unwrap_or_default()
    }
}

const fn seconds(seconds: i64) -> Span {
    Span::from_seconds(seconds)
}

const QUICKLY: NodeBehavior = NodeBehavior::Answers(QUICK);
/// A node that misses one message gets the next one in time.
const IN_TIME: Span = seconds(45);

/// Long enough for caps to lapse once, and for what hangs for a minute to be known.
fn run(cluster: SimulatedCluster) -> DeliveryStats {
    cluster.run(100, seconds(1000))
}

fn assert_in_time(cluster: SimulatedCluster) {
    let outcome = run(cluster);
    assert!(
        outcome.lapsed == 0 && outcome.longest_gap < IN_TIME,
        "{outcome:?}"
    );
}

fn dead(nodes: usize, of_them: usize) -> SimulatedCluster {
    SimulatedCluster::new(nodes, QUICKLY, of_them, NodeBehavior::Fails(seconds(12)))
}

fn hanging(nodes: usize, of_them: usize) -> SimulatedCluster {
    SimulatedCluster::new(nodes, QUICKLY, of_them, NodeBehavior::Fails(seconds(60)))
}

#[test]
fn thousands_of_nodes_that_are_all_a_bit_slow_keep_their_caps() {
    let slow = NodeBehavior::Answers(Span(1_500_000));
    assert_in_time(SimulatedCluster::all(2000, slow));
    assert_in_time(SimulatedCluster::all(3000, slow));
}

#[test]
fn a_thousand_nodes_that_are_all_slow_keep_their_caps() {
    assert_in_time(SimulatedCluster::all(
        1000,
        NodeBehavior::Answers(seconds(3)),
    ));
}

#[test]
fn slow_nodes_are_sent_to_hardly_more_often_than_quick_ones() {
    let quick = run(SimulatedCluster::all(1000, QUICKLY));
    let slow = run(SimulatedCluster::all(
        1000,
        NodeBehavior::Answers(seconds(3)),
    ));
    assert!(slow.sent * 10 <= quick.sent * 11, "{quick:?} {slow:?}");
}

#[test]
fn a_quarter_of_the_nodes_is_dead_and_the_others_keep_their_caps() {
    assert_in_time(dead(1000, 250));
    assert_in_time(dead(1000, 250).by_others());
    assert_in_time(dead(1000, 250).later());
}

#[test]
fn few_dead_nodes_do_not_delay_confirmations_of_others() {
    let outcome = dead(2000, 80).run(70, seconds(1000));
    assert!(outcome.longest_gap < IN_TIME, "{outcome:?}");
    assert!(outcome.slowest_confirmation < seconds(30), "{outcome:?}");
}

#[test]
fn forty_nodes_hang_for_a_minute_and_the_others_keep_their_caps() {
    assert_in_time(hanging(1000, 40));
    assert_in_time(hanging(1000, 40).by_others());
    assert_in_time(hanging(1000, 40).later());
    assert_in_time(hanging(1000, 40).later().by_others());
}

#[test]
fn small_cluster_gets_changes_at_once_when_nodes_hang() {
    let direct = hanging(64, 2).run(200, seconds(7));
    assert!(direct.slowest_news < TICK, "{direct:?}");
    let by_others = hanging(64, 2).by_others().run(200, seconds(7));
    for outcome in [direct, by_others] {
        let slowest = outcome.slowest_news.max(outcome.slowest_confirmation);
        assert!(slowest < LATE + TICK, "{outcome:?}");
    }
}

#[test]
fn hanging_nodes_leave_capacity_for_others() {
    let outcome = hanging(1000, 40).run(100, seconds(7));
    assert!(outcome.max_in_flight < MAX_IN_FLIGHT, "{outcome:?}");
    assert!(outcome.slowest_confirmation < seconds(5), "{outcome:?}");
}
