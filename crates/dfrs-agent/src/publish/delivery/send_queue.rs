//! Which node is sent its orders when, and with which others. No threads and no clock here.
//!
//! Slurm's fan-out answers when its last node has: after `MessageTimeout` (10 s) and more if one
//! hangs, and a node that Slurm reaches by way of that one gets them no sooner. So each node has a
//! reachability, by how it answered last time, and shares a message only with nodes of the same.
//! When a message completes, it is known of each of its nodes whether it has it: only this
//! distinguishes nodes that hang from those that only shared it.

use dfrs_core::{Span, Time};
use dfrs_proto::message::NodeOrder;
use std::collections::BTreeMap;

use super::SendTiming;
use crate::daemons::OrderChanges;

/// Nodes in one message. Slurm sends to so many at once without passing through any of them (`TreeWidth`, 16
/// by default in 24.11 and 50 in 22.05).
const BATCH: usize = 16;
/// A node that got no message is retried after this at the latest.
const MAX_BACKOFF: Span = Span::from_seconds(60);

/// Messages under way at most. One that is late holds two threads or three, its own and one of Slurm's for
/// each node that it waits for.
const MAX_IN_FLIGHT: usize = 128;
/// Nodes that hang are sent so many messages at least, if there are so many of them.
const MIN_HANGING_MESSAGES: usize = 16;

/// What is known of a node from the messages to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reachability {
    /// The node got the last message, or there was none yet.
    Answers,
    /// The last one is late, and other nodes shared it: any of them may be the cause.
    Doubtful,
    /// The node did not get the last message, which was known at once: no dfrsd.
    Refuses,
    /// The node did not get the last message, which was known late: it hangs, or has no slurmd (to
    /// which 24.11 tries to connect for 11 s).
    Hangs,
}

impl Reachability {
    const ALL: [Reachability; 4] = [
        Reachability::Answers,
        Reachability::Doubtful,
        Reachability::Refuses,
        Reachability::Hangs,
    ];

    /// Nodes of these get new orders at once.
    const URGENT: [Reachability; 2] = [Reachability::Answers, Reachability::Doubtful];

    /// Messages under way at the same time, those that are late aside.
    fn max_on_time(self) -> usize {
        match self {
            Reachability::Answers | Reachability::Doubtful => 16,
            Reachability::Refuses | Reachability::Hangs => 2,
        }
    }

    /// Messages of any reachability that may be under way when one more starts: those to nodes that
    /// do not answer leave room for others.
    fn max_in_flight(self) -> usize {
        match self {
            Reachability::Answers => MAX_IN_FLIGHT,
            Reachability::Doubtful => MAX_IN_FLIGHT - 16,
            Reachability::Refuses | Reachability::Hangs => MAX_IN_FLIGHT - 32,
        }
    }

    fn is_urgent(self) -> bool {
        Reachability::URGENT.contains(&self)
    }
}

struct NodeSendState {
    orders: NodeOrder,
    /// The number of the change that made them.
    number: u64,
    /// The number of the newest orders of which it is known that the node has them.
    confirmed: u64,
    /// The newest message to it that has come to its end.
    newest_completed: u64,
    due: Time,
    /// The message that it waits for.
    in_flight: Option<u64>,
    lane: Reachability,
    /// How long after the next failure it is retried.
    retry: Span,
}

struct SentMessage {
    /// With the number of the change that made the orders in it.
    nodes: Vec<(String, u64)>,
    lane: Reachability,
    since: Time,
    late: bool,
}

/// A message to be made: nodes and what they shall enforce.
pub type OrderBatch = BTreeMap<String, NodeOrder>;

/// How the nodes of a message answered.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Answers {
    /// Nodes that have the message, and no newer one that failed.
    pub answered: Vec<String>,
    /// Nodes that do not, and no newer one that is under way.
    pub silent: Vec<String>,
    /// Nodes that answered, with the number of the change whose orders they have.
    pub confirmed: Vec<(String, u64)>,
}

/// All nodes and the messages under way.
pub struct SendQueue {
    nodes: BTreeMap<String, NodeSendState>,
    in_flight: BTreeMap<u64, SentMessage>,
    /// Nodes get their orders again after this even if nothing changed.
    refresh: Span,
    /// A message under way for longer is late.
    late: Span,
    /// A node that got no message for the first time is retried after this.
    retry: Span,
}

impl SendQueue {
    /// Messages under way at most.
    pub const MAX_IN_FLIGHT: usize = MAX_IN_FLIGHT;

