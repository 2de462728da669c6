//! Whole clusters for minutes, by a clock that only this advances: no node that answers may be without news
//! for so long that its caps lapse, whatever other nodes do.

use std::collections::BTreeSet;

use super::*;

/// How long caps live without news.
const TIME_TO_LIVE: Duration = Duration::from_secs(60);
/// The courier looks at least so often.
const TICK: Duration = Duration::from_millis(200);
/// A message under way for longer is late.
const LATE: Duration = Duration::from_secs(1);
/// How long a message takes to a node with which all is well.
const QUICK: Duration = Duration::from_millis(10);

/// What a node does with a message.
#[derive(Clone, Copy)]
enum Nature {
    /// It has it after this time.
    Answers(Duration),
    /// It never does, which is known after this time.
    Fails(Duration),
}

impl Nature {
    fn time(self) -> Duration {
        match self {
            Nature::Answers(time) | Nature::Fails(time) => time,
        }
    }
}

/// How messages reach the nodes that they are for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// From slurmctld to each of them.
    Direct,
    /// By way of the others: a `TreeWidth` below a batch, or nodes behind switches.
    ByOthers,
}

struct Simulated {
    nature: Nature,
    /// When messages came, or will come, and which change they brought.
    heard: Vec<(Instant, u64)>,
    /// When it became known.
    confirmed: Vec<(Instant, u64)>,
}

/// What came of it.
#[derive(Debug, Default)]
struct Outcome {
    /// The longest time between two messages to a node that answers.
    longest_gap: Duration,
    /// Nodes that answer and whose caps lapsed.
    lapsed: usize,
    /// The longest time until a change had reached a node that answers.
    slowest_news: Duration,
    /// The longest time until that was known.
    slowest_confirmation: Duration,
    messages: u64,
    /// Nodes in all messages together.
    sent: usize,
    /// The most that was under way at any time.
    most: usize,
}

struct Cluster {
    rounds: Rounds,
    way: Way,
    begin: Instant,
    /// Until then all is well with all nodes.
    trouble: Instant,
    now: Instant,
    nodes: BTreeMap<String, Simulated>,
    /// When all orders changed; the first time is the beginning.
    changes: Vec<Instant>,
    landings: BTreeSet<(Instant, u64)>,
    failed: BTreeMap<u64, Vec<String>>,
    outcome: Outcome,
}

fn name(index: usize) -> String {
    format!("n{index:04}")
}

impl Cluster {
    /// So many nodes, of which `others` are of another nature, evenly spread.
    fn new(nodes: usize, nature: Nature, others: usize, other: Nature) -> Self {
        let now = Instant::now();
        let is_other = |index: usize| (index + 1) * others / nodes > index * others / nodes;
        let simulated = |index| {
            let nature = if is_other(index) { other } else { nature };
            let (heard, confirmed) = (Vec::new(), Vec::new());
            Simulated {
                nature,
                heard,
                confirmed,
            }
        };
        Self {
            rounds: Rounds::new(Pace::with_time_to_live(TIME_TO_LIVE)),
            way: Way::Direct,
            begin: now,
            trouble: now,
            now,
            nodes: (0..nodes)
                .map(|index| (name(index), simulated(index)))
                .collect(),
            changes: Vec::new(),
            landings: BTreeSet::new(),
            failed: BTreeMap::new(),
            outcome: Outcome::default(),
        }
    }

    fn all(nodes: usize, nature: Nature) -> Self {
        Self::new(nodes, nature, 0, nature)
    }

    fn by_others(mut self) -> Self {
        self.way = Way::ByOthers;
        self
    }

    /// All is well at first.
    fn later(mut self) -> Self {
        self.trouble += Duration::from_secs(65);
        self
    }

    /// Runs for so many seconds; all orders change at the beginning and then `every` so often.
    fn run(mut self, seconds: u64, every: Duration) -> Outcome {
        let end = self.begin + Duration::from_secs(seconds);
        let mut change = self.begin;
        while self.now < end {
            if self.now >= change {
                self.change_all();
                change = self.now + every;
            }
            self.land();
            self.rounds.give_up_late(self.now);
            while let Some(load) = self.rounds.next(self.now) {
                self.send(&load);
            }
            let landing = self.landings.first().map(|(at, _)| *at);
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
                .map(|node| (node.clone(), NodeState::default()))
                .collect(),
            gone: BTreeSet::new(),
        };
        let number = self.changes.len() as u64;
        self.rounds.change(changes, number, self.now);
    }

    fn send(&mut self, load: &Load) {
        self.outcome.messages += 1;
        self.outcome.sent += load.len();
        let flight = self.outcome.messages;
        self.rounds.started(flight, load, self.now);
        self.outcome.most = self.outcome.most.max(self.rounds.messages().0);
        let nature = |node: &Simulated| {
            if self.now < self.trouble {
                Nature::Answers(QUICK)
            } else {
                node.nature
            }
        };
        let natures = load.keys().map(|name| nature(&self.nodes[name]));
        let takes = natures.map(Nature::time).max().unwrap_or_default();
        let number = self.changes.len() as u64;
        let mut failed = Vec::new();
        for name in load.keys() {
            let Some(node) = self.nodes.get_mut(name) else {
                continue;
            };
            let takes = match (nature(node), self.way) {
                (Nature::Fails(_), _) => {
                    failed.push(name.clone());
                    continue;
                }
                (Nature::Answers(time), Way::Direct) => time,
                (Nature::Answers(_), Way::ByOthers) => takes,
            };
            node.heard.push((self.now + takes, number));
        }
        self.landings.insert((self.now + takes, flight));
        self.failed.insert(flight, failed);
    }

