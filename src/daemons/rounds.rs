//! Which node is sent its orders when, and with which others. No threads and no clock here.
//!
//! Slurm's fan-out answers when its last node has: after `MessageTimeout` (10 s) and more if one hangs, and a
//! node that Slurm reaches by way of that one hears no sooner. So each node is in a lane by how it
//! answered last time, and shares a message only with nodes of its lane. Whenever a message lands, it says of
//! each of its nodes whether it has it: this alone tells those that hang from those that only shared it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use dfrs_agent::daemons::OrderChanges;
use dfrs_proto::message::NodeState;

use super::Pace;

/// Nodes in one message. Slurm sends to so many at once without passing through any of them (`TreeWidth`, 16
/// by default in 24.11 and 50 in 22.05).
const BATCH: usize = 16;
/// A node that got no message is tried again after this at the latest.
const LAST_RETRY: Duration = Duration::from_secs(60);

/// Messages under way at most. One that is late holds two threads or three, its own and one of Slurm's for
/// each node that it waits for.
pub(super) const MOST: usize = 128;
/// Nodes that hang are sent so many messages at least, if there are so many of them.
const HANGING: usize = 16;

/// What is known of a node from the messages to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Lane {
    /// It got the last one, or there was none yet.
    Answers,
    /// The last one is late, and other nodes shared it: any of them may be the cause.
    Doubtful,
    /// It did not get the last one, which was known at once: no dfrsd.
    Refuses,
    /// It did not get the last one, which was known late: it hangs, or has no slurmd (to which 24.11 tries
    /// to connect for 11 s).
    Hangs,
}

impl Lane {
    const ALL: [Lane; 4] = [Lane::Answers, Lane::Doubtful, Lane::Refuses, Lane::Hangs];

    /// Whose nodes get new orders at once.
    const HURRIED: [Lane; 2] = [Lane::Answers, Lane::Doubtful];

    /// Messages under way at the same time, those that are late aside.
    fn at_once(self) -> usize {
        match self {
            Lane::Answers | Lane::Doubtful => 16,
            Lane::Refuses | Lane::Hangs => 2,
        }
    }

    /// Messages of all lanes that may be under way when one more starts: those to nodes that do not answer
    /// leave room for others.
    fn most(self) -> usize {
        match self {
            Lane::Answers => MOST,
            Lane::Doubtful => MOST - 16,
            Lane::Refuses | Lane::Hangs => MOST - 32,
        }
    }

    fn is_hurried(self) -> bool {
        Lane::HURRIED.contains(&self)
    }
}

struct Node {
    orders: NodeState,
    /// The number of the change that made them.
    number: u64,
    /// That of the newest orders of which it is known that the node has them.
    confirmed: u64,
    /// The newest message to it that has come to its end.
    landed: u64,
    due: Instant,
    /// The message that it waits for.
    flight: Option<u64>,
    lane: Lane,
    /// How long after the next failure it is tried again.
    retry: Duration,
}

struct Flight {
    /// With the number of the change that made the orders in it.
    nodes: Vec<(String, u64)>,
    lane: Lane,
    since: Instant,
    late: bool,
}

/// A message to be made: nodes and what they shall enforce.
pub(super) type Load = BTreeMap<String, NodeState>;

/// How the nodes of a message answered.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Answers {
    pub(super) answered: Vec<String>,
    pub(super) silent: Vec<String>,
    /// Those that answered, with the number of the change whose orders they have.
    pub(super) confirmed: Vec<(String, u64)>,
}

/// All nodes and the messages under way.
pub(super) struct Rounds {
    nodes: BTreeMap<String, Node>,
    flights: BTreeMap<u64, Flight>,
    /// Nodes get their orders again after this even if nothing changed.
    refresh: Duration,
    /// A message under way for longer is late.
    late: Duration,
    /// A node that got no message for the first time is tried again after this.
    retry: Duration,
}

impl Rounds {
    pub(super) fn new(pace: Pace) -> Self {
        Self {
            nodes: BTreeMap::new(),
            flights: BTreeMap::new(),
            refresh: pace.time_to_live / 3,
            late: pace.late,
            retry: pace.retry,
        }
    }

    /// Changes orders, for the `number`th time: those that changed are due now, unless their node does not
    /// answer.
    pub(super) fn change(&mut self, changes: OrderChanges, number: u64, now: Instant) {
        for name in &changes.gone {
            self.nodes.remove(name);
        }
        for (name, orders) in changes.changed {
            let node = self.nodes.entry(name).or_insert(Node {
                orders: NodeState::default(),
                number,
                confirmed: 0,
                landed: 0,
                due: now,
                flight: None,
                lane: Lane::Answers,
                retry: self.retry,
            });
            node.orders = orders;
            node.number = number;
            if node.lane.is_hurried() {
                node.due = node.due.min(now);
            }
        }
    }