    /// Without nodes.
    #[must_use]
    pub fn new(timing: SendTiming) -> Self {
        Self {
            nodes: BTreeMap::new(),
            in_flight: BTreeMap::new(),
            refresh: Span(timing.time_to_live.0 / 3),
            late: timing.late,
            retry: timing.retry,
        }
    }

    /// Changes orders, for the `number`th time: those that changed are due now, unless their node does not
    /// answer.
    pub fn change(&mut self, changes: OrderChanges, number: u64, now: Time) {
        for name in &changes.gone {
            self.nodes.remove(name);
        }
        for (name, orders) in changes.changed {
            let node = self.nodes.entry(name).or_insert(NodeSendState {
                orders: NodeOrder::default(),
                number,
                confirmed: 0,
                newest_completed: 0,
                due: now,
                in_flight: None,
                lane: Reachability::Answers,
                retry: self.retry,
            });
            node.orders = orders;
            node.number = number;
            if node.lane.is_urgent() {
                node.due = node.due.min(now);
            }
        }
    }

    /// The next message to send, if any is due and may start: to nodes that answer first, then to those that
    /// may, then to those that failed least often, and of these to those that wait longest. O(nodes).
    pub fn next(&self, now: Time) -> Option<OrderBatch> {
        self.next_in(&Reachability::ALL, now)
    }

    /// The next message to nodes that answer, or may.
    pub fn next_urgent(&self, now: Time) -> Option<OrderBatch> {
        self.next_in(&Reachability::URGENT, now)
    }

    fn next_in(&self, lanes: &[Reachability], now: Time) -> Option<OrderBatch> {
        let open = lanes.iter().filter(|lane| self.is_open(**lane));
        let open: Vec<Reachability> = open.copied().collect();
        let is_due = |node: &NodeSendState| node.is_due(now) && open.contains(&node.lane);
        let mut due: Vec<(&String, &NodeSendState)> =
            self.nodes.iter().filter(|(_, node)| is_due(node)).collect();
        let lane = due.iter().map(|(_, node)| node.lane).min()?;
        due.retain(|(_, node)| node.lane == lane);
        let batch = self.batch(lane);
        if due.len() > batch {
            due.select_nth_unstable_by(batch, |(one, this), (other, that)| {
                (this.retry, this.due, one).cmp(&(that.retry, that.due, other))
            });
            due.truncate(batch);
        }
        let load = due.into_iter();
        Some(
            load.map(|(name, node)| (name.clone(), node.orders.clone()))
                .collect(),
        )
    }

    /// Nodes in one message.
    fn batch(&self, lane: Reachability) -> usize {
        match lane {
            Reachability::Answers | Reachability::Refuses => BATCH,
            // Each answers for itself.
            Reachability::Doubtful => 1,
            // The fewer others share its message, the sooner a node is known to be back; but many
            // that hang one by one would hold more threads than there are.
            Reachability::Hangs => {
                let hangs = |node: &&NodeSendState| node.lane == Reachability::Hangs;
                let hanging = self.nodes.values().filter(hangs).count();
                (hanging / MIN_HANGING_MESSAGES).clamp(1, BATCH)
            }
        }
    }

    /// Whether one more message may start to nodes of this reachability.
    fn is_open(&self, lane: Reachability) -> bool {
        self.under_way(lane) < lane.max_on_time() && self.in_flight.len() < lane.max_in_flight()
    }

    fn under_way(&self, lane: Reachability) -> usize {
        let messages = self.in_flight.values();
        messages
            .filter(|message| message.lane == lane && !message.late)
            .count()
    }

    /// This message is under way.
    pub fn started(&mut self, message: u64, load: &OrderBatch, now: Time) {
        let mut lane = Reachability::Answers;
        let mut nodes = Vec::new();
        for name in load.keys() {
            if let Some(node) = self.nodes.get_mut(name) {
                node.in_flight = Some(message);
                lane = node.lane;
                nodes.push((name.clone(), node.number));
            }
        }
        let sent = SentMessage {
            nodes,
            lane,
            since: now,
            late: false,
        };
        self.in_flight.insert(message, sent);
    }

    /// This message could not even be made: its nodes are retried later.
    pub fn not_started(&mut self, load: &OrderBatch, now: Time) {
        for name in load.keys() {
            if let Some(node) = self.nodes.get_mut(name) {
                node.failed(node.lane, now);
            }
        }
    }