    /// What has come to its end by now.
    fn land(&mut self) {
        while let Some((at, flight)) = self.landings.first().copied()
            && at <= self.now
        {
            self.landings.remove(&(at, flight));
            let failed = self.failed.remove(&flight).unwrap_or_default();
            let answers = self.rounds.landed(flight, &failed, self.now);
            for (name, number) in answers.confirmed {
                self.confirm(&name, number);
            }
        }
    }

    fn confirm(&mut self, name: &str, number: u64) {
        let now = self.now;
        if let Some(node) = self.nodes.get_mut(name) {
            let mut heard = node.heard.iter();
            assert!(
                heard.any(|(at, told)| *at <= now && *told >= number),
                "{name}: {number}"
            );
            node.confirmed.push((now, number));
        }
    }

    fn finish(mut self) -> Outcome {
        let nodes = std::mem::take(&mut self.nodes).into_values();
        for mut node in nodes.filter(|node| matches!(node.nature, Nature::Answers(_))) {
            let gap = self.longest_gap(&mut node.heard);
            let (news, confirmation) = (self.slowest(&node.heard), self.slowest(&node.confirmed));
            let outcome = &mut self.outcome;
            outcome.longest_gap = outcome.longest_gap.max(gap);
            outcome.lapsed += usize::from(gap > TIME_TO_LIVE);
            outcome.slowest_news = outcome.slowest_news.max(news);
            outcome.slowest_confirmation = outcome.slowest_confirmation.max(confirmation);
        }
        self.outcome
    }

    /// The longest time without a message, from the beginning to the end.
    fn longest_gap(&self, heard: &mut [(Instant, u64)]) -> Duration {
        heard.sort_unstable();
        let times = heard.iter().map(|(at, _)| (*at).min(self.now));
        let mut last = self.begin;
        let mut longest = Duration::ZERO;
        for at in times.chain([self.now]) {
            longest = longest.max(at - last);
            last = at;
        }
        longest
    }

    /// The longest time from a change to this node's news of it, or of a later one.
    fn slowest(&self, news: &[(Instant, u64)]) -> Duration {
        let changes = (1..).zip(&self.changes);
        let waited = changes.map(|(number, changed)| {
            let told = news.iter().filter(|(_, told)| *told >= number);
            let first = told.map(|(at, _)| *at).min();
            first.unwrap_or(self.now).min(self.now) - *changed
        });
        waited.max().unwrap_or_default()
    }
}

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

const QUICKLY: Nature = Nature::Answers(QUICK);
/// Who hears nothing of one message hears the next one in time.
const IN_TIME: Duration = seconds(45);

/// Long enough for caps to lapse once, and for what hangs for a minute to be known.
fn run(cluster: Cluster) -> Outcome {
    cluster.run(100, seconds(1000))
}

fn assert_in_time(cluster: Cluster) {
    let outcome = run(cluster);
    assert!(
        outcome.lapsed == 0 && outcome.longest_gap < IN_TIME,
        "{outcome:?}"
    );
}

fn dead(nodes: usize, of_them: usize) -> Cluster {
    Cluster::new(nodes, QUICKLY, of_them, Nature::Fails(seconds(12)))
}

fn hanging(nodes: usize, of_them: usize) -> Cluster {
    Cluster::new(nodes, QUICKLY, of_them, Nature::Fails(seconds(60)))
}

#[test]
fn thousands_of_nodes_that_are_all_a_bit_slow_keep_their_caps() {
    let slow = Nature::Answers(Duration::from_millis(1500));
    assert_in_time(Cluster::all(2000, slow));
    assert_in_time(Cluster::all(3000, slow));
}

#[test]
fn a_thousand_nodes_that_are_all_slow_keep_their_caps() {
    assert_in_time(Cluster::all(1000, Nature::Answers(seconds(3))));
}

#[test]
fn slow_nodes_are_sent_to_hardly_more_often_than_quick_ones() {
    let quick = run(Cluster::all(1000, QUICKLY));
    let slow = run(Cluster::all(1000, Nature::Answers(seconds(3))));
    assert!(slow.sent * 10 <= quick.sent * 11, "{quick:?} {slow:?}");
}

#[test]
fn a_quarter_of_the_nodes_is_dead_and_the_others_keep_their_caps() {
    assert_in_time(dead(1000, 250));
    assert_in_time(dead(1000, 250).by_others());
    assert_in_time(dead(1000, 250).later());
}

#[test]
fn a_few_of_many_nodes_are_dead_and_what_the_others_know_is_known() {
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
fn in_a_small_cluster_news_come_at_once_whoever_hangs() {
    let direct = hanging(64, 2).run(200, seconds(7));
    assert!(direct.slowest_news < TICK, "{direct:?}");
    let by_others = hanging(64, 2).by_others().run(200, seconds(7));
    for outcome in [direct, by_others] {
        let slowest = outcome.slowest_news.max(outcome.slowest_confirmation);
        assert!(slowest < LATE + TICK, "{outcome:?}");
    }
}

#[test]
fn what_hangs_leaves_room_for_others() {
    let outcome = hanging(1000, 40).run(100, seconds(7));
    assert!(outcome.most < MOST, "{outcome:?}");
    assert!(outcome.slowest_confirmation < seconds(5), "{outcome:?}");
}
