//! Learns from the node daemons what they publish as socket names: how much swap nodes have (`swap`), which of the
//! jobs that are being parked are parked, or cannot be, whether those that are parked still are (`parked`), and what
//! jobs need (`needs`). The question is a message to that name; whether it can be delivered is the answer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use dfrs_agent::daemons::OrderChanges;
use dfrs_proto::message::Message;

use super::board::{Board, Parking};
use super::flights::{Flights, Landed};
use super::needs::{self, Needs};
use super::parked::{self, Parked};
use super::swap::{self, Swap};
use super::{Pace, TICK, Traffic};
use crate::node_link::NodeLink;

/// How often they are asked about jobs that are being parked, which takes them seconds: each
/// question is a process that slurmd has to start.
const PARKED_INTERVAL: Duration = Duration::from_millis(500);
/// The longest time between two such questions: it grows with the time that a job has been asked about.
const LONGEST_PARKED_INTERVAL: Duration = Duration::from_secs(5);
/// How often they are asked whether such a job cannot be parked, which no node knows before this either.
const STUCK_INTERVAL: Duration = Duration::from_secs(2);
/// Questions under way at the same time, those that are late aside.
const AT_ONCE: usize = 8;
/// Questions under way at most, with those that are late.
const MOST: usize = 48;

/// What the prober hears of.
pub(super) enum Event {
    /// Other nodes, and which jobs they keep frozen; the board knows which of these are being parked.
    Ask {
        more: BTreeMap<String, BTreeSet<u32>>,
        fewer: BTreeSet<String>,
    },
    /// The change of orders with this number.
    Orders(OrderChanges, u64),
    Landed(Landed),
    Stop,
}

enum Question {
    Swap(swap::Question),
    /// Of a job that is being parked since the change of orders of that number: whether it is,
    Parked(u32, u64),
    /// and whether it cannot be, on one of these nodes.
    Stuck(u32, u64, Vec<String>),
    /// Of one that was parked: whether it still is.
    StillParked(parked::Question),
    Need(needs::Question),
}

/// When a job that is being parked was asked about.
#[derive(Clone, Copy)]
struct Asked {
    first: Instant,
    last: Instant,
    /// Whether it cannot be.
    stuck: Instant,
}

impl Asked {
    /// For the first time.
    fn first(now: Instant) -> Self {
        Self {
            first: now,
            last: now,
            stuck: now,
        }
    }

    /// Whether it is due to ask whether the job is parked.
    fn is_due(&self, now: Instant) -> bool {
        let interval = (now - self.first) / 32;
        now - self.last >= interval.clamp(PARKED_INTERVAL, LONGEST_PARKED_INTERVAL)
    }
}

/// The thread's state.
pub(super) struct Prober {
    flights: Flights,
    board: Arc<Board>,
    traffic: Arc<Traffic>,
    late: Duration,
    swap: Swap,
    /// Of each job that is being parked.
    asked: BTreeMap<u32, Asked>,
    parked: Parked,
    needs: Needs,
    open: BTreeMap<u64, (Question, Instant)>,
    stops: bool,
}

impl Prober {
    pub(super) fn new(
        link: &Arc<dyn NodeLink>,
        events: &Sender<Event>,
        (board, traffic): (&Arc<Board>, &Arc<Traffic>),
        pace: Pace,
    ) -> Self {
        let events = events.clone();
        // Nobody listens to what lands after the end.
        let land = move |landed| {
            let _ = events.send(Event::Landed(landed));
        };
        Self {
            flights: Flights::new(Arc::clone(link), Arc::new(land), MOST),
            board: Arc::clone(board),
            traffic: Arc::clone(traffic),
            late: pace.late,
            swap: Swap::default(),
            asked: BTreeMap::new(),
            parked: Parked::default(),
            needs: Needs::default(),
            open: BTreeMap::new(),
            stops: false,
        }
    }