    /// Others no longer wait for messages that are late. Of the nodes that share one, those that
    /// are not known to have their orders are sent them again at once, the others when they would
    /// have been: all of them may have it, which is known when it completes.
    pub fn mark_late(&mut self, now: Time) {
        for (id, message) in &mut self.in_flight {
            if message.late || now - message.since < self.late {
                continue;
            }
            message.late = true;
            // The others hang, or are alone in it.
            if !matches!(message.lane, Reachability::Answers | Reachability::Refuses) {
                continue;
            }
            for (name, _) in &message.nodes {
                let node = self.nodes.get_mut(name);
                if let Some(node) = node.filter(|node| node.in_flight == Some(*id)) {
                    node.in_flight = None;
                    node.lane = Reachability::Doubtful;
                    node.due_after(message.since + self.refresh, now);
                }
            }
        }
    }

    /// This message has come to its end; `failed` did not get it.
    pub fn completed(&mut self, id: u64, failed: &[String], now: Time) -> Answers {
        let mut answers = Answers::default();
        let Some(message) = self.in_flight.remove(&id) else {
            return answers;
        };
        let lane = if now - message.since >= self.late {
            Reachability::Hangs
        } else {
            Reachability::Refuses
        };
        for (name, sent) in message.nodes {
            let Some(node) = self.nodes.get_mut(&name) else {
                continue;
            };
            if !failed.contains(&name) {
                node.confirmed = node.confirmed.max(sent);
                answers.confirmed.push((name.clone(), sent));
                if node.complete(id) {
                    node.answered(message.since + self.refresh, self.retry, now);
                    answers.answered.push(name);
                }
            } else if node.complete(id) && node.in_flight.is_none() {
                node.failed(lane, now);
                answers.silent.push(name);
            }
        }
        answers
    }

    /// Whether nodes that answer, or may, still have to be sent something, or it is under way.
    pub fn has_to_send(&self, now: Time) -> bool {
        let is_urgent = |node: &NodeSendState| node.lane.is_urgent() && node.is_due(now);
        Reachability::URGENT
            .iter()
            .any(|lane| self.under_way(*lane) > 0)
            || self.nodes.values().any(is_urgent)
    }

    /// When a node is next due or a message late, perhaps long ago: then a node waits for another
    /// message to come to its end. O(nodes).
    #[cfg(any(test, feature = "fixtures"))]
    #[must_use]
    pub fn next_due(&self) -> Option<Time> {
        let waiting = self.nodes.values().filter(|node| node.in_flight.is_none());
        let messages = self.in_flight.values().filter(|message| !message.late);
        let late = messages.map(|message| message.since + self.late);
        waiting.map(|node| node.due).chain(late).min()
    }

    /// How many nodes are due and wait for a message. O(nodes).
    pub fn due(&self, now: Time) -> usize {
        self.nodes.values().filter(|node| node.is_due(now)).count()
    }

    /// How many messages are under way, and how many of them are late.
    pub fn messages(&self) -> (usize, usize) {
        let messages = self.in_flight.values();
        (
            messages.len(),
            messages.filter(|message| message.late).count(),
        )
    }

    /// What is under way is forgotten, and every node that answers is due.
    pub fn reset_in_flight(&mut self, now: Time) {
        self.in_flight.clear();
        for node in self.nodes.values_mut() {
            node.in_flight = None;
            if node.lane.is_urgent() {
                node.due = now;
            }
        }
    }
}

impl NodeSendState {
    fn failed(&mut self, lane: Reachability, now: Time) {
        self.lane = lane;
        self.due = now + self.retry;
        self.retry = (self.retry + self.retry).min(MAX_BACKOFF);
    }

    fn answered(&mut self, refresh: Time, retry: Span, now: Time) {
        self.lane = Reachability::Answers;
        self.retry = retry;
        self.due_after(refresh, now);
    }

    /// The node is due again now if it is not known to have its orders, else then.
    fn due_after(&mut self, refresh: Time, now: Time) {
        let has_news = self.number > self.confirmed;
        self.due = if has_news { now } else { refresh };
    }

    fn is_due(&self, now: Time) -> bool {
        self.in_flight.is_none() && self.due <= now
    }

    /// This message to the node has completed. Returns whether no later one did, which would be
    /// newer.
    fn complete(&mut self, id: u64) -> bool {
        if self.in_flight == Some(id) {
            self.in_flight = None;
        }
        let is_newest = id >= self.newest_completed;
        self.newest_completed = self.newest_completed.max(id);
        is_newest
    }
}

