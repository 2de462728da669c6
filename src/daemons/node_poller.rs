//! Polls the node daemons for what they publish as socket names: how much swap nodes have (`swap`),
//! which of the jobs that are being parked are parked, or cannot be, whether those that are parked
//! still are (`parked`), and what jobs need (`needs`). The query is a message to that name; whether
//! it can be delivered is the answer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use dfrs_agent::daemons::OrderChanges;
use dfrs_proto::message::Message;

use super::facts_store::{NodeFactsStore, ParkingJob};
use super::in_flight::{CompletedMessage, InFlight};
use super::needs::{self, NeedSchedule};
use super::parked::{self, ParkedSchedule};
use super::swap::{self, SwapSchedule};
use super::{SendTiming, TICK, Traffic};
use crate::node_link::NodeLink;

/// How often nodes are polled about jobs that are being parked, which takes them seconds: each
/// query is a process that slurmd has to start.
const PARKED_INTERVAL: Duration = Duration::from_millis(500);
/// The longest time between two such queries: it grows with the time that a job has been polled.
const MAX_PARKED_INTERVAL: Duration = Duration::from_secs(5);
/// How often nodes are polled whether such a job cannot be parked, which no node knows before this
/// either.
const STUCK_INTERVAL: Duration = Duration::from_secs(2);
/// Queries under way at the same time, those that are late aside.
const MAX_ON_TIME: usize = 8;
/// Queries under way at most, with those that are late.
const MAX_IN_FLIGHT: usize = 48;

/// What the node poller receives.
pub(super) enum PollerEvent {
    /// Other nodes, and which jobs they keep frozen; the facts store knows which of these are being
    /// parked.
    NodesChanged {
        more: BTreeMap<String, BTreeSet<u32>>,
        fewer: BTreeSet<String>,
    },
    /// The change of orders with this number.
    Orders(OrderChanges, u64),
    Completed(CompletedMessage),
    Stop,
}

enum PollQuery {
    Swap(swap::SwapQuery),
    /// Of a job that is being parked since the change of orders of that number: whether it is,
    Parked(u32, u64),
    /// and whether it cannot be, on one of these nodes.
    Stuck(u32, u64, Vec<String>),
    /// Of one that was parked: whether it still is.
    StillParked(parked::ParkedQuery),
    Need(needs::NeedQuery),
}

/// When a job that is being parked was polled.
#[derive(Clone, Copy)]
struct ParkingPolls {
    first: Instant,
    last: Instant,
    /// Whether it cannot be.
    stuck: Instant,
}

impl ParkingPolls {
    /// For the first time.
    fn first(now: Instant) -> Self {
        Self {
            first: now,
            last: now,
            stuck: now,
        }
    }

    /// Whether it is due to poll whether the job is parked.
    fn is_due(&self, now: Instant) -> bool {
        let interval = (now - self.first) / 32;
        now - self.last >= interval.clamp(PARKED_INTERVAL, MAX_PARKED_INTERVAL)
    }
}

/// The thread's state.
pub(super) struct NodePoller {
    in_flight: InFlight,
    store: Arc<NodeFactsStore>,
    traffic: Arc<Traffic>,
    late: Duration,
    swap: SwapSchedule,
    /// Of each job that is being parked.
    parking_polls: BTreeMap<u32, ParkingPolls>,
    parked: ParkedSchedule,
    needs: NeedSchedule,
    open: BTreeMap<u64, (PollQuery, Instant)>,
    stops: bool,
}

impl NodePoller {
    pub(super) fn new(
        link: &Arc<dyn NodeLink>,
        events: &Sender<PollerEvent>,
        (store, traffic): (&Arc<NodeFactsStore>, &Arc<Traffic>),
        timing: SendTiming,
    ) -> Self {
        let events = events.clone();
        // After the end there is no receiver for what completes.
        let on_completed = move |completed| {
            let _ = events.send(PollerEvent::Completed(completed));
        };
        Self {
            in_flight: InFlight::new(Arc::clone(link), Arc::new(on_completed), MAX_IN_FLIGHT),
            store: Arc::clone(store),
            traffic: Arc::clone(traffic),
            late: timing.late,
            swap: SwapSchedule::default(),
            parking_polls: BTreeMap::new(),
            parked: ParkedSchedule::default(),
            needs: NeedSchedule::default(),
            open: BTreeMap::new(),
            stops: false,
        }
    }