    /// The next message to send, if any is due and may start: to nodes that answer first, then to those that
    /// may, then to those that failed least often, and of these to those that wait longest. O(nodes).
    pub(super) fn next(&self, now: Instant) -> Option<Load> {
        self.next_in(&Lane::ALL, now)
    }

    /// The next message to nodes that answer, or may.
    pub(super) fn next_hurried(&self, now: Instant) -> Option<Load> {
        self.next_in(&Lane::HURRIED, now)
    }

    fn next_in(&self, lanes: &[Lane], now: Instant) -> Option<Load> {
        let open = lanes.iter().filter(|lane| self.is_open(**lane));
        let open: Vec<Lane> = open.copied().collect();
        let is_due = |node: &Node| node.is_due(now) && open.contains(&node.lane);
        let mut due: Vec<(&String, &Node)> =
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
    fn batch(&self, lane: Lane) -> usize {
        match lane {
            Lane::Answers | Lane::Refuses => BATCH,
            // Each answers for itself.
            Lane::Doubtful => 1,
            // Who is back is known the sooner the fewer others share its message; but many that hang one by one
            // would hold more threads than there are.
            Lane::Hangs => {
                let hangs = |node: &&Node| node.lane == Lane::Hangs;
                let hanging = self.nodes.values().filter(hangs).count();
                (hanging / HANGING).clamp(1, BATCH)
            }
        }
    }

    /// Whether one more message may start in this lane.
    fn is_open(&self, lane: Lane) -> bool {
        self.under_way(lane) < lane.at_once() && self.flights.len() < lane.most()
    }

    fn under_way(&self, lane: Lane) -> usize {
        let flights = self.flights.values();
        flights
            .filter(|flight| flight.lane == lane && !flight.late)
            .count()
    }

    /// This message is under way.
    pub(super) fn started(&mut self, flight: u64, load: &Load, now: Instant) {
        let mut lane = Lane::Answers;
        let mut nodes = Vec::new();
        for name in load.keys() {
            if let Some(node) = self.nodes.get_mut(name) {
                node.flight = Some(flight);
                lane = node.lane;
                nodes.push((name.clone(), node.number));
            }
        }
        let flight_of = Flight {
            nodes,
            lane,
            since: now,
            late: false,
        };
        self.flights.insert(flight, flight_of);
    }

    /// This message could not even be made: its nodes are tried again later.
    pub(super) fn not_started(&mut self, load: &Load, now: Instant) {
        for name in load.keys() {
            if let Some(node) = self.nodes.get_mut(name) {
                node.failed(node.lane, now);
            }
        }
    }

    /// Others no longer wait for messages that are late. Of the nodes that share one, those that are not known
    /// to have their orders are sent them again at once, the others when they would have been: all of
    /// them may have it, which is known when it lands.
    pub(super) fn give_up_late(&mut self, now: Instant) {
        for (id, flight) in &mut self.flights {
            if flight.late || now - flight.since < self.late {
                continue;
            }
            flight.late = true;
            // The others hang, or are alone in it.
            if !matches!(flight.lane, Lane::Answers | Lane::Refuses) {
                continue;
            }
            for (name, _) in &flight.nodes {
                let node = self.nodes.get_mut(name);
                if let Some(node) = node.filter(|node| node.flight == Some(*id)) {
                    node.flight = None;
                    node.lane = Lane::Doubtful;
                    node.due_after(flight.since + self.refresh, now);
                }
            }
        }
    }

    /// This message has come to its end; `failed` did not get it.
    pub(super) fn landed(&mut self, id: u64, failed: &[String], now: Instant) -> Answers {
        let mut answers = Answers::default();
        let Some(flight) = self.flights.remove(&id) else {
            return answers;
        };
        let slow = now - flight.since >= self.late;
        for (name, sent) in flight.nodes {
            let Some(node) = self.nodes.get_mut(&name) else {
                continue;
            };
            if !failed.contains(&name) {
                node.confirmed = node.confirmed.max(sent);
                answers.confirmed.push((name.clone(), sent));
                if node.has_landed(id) {
                    node.answered(flight.since + self.refresh, self.retry, now);
                    answers.answered.push(name);
                }
            } else if node.has_landed(id) && node.flight.is_none() {
                node.failed(if slow { Lane::Hangs } else { Lane::Refuses }, now);
                answers.silent.push(name);
            }
        }
        answers
    }

    /// Whether nodes that answer, or may, still have to be sent something, or it is under way.
    pub(super) fn has_to_send(&self, now: Instant) -> bool {
        let hurried = |node: &Node| node.lane.is_hurried() && node.is_due(now);
        Lane::HURRIED.iter().any(|lane| self.under_way(*lane) > 0)
            || self.nodes.values().any(hurried)
    }

    /// How many nodes are due and wait for a message. O(nodes).
    pub(super) fn due(&self, now: Instant) -> usize {
        self.nodes.values().filter(|node| node.is_due(now)).count()
    }

    /// How many messages are under way, and how many of them are late.
    pub(super) fn messages(&self) -> (usize, usize) {
        let late = self.flights.values().filter(|flight| flight.late).count();
        (self.flights.len(), late)
    }

    /// What is under way is forgotten, and every node that answers is due.
    pub(super) fn begin_again(&mut self, now: Instant) {
        self.flights.clear();
        for node in self.nodes.values_mut() {
            node.flight = None;
            if node.lane.is_hurried() {
                node.due = now;
            }
        }
    }
}

impl Node {
    fn failed(&mut self, lane: Lane, now: Instant) {
        self.lane = lane;
        self.due = now + self.retry;
        self.retry = (self.retry * 2).min(LAST_RETRY);
    }