    /// Asks until it is told to stop.
    pub(super) fn run(&mut self, events: &Receiver<Event>) {
        // After a panic: what was under way may never be heard of again.
        self.open.clear();
        self.needs.begin_again(Instant::now());
        self.swap.begin_again(Instant::now());
        self.parked.begin_again(Instant::now());
        while !self.stops {
            match events.recv_timeout(TICK) {
                Ok(event) => {
                    self.hear(event);
                    while let Ok(event) = events.try_recv() {
                        self.hear(event);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if !self.stops {
                self.ask_what_is_due(Instant::now());
            }
            self.traffic.set_questions(self.open.len());
        }
        self.flights.abandon();
    }

    fn hear(&mut self, event: Event) {
        match event {
            Event::Ask { more, fewer } => {
                let now = Instant::now();
                self.swap.change(more.keys(), &fewer, now);
                let changed = self.parked.change(&more, &fewer, now);
                self.board.forget_not_parked(&changed.jobs);
                for node in changed.thawing {
                    self.swap.returned(&node, now);
                }
            }
            Event::Orders(changes, number) => {
                self.needs.change(&changes, number, Instant::now());
            }
            Event::Landed(landed) => self.answer(landed),
            Event::Stop => self.stops = true,
        }
    }

    fn answer(&mut self, landed: Landed) {
        self.flights.landed(landed.flight);
        match self.open.remove(&landed.flight) {
            Some((Question::Swap(question), _)) => {
                let now = Instant::now();
                let learned = self.swap.answer(&question, &landed.failed, now);
                self.board.can_park(&learned);
            }
            Some((Question::Parked(job, since), _)) if landed.failed.is_empty() => {
                self.board.parked(job, since);
            }
            Some((Question::Stuck(job, since, nodes), _)) => {
                // Who has the name says so: here an answer is what counts.
                if nodes.iter().any(|node| !landed.failed.contains(node)) {
                    self.board.stuck(job, since);
                }
            }
            Some((Question::StillParked(question), _)) => {
                let facts = self.board.facts();
                let failed = landed.failed.iter();
                let missing: Vec<&String> = failed
                    .filter(|node| !facts.silent.contains(*node) && self.board.has_heard(node))
                    .collect();
                let now = Instant::now();
                if missing.is_empty() && !landed.failed.is_empty() {
                    // Nodes that do not answer say nothing.
                    self.parked.not_asked(&question, now);
                } else if let Some(node) = self.parked.answer(&question, &missing, now) {
                    self.board.not_parked(question.0, node);
                }
            }
            Some((Question::Need(question), _)) => {
                let learned = self.needs.answer(&question, &landed.failed, Instant::now());
                if let Some((job, since, need)) = learned {
                    self.board.needs(job, since, need);
                }
            }
            Some((Question::Parked(..), _)) | None => {}
        }
    }

    fn ask_what_is_due(&mut self, now: Instant) {
        self.ask_who_is_parked(now);
        self.ask_for_needs(now);
        self.ask_for_swap(now);
        self.ask_who_is_still_parked(now);
    }

    /// Asks nodes that have such jobs what these need.
    fn ask_for_needs(&mut self, now: Instant) {
        let facts = self.board.facts();
        let board = Arc::clone(&self.board);
        while self.has_room(now) {
            let knows = |job| board.know_to_measure(job);
            let Some(question) = self.needs.next(now, &facts.silent, knows) else {
                return;
            };
            let (nodes, address) = (question.nodes.clone(), question.address());
            if !self.ask(nodes, address, Question::Need(question.clone()), now) {
                self.needs.not_asked(&question, now);
                return;
            }
        }
    }

    /// Whether another question may be asked: nobody waits for those that are late.
    fn has_room(&self, now: Instant) -> bool {
        let in_time = |(_, asked): &&(Question, Instant)| now - *asked < self.late;
        self.flights.has_room() && self.open.values().filter(in_time).count() < AT_ONCE
    }

    /// Asks the nodes of each job that is being parked whether they have done it, and less often whether they cannot;
    /// one question of each kind at a time for each job.
    fn ask_who_is_parked(&mut self, now: Instant) {
        let parking = self.board.to_ask_about();
        self.asked.retain(|job, _| parking.contains_key(job));
        let mut due: Vec<(Option<Asked>, u32, Parking)> = parking
            .into_iter()
            .map(|(job, parking)| (self.asked.get(&job).copied(), job, parking))
            .collect();
        due.sort_by_key(|(asked, ..)| asked.map(|asked| asked.last));
        for (asked, job, parking) in due {
            if !self.has_room(now) {
                return;
            }
            let mut now_asked = asked.unwrap_or_else(|| Asked::first(now));
            let is_due = asked.is_none_or(|asked| asked.is_due(now));
            if is_due
                && !self.is_open(
                    |question| matches!(question, Question::Parked(open, _) if *open == job),
                )
            {
                now_asked.last = now;
                let address = format!("/run/dfrs/%n/parked.{job}.sock");
                let question = Question::Parked(job, parking.since);
                self.ask(parking.nodes.clone(), address, question, now);
            }
            let is_due = now - now_asked.stuck >= STUCK_INTERVAL;
            if is_due
                && !self.is_open(
                    |question| matches!(question, Question::Stuck(open, ..) if *open == job),
                )
            {
                now_asked.stuck = now;
                let address = format!("/run/dfrs/%n/stuck.{job}.sock");
                let question = Question::Stuck(job, parking.since, parking.nodes.clone());
                self.ask(parking.nodes, address, question, now);
            }
            self.asked.insert(job, now_asked);
        }
    }

    fn is_open(&self, is_it: impl Fn(&Question) -> bool) -> bool {
        self.open.values().any(|(question, _)| is_it(question))
    }

    /// Asks nodes whether jobs that nobody asks about otherwise are still parked there.
    fn ask_who_is_still_parked(&mut self, now: Instant) {
        let board = Arc::clone(&self.board);
        while self.has_room(now) {
            let may_be = |job, nodes: &BTreeSet<String>| board.may_be_parked(job, nodes);
            let Some(question) = self.parked.next(now, may_be) else {
                return;
            };
            let address = format!("/run/dfrs/%n/parked.{}.sock", question.0);
            let asked = Question::StillParked(question.clone());
            if !self.ask(question.1.clone(), address, asked, now) {
                self.parked.not_asked(&question, now);
                return;
            }
        }
    }

    /// Asks nodes that answer how much swap they have.
    fn ask_for_swap(&mut self, now: Instant) {
        let facts = self.board.facts();
        let passed = self.swap.pass_over(&facts.silent, now);
        self.board.can_park(&passed);
        while self.has_room(now) {
            let Some(question) = self.swap.next(now) else {
                return;
            };
            let (nodes, address) = (question.nodes.clone(), question.address());
            if !self.ask(nodes, address, Question::Swap(question.clone()), now) {
                self.swap.not_asked(&question, now);
                return;
            }
        }
    }

    /// Returns false if it cannot be asked: then it is asked again when it is due again.
    fn ask(
        &mut self,
        nodes: Vec<String>,
        address: String,
        question: Question,
        now: Instant,
    ) -> bool {
        let started = Message::Probe.encode().ok().and_then(|bytes| {
            let flight = self.flights.start(nodes, address, bytes);
            flight.ok()
        });
        let Some(flight) = started else {
            return false;
        };
        self.open.insert(flight, (question, now));
        true
    }
}