    /// Polls until it is stopped.
    pub(super) fn run(&mut self, events: &Receiver<PollerEvent>) {
        // After a panic: what was under way may never complete.
        self.open.clear();
        self.needs.reset_in_flight(Instant::now());
        self.swap.reset_in_flight(Instant::now());
        self.parked.reset_in_flight(Instant::now());
        while !self.stops {
            match events.recv_timeout(TICK) {
                Ok(event) => {
                    self.handle(event);
                    while let Ok(event) = events.try_recv() {
                        self.handle(event);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if !self.stops {
                self.poll_due(Instant::now());
            }
            self.traffic.set_questions(self.open.len());
        }
        self.in_flight.abandon();
    }

    fn handle(&mut self, event: PollerEvent) {
        match event {
            PollerEvent::NodesChanged { more, fewer } => {
                let now = Instant::now();
                self.swap.change(more.keys(), &fewer, now);
                let changed = self.parked.change(&more, &fewer, now);
                self.store.forget_not_parked(&changed.jobs);
                for node in changed.thawing {
                    self.swap.returned(&node, now);
                }
            }
            PollerEvent::Orders(changes, number) => {
                self.needs.change(&changes, number, Instant::now());
            }
            PollerEvent::Completed(completed) => self.answer(completed),
            PollerEvent::Stop => self.stops = true,
        }
    }

    fn answer(&mut self, completed: CompletedMessage) {
        self.in_flight.join(completed.id);
        match self.open.remove(&completed.id) {
            Some((PollQuery::Swap(question), _)) => {
                let now = Instant::now();
                let learned = self.swap.answer(&question, &completed.failed, now);
                self.store.set_swap(&learned);
            }
            Some((PollQuery::Parked(job, since), _)) if completed.failed.is_empty() => {
                self.store.parked(job, since);
            }
            Some((PollQuery::Stuck(job, since, nodes), _)) => {
                // Only nodes where it is so have the name: here an answer is what counts.
                if nodes.iter().any(|node| !completed.failed.contains(node)) {
                    self.store.stuck(job, since);
                }
            }
            Some((PollQuery::StillParked(question), _)) => {
                let facts = self.store.facts();
                let failed = completed.failed.iter();
                let missing: Vec<&String> = failed
                    .filter(|node| {
                        !facts.silent.contains(*node) && self.store.has_newest_orders(node)
                    })
                    .collect();
                let now = Instant::now();
                if missing.is_empty() && !completed.failed.is_empty() {
                    // Nodes that do not answer do not count.
                    self.parked.not_sent(&question, now);
                } else if let Some(node) = self.parked.answer(&question, &missing, now) {
                    self.store.not_parked(question.0, node);
                }
            }
            Some((PollQuery::Need(question), _)) => {
                let learned = self
                    .needs
                    .answer(&question, &completed.failed, Instant::now());
                if let Some((job, since, need)) = learned {
                    self.store.needs(job, since, need);
                }
            }
            Some((PollQuery::Parked(..), _)) | None => {}
        }
    }

    fn poll_due(&mut self, now: Instant) {
        self.poll_parking(now);
        self.poll_needs(now);
        self.poll_swap(now);
        self.poll_parked(now);
    }

    /// Polls nodes that have such jobs for what these need.
    fn poll_needs(&mut self, now: Instant) {
        let facts = self.store.facts();
        let store = Arc::clone(&self.store);
        while self.has_room(now) {
            let knows = |job| store.is_measured_on_all_nodes(job);
            let Some(question) = self.needs.next(now, &facts.silent, knows) else {
                return;
            };
            let (nodes, address) = (question.nodes.clone(), question.address());
            if !self.send(nodes, address, PollQuery::Need(question.clone()), now) {
                self.needs.not_sent(&question, now);
                return;
            }
        }
    }

    /// Whether another query may start: those that are late are not waited for.
    fn has_room(&self, now: Instant) -> bool {
        let in_time = |(_, asked): &&(PollQuery, Instant)| now - *asked < self.late;
        self.in_flight.has_room() && self.open.values().filter(in_time).count() < MAX_ON_TIME
    }

    /// Polls the nodes of each job that is being parked whether they have done it, and less often
    /// whether they cannot; one query of each kind at a time for each job.
    fn poll_parking(&mut self, now: Instant) {
        let parking = self.store.parkings_to_poll();
        self.parking_polls
            .retain(|job, _| parking.contains_key(job));
        let mut due: Vec<(Option<ParkingPolls>, u32, ParkingJob)> = parking
            .into_iter()
            .map(|(job, parking)| (self.parking_polls.get(&job).copied(), job, parking))
            .collect();
        due.sort_by_key(|(asked, ..)| asked.map(|asked| asked.last));
        for (asked, job, parking) in due {
            if !self.has_room(now) {
                return;
            }
            let mut now_asked = asked.unwrap_or_else(|| ParkingPolls::first(now));
            let is_due = asked.is_none_or(|asked| asked.is_due(now));
            if is_due
                && !self.is_open(
                    |question| matches!(question, PollQuery::Parked(open, _) if *open == job),
                )
            {
                now_asked.last = now;
                let address = format!("/run/dfrs/%n/parked.{job}.sock");
                let question = PollQuery::Parked(job, parking.since);
                self.send(parking.nodes.clone(), address, question, now);
            }
            let is_due = now - now_asked.stuck >= STUCK_INTERVAL;
            if is_due
                && !self.is_open(
                    |question| matches!(question, PollQuery::Stuck(open, ..) if *open == job),
                )
            {
                now_asked.stuck = now;
                let address = format!("/run/dfrs/%n/stuck.{job}.sock");
                let question = PollQuery::Stuck(job, parking.since, parking.nodes.clone());
                self.send(parking.nodes, address, question, now);
            }
            self.parking_polls.insert(job, now_asked);
        }
    }

    fn is_open(&self, is_it: impl Fn(&PollQuery) -> bool) -> bool {
        self.open.values().any(|(question, _)| is_it(question))
    }

    /// Polls nodes whether jobs that are not polled otherwise are still parked there.
    fn poll_parked(&mut self, now: Instant) {
        let store = Arc::clone(&self.store);
        while self.has_room(now) {
            let may_be = |job, nodes: &BTreeSet<String>| store.can_poll_parked(job, nodes);
            let Some(question) = self.parked.next(now, may_be) else {
                return;
            };
            let address = format!("/run/dfrs/%n/parked.{}.sock", question.0);
            let asked = PollQuery::StillParked(question.clone());
            if !self.send(question.1.clone(), address, asked, now) {
                self.parked.not_sent(&question, now);
                return;
            }
        }
    }

    /// Polls nodes that answer for how much swap they have.
    fn poll_swap(&mut self, now: Instant) {
        let facts = self.store.facts();
        let passed = self.swap.skip_silent(&facts.silent, now);
        self.store.set_swap(&passed);
        while self.has_room(now) {
            let Some(question) = self.swap.next(now) else {
                return;
            };
            let (nodes, address) = (question.nodes.clone(), question.address());
            if !self.send(nodes, address, PollQuery::Swap(question.clone()), now) {
                self.swap.not_sent(&question, now);
                return;
            }
        }
    }

    /// Returns false if the query cannot be sent: then it is sent again when it is due again.
    fn send(
        &mut self,
        nodes: Vec<String>,
        address: String,
        question: PollQuery,
        now: Instant,
    ) -> bool {
        let started = Message::Probe.encode().ok().and_then(|bytes| {
            let id = self.in_flight.start(nodes, address, bytes);
            id.ok()
        });
        let Some(id) = started else {
            return false;
        };
        self.open.insert(id, (question, now));
        true
    }
}