    fn answered(&mut self, refresh: Instant, retry: Duration, now: Instant) {
        self.lane = Lane::Answers;
        self.retry = retry;
        self.due_after(refresh, now);
    }

    /// It is due again now if it is not known to have its orders, else then.
    fn due_after(&mut self, refresh: Instant, now: Instant) {
        let has_news = self.number > self.confirmed;
        self.due = if has_news { now } else { refresh };
    }

    fn is_due(&self, now: Instant) -> bool {
        self.flight.is_none() && self.due <= now
    }

    /// This message to it has come to its end. Whether none did that was sent later, and would tell more.
    fn has_landed(&mut self, id: u64) -> bool {
        if self.flight == Some(id) {
            self.flight = None;
        }
        let tells_most = id >= self.landed;
        self.landed = self.landed.max(id);
        tells_most
    }
}

#[cfg(test)]
mod simulation;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const REFRESH: Duration = Duration::from_secs(20);
    const LATE: Duration = Duration::from_secs(1);
    const SECOND: Duration = Duration::from_secs(1);

    struct Story {
        rounds: Rounds,
        now: Instant,
        last: u64,
    }

    impl Story {
        fn of(nodes: usize) -> Self {
            let now = Instant::now();
            let mut rounds = Rounds::new(Pace::with_time_to_live(3 * REFRESH));
            rounds.change(changes(&(0..nodes).map(name).collect::<Vec<_>>()), 1, now);
            Self {
                rounds,
                now,
                last: 0,
            }
        }

        /// Starts all that may start; returns the flights and their nodes.
        fn start(&mut self) -> Vec<(u64, Vec<String>)> {
            let mut started = Vec::new();
            while let Some(load) = self.rounds.next(self.now) {
                self.last += 1;
                self.rounds.started(self.last, &load, self.now);
                started.push((self.last, load.into_keys().collect()));
            }
            started
        }

        fn land(&mut self, flight: u64, failed: &[String]) -> Answers {
            self.rounds.landed(flight, failed, self.now)
        }