#[cfg(test)]
mod simulation;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const REFRESH: Span = Span::from_seconds(20);
    const LATE: Span = Span::from_seconds(1);

    struct SendQueueFixture {
        queue: SendQueue,
        now: Time,
        last: u64,
    }

    impl SendQueueFixture {
        fn of(nodes: usize) -> Self {
            let now = Time::ZERO;
            let mut queue = SendQueue::new(SendTiming::with_time_to_live(Span::from_seconds(60)));
            queue.change(changes(&(0..nodes).map(name).collect::<Vec<_>>()), 1, now);
            Self {
                queue,
                now,
                last: 0,
            }
        }

        /// Starts all that may start; returns the messages and their nodes.
        fn start(&mut self) -> Vec<(u64, Vec<String>)> {
            let mut started = Vec::new();
            while let Some(load) = self.queue.next(self.now) {
                self.last += 1;
                self.queue.started(self.last, &load, self.now);
                started.push((self.last, load.into_keys().collect()));
            }
            started
        }

        fn complete(&mut self, message: u64, failed: &[String]) -> Answers {
            self.queue.completed(message, failed, self.now)
        }

        /// Starts and completes messages until nothing is due any more; returns their nodes.
        fn deliver(&mut self) -> Vec<Vec<String>> {
            let mut all = Vec::new();
            loop {
                let messages = self.start();
                if messages.is_empty() {
                    return all;
                }
                for (message, nodes) in messages {
                    self.complete(message, &[]);
                    all.push(nodes);
                }
            }
        }
    }

    fn name(index: usize) -> String {
        format!("n{index:03}")
    }

    fn changes(nodes: &[String]) -> OrderChanges {
        let orders = nodes
            .iter()
            .map(|node| (node.clone(), NodeOrder::default()));
        OrderChanges {
            changed: orders.collect(),
            gone: BTreeSet::new(),
        }
    }

    #[test]
    fn each_node_is_sent_its_orders_once_and_again_before_they_lapse() {
        let mut fixture = SendQueueFixture::of(200);
        let first = fixture.deliver();
        assert_eq!(first.concat().len(), 200);
        assert_eq!(first.concat().iter().collect::<BTreeSet<_>>().len(), 200);
        assert!(first.iter().all(|nodes| nodes.len() <= BATCH));
        fixture.now = fixture.now + (REFRESH - Span::SECOND);
        assert!(fixture.deliver().is_empty());
        fixture.now = fixture.now + Span::SECOND;
        assert_eq!(fixture.deliver().concat().len(), 200);
    }

    #[test]
    fn hanging_node_is_sent_to_alone_and_delays_no_other() {
        let mut fixture = SendQueueFixture::of(BATCH);
        let (message, nodes) = fixture.start().remove(0);
        assert!(fixture.start().is_empty());
        fixture.now = fixture.now + LATE;
        fixture.queue.mark_late(fixture.now);
        let alone = fixture.start();
        assert_eq!(alone.len(), BATCH, "each of them for itself");
        for (message, nodes) in &alone[1..] {
            let answers = fixture.queue.completed(*message, &[], fixture.now);
            assert_eq!(answers.answered, *nodes);
        }
        fixture.now = fixture.now + Span::from_seconds(10);
        assert_eq!(
            fixture.complete(message, &nodes),
            Answers::default(),
            "what was given up says nothing any more"
        );
        let (hung, of) = alone[0].clone();
        assert_eq!(fixture.complete(hung, &of).silent, of);
        fixture.queue.change(changes(&nodes), 2, fixture.now);
        let next = fixture.deliver().concat();
        assert!(
            next.len() == BATCH - 1 && !next.contains(&of[0]),
            "{next:?}"
        );
        fixture.now = fixture.now + Span::from_seconds(2);
        assert_eq!(fixture.deliver(), vec![of]);
    }

    #[test]
    fn late_message_counts_for_the_nodes_that_it_reached() {
        let mut fixture = SendQueueFixture::of(BATCH);
        let (message, nodes) = fixture.start().remove(0);
        fixture.now = fixture.now + LATE;
        fixture.queue.mark_late(fixture.now);
        fixture.queue.change(changes(&nodes[..1]), 2, fixture.now);
        fixture.now = fixture.now + Span::SECOND;
        let (hung, reached) = nodes.split_last().expect("nodes");
        let answers = fixture.complete(message, std::slice::from_ref(hung));
        assert_eq!(answers.answered, *reached);
        assert!(answers.confirmed.iter().all(|(_, number)| *number == 1));
        assert_eq!(answers.silent, [hung.as_str()]);
        assert_eq!(fixture.deliver(), [nodes[..1].to_vec()], "it has news");
        fixture.now = fixture.now + (REFRESH - Span::from_seconds(2) - LATE);
        assert_eq!(fixture.deliver(), [[hung.as_str()]], "for no other node");
        fixture.now = fixture.now + LATE;
        assert_eq!(
            fixture.deliver().concat(),
            reached[1..],
            "since it was sent"
        );
    }

    #[test]
    fn refusing_node_does_not_wait_for_a_hanging_one() {
        let mut fixture = SendQueueFixture::of(BATCH);
        let (message, nodes) = fixture.start().remove(0);
        fixture.complete(message, &nodes);
        fixture.now = fixture.now + Span::from_seconds(2);
        assert_eq!(fixture.start().len(), 1);
        fixture.now = fixture.now + LATE;
        fixture.queue.mark_late(fixture.now);
        assert_eq!(fixture.deliver().len(), BATCH, "each of them for itself");
    }

    #[test]
    fn older_message_that_completes_last_does_not_undo_a_newer_one() {
        let mut fixture = SendQueueFixture::of(BATCH);
        let (message, nodes) = fixture.start().remove(0);
        fixture.now = fixture.now + LATE;
        fixture.queue.mark_late(fixture.now);
        for (alone, of) in fixture.start() {
            fixture.complete(alone, &of);
        }
        let answers = fixture.complete(message, &[]);
        assert_eq!(answers.confirmed.len(), nodes.len());
        assert!(answers.answered.is_empty(), "they fail since");
    }

    #[test]
    fn refusing_nodes_share_messages_and_are_retried_with_backoff() {
        let mut fixture = SendQueueFixture::of(40);
        for (message, nodes) in fixture.start() {
            let answers = fixture.queue.completed(message, &nodes, fixture.now);
            assert_eq!(answers.silent, nodes);
        }
        for wait in [2, 4, 8, 16, 32, 60, 60] {
            fixture.now = fixture.now + Span::from_seconds(wait - 1);
            assert!(fixture.start().is_empty());
            fixture.now = fixture.now + Span::SECOND;
            let mut tried = 0;
            loop {
                let messages = fixture.start();
                assert!(messages.len() <= Reachability::Refuses.max_on_time());
                if messages.is_empty() {
                    break;
                }
                for (message, nodes) in messages {
                    tried += nodes.len();
                    fixture.complete(message, &nodes);
                }
            }
            assert_eq!(tried, 40);
        }
    }

    #[test]
    fn orders_changed_while_a_message_is_in_flight_are_sent_after_it() {
        let mut fixture = SendQueueFixture::of(1);
        let (message, nodes) = fixture.start().remove(0);
        fixture.queue.change(changes(&nodes), 2, fixture.now);
        assert!(fixture.start().is_empty(), "one at a time");
        fixture.complete(message, &[]);
        assert_eq!(fixture.deliver(), vec![nodes]);
    }

    #[test]
    fn unchanged_nodes_are_refreshed_while_others_always_change() {
        let mut fixture = SendQueueFixture::of(400);
        fixture.deliver();
        let busy: Vec<String> = (0..200).map(name).collect();
        fixture.now = fixture.now + REFRESH;
        // Capacity for a part of them in each round.
        let mut refreshed = BTreeSet::new();
        for _ in 0..8 {
            fixture.now = fixture.now + Span(1_000);
            fixture.queue.change(changes(&busy), 2, fixture.now);
            for (message, nodes) in fixture.start() {
                fixture.complete(message, &[]);
                refreshed.extend(nodes);
            }
        }
        assert_eq!(refreshed.len(), 400, "the longest wait goes first");
    }

    #[test]
    fn removed_nodes_are_sent_nothing_and_their_answers_are_ignored() {
        let mut fixture = SendQueueFixture::of(2);
        let (message, nodes) = fixture.start().remove(0);
        let gone = OrderChanges {
            changed: BTreeMap::new(),
            gone: nodes.iter().cloned().collect(),
        };
        fixture.queue.change(gone, 2, fixture.now);
        assert_eq!(fixture.complete(message, &nodes), Answers::default());
        assert!(!fixture.queue.has_to_send(fixture.now));
    }
}