        /// Starts and lands until nothing is due any more; returns the messages' nodes.
        fn deliver(&mut self) -> Vec<Vec<String>> {
            let mut all = Vec::new();
            loop {
                let flights = self.start();
                if flights.is_empty() {
                    return all;
                }
                for (flight, nodes) in flights {
                    self.land(flight, &[]);
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
            .map(|node| (node.clone(), NodeState::default()));
        OrderChanges {
            changed: orders.collect(),
            gone: BTreeSet::new(),
        }
    }

    #[test]
    fn each_node_is_sent_its_orders_once_and_again_before_they_lapse() {
        let mut story = Story::of(200);
        let first = story.deliver();
        assert_eq!(first.concat().len(), 200);
        assert_eq!(first.concat().iter().collect::<BTreeSet<_>>().len(), 200);
        assert!(first.iter().all(|nodes| nodes.len() <= BATCH));
        story.now += REFRESH - SECOND;
        assert!(story.deliver().is_empty());
        story.now += SECOND;
        assert_eq!(story.deliver().concat().len(), 200);
    }

    #[test]
    fn who_hung_last_time_is_sent_to_alone_and_keeps_nobody_waiting() {
        let mut story = Story::of(BATCH);
        let (flight, nodes) = story.start().remove(0);
        assert!(story.start().is_empty());
        story.now += LATE;
        story.rounds.give_up_late(story.now);
        let alone = story.start();
        assert_eq!(alone.len(), BATCH, "each of them for itself");
        for (flight, nodes) in &alone[1..] {
            let answers = story.rounds.landed(*flight, &[], story.now);
            assert_eq!(answers.answered, *nodes);
        }
        story.now += 10 * SECOND;
        assert_eq!(
            story.land(flight, &nodes),
            Answers::default(),
            "what was given up says nothing any more"
        );
        let (hung, of) = alone[0].clone();
        assert_eq!(story.land(hung, &of).silent, of);
        story.rounds.change(changes(&nodes), 2, story.now);
        let next = story.deliver().concat();
        assert!(
            next.len() == BATCH - 1 && !next.contains(&of[0]),
            "{next:?}"
        );
        story.now += 2 * SECOND;
        assert_eq!(story.deliver(), vec![of]);
    }

    #[test]
    fn a_message_that_lands_late_counts_for_whom_it_reached() {
        let mut story = Story::of(BATCH);
        let (flight, nodes) = story.start().remove(0);
        story.now += LATE;
        story.rounds.give_up_late(story.now);
        story.rounds.change(changes(&nodes[..1]), 2, story.now);
        story.now += SECOND;
        let (hung, reached) = nodes.split_last().expect("nodes");
        let answers = story.land(flight, std::slice::from_ref(hung));
        assert_eq!(answers.answered, *reached);
        assert!(answers.confirmed.iter().all(|(_, number)| *number == 1));
        assert_eq!(answers.silent, [hung.as_str()]);
        assert_eq!(story.deliver(), [nodes[..1].to_vec()], "it has news");
        story.now += REFRESH - 2 * SECOND - LATE;
        assert_eq!(story.deliver(), [[hung.as_str()]], "for nobody else");
        story.now += LATE;
        assert_eq!(story.deliver().concat(), reached[1..], "since it was sent");
    }

    #[test]
    fn who_refuses_does_not_wait_for_one_that_hangs_by_now() {
        let mut story = Story::of(BATCH);
        let (flight, nodes) = story.start().remove(0);
        story.land(flight, &nodes);
        story.now += 2 * SECOND;
        assert_eq!(story.start().len(), 1);
        story.now += LATE;
        story.rounds.give_up_late(story.now);
        assert_eq!(story.deliver().len(), BATCH, "each of them for itself");
    }

    #[test]
    fn what_was_sent_first_and_lands_last_takes_nothing_back() {
        let mut story = Story::of(BATCH);
        let (flight, nodes) = story.start().remove(0);
        story.now += LATE;
        story.rounds.give_up_late(story.now);
        for (alone, of) in story.start() {
            story.land(alone, &of);
        }
        let answers = story.land(flight, &[]);
        assert_eq!(answers.confirmed.len(), nodes.len());
        assert!(answers.answered.is_empty(), "they fail since");
    }

    #[test]
    fn who_refuses_shares_messages_with_its_like_and_is_tried_less_and_less() {
        let mut story = Story::of(40);
        for (flight, nodes) in story.start() {
            let answers = story.rounds.landed(flight, &nodes, story.now);
            assert_eq!(answers.silent, nodes);
        }
        for wait in [2, 4, 8, 16, 32, 60, 60] {
            story.now += (wait - 1) * SECOND;
            assert!(story.start().is_empty());
            story.now += SECOND;
            let mut tried = 0;
            loop {
                let flights = story.start();
                assert!(flights.len() <= Lane::Refuses.at_once());
                if flights.is_empty() {
                    break;
                }
                for (flight, nodes) in flights {
                    tried += nodes.len();
                    story.land(flight, &nodes);
                }
            }
            assert_eq!(tried, 40);
        }
    }

    #[test]
    fn orders_that_change_while_a_message_is_under_way_are_sent_after_it() {
        let mut story = Story::of(1);
        let (flight, nodes) = story.start().remove(0);
        story.rounds.change(changes(&nodes), 2, story.now);
        assert!(story.start().is_empty(), "one at a time");
        story.land(flight, &[]);
        assert_eq!(story.deliver(), vec![nodes]);
    }

    #[test]
    fn nodes_whose_orders_never_change_are_refreshed_beside_those_whose_always_do() {
        let mut story = Story::of(400);
        story.deliver();
        let busy: Vec<String> = (0..200).map(name).collect();
        story.now += REFRESH;
        // Capacity for a part of them in each round.
        let mut refreshed = BTreeSet::new();
        for _ in 0..8 {
            story.now += Duration::from_millis(1);
            story.rounds.change(changes(&busy), 2, story.now);
            for (flight, nodes) in story.start() {
                story.land(flight, &[]);
                refreshed.extend(nodes);
            }
        }
        assert_eq!(refreshed.len(), 400, "the longest wait goes first");
    }

    #[test]
    fn nodes_that_are_gone_are_sent_nothing_and_what_is_under_way_to_them_is_nothing() {
        let mut story = Story::of(2);
        let (flight, nodes) = story.start().remove(0);
        let gone = OrderChanges {
            changed: BTreeMap::new(),
            gone: nodes.iter().cloned().collect(),
        };
        story.rounds.change(gone, 2, story.now);
        assert_eq!(story.land(flight, &nodes), Answers::default());
        assert!(!story.rounds.has_to_send(story.now));
    }
}
