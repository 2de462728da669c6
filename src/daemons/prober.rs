//! Learns from the node daemons what they publish as socket names: which nodes have swap, which of the
//! jobs that are being parked are parked, and what jobs need (`needs`). The question is a message to
//! that name; whether it can be delivered is the answer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use dfrs_agent::daemons::OrderChanges;
use dfrs_proto::message::Message;

use super::board::{Board, Parking};
use super::flights::{Flights, Landed};
use super::needs::{self, Needs};
use super::{Pace, TICK, Traffic};
use crate::node_link::NodeLink;

/// Exists while the node has swap for parked jobs.
const SWAP: &str = "/run/dfrs/%n/swap.sock";
/// How often nodes are asked whether they have swap.
const SWAP_INTERVAL: Duration = Duration::from_secs(30);
/// How often they are asked about jobs that are being parked, which takes them seconds: each
/// question is a process that slurmd has to start.
const PARKED_INTERVAL: Duration = Duration::from_millis(500);
/// Nodes in one question about swap.
const BATCH: usize = 64;
/// Questions under way at the same time, those that are late aside.
const AT_ONCE: usize = 8;
/// Questions under way at most, with those that are late.
const MOST: usize = 48;

/// What the prober hears of.
pub(super) enum Event {
    /// Other nodes; the board knows which jobs to ask about.
    Ask {
        more: Vec<String>,
        fewer: BTreeSet<String>,
    },
    /// The change of orders with this number.
    Orders(OrderChanges, u64),
    Landed(Landed),
    Stop,
}

enum Question {
    Swap(Vec<String>),
    /// Of a job that is being parked since the change of orders of that number.
    Parked(u32, u64),
    Need(needs::Question),
}

/// The thread's state.
pub(super) struct Prober {
    flights: Flights,
    board: Arc<Board>,
    traffic: Arc<Traffic>,
    late: Duration,
    /// When which node is asked about its swap.
    nodes: BTreeMap<String, Instant>,
    /// When each of these jobs was last asked about.
    asked: BTreeMap<u32, Instant>,
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
            nodes: BTreeMap::new(),
            asked: BTreeMap::new(),
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
                self.nodes.retain(|node, _| !fewer.contains(node));
                for node in more {
                    self.nodes.entry(node).or_insert(now);
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
            Some((Question::Swap(nodes), _)) => {
                let (unable, able): (Vec<_>, Vec<_>) = nodes
                    .into_iter()
                    .filter(|node| self.nodes.contains_key(node))
                    .partition(|node| landed.failed.contains(node));
                self.board.can_park(&able, &unable);
            }
            Some((Question::Parked(job, since), _)) if landed.failed.is_empty() => {
                self.board.parked(job, since);
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

    /// Asks the nodes of each job that is being parked whether they have done it; one question at a time
    /// for each job.
    fn ask_who_is_parked(&mut self, now: Instant) {
        let parking = self.board.to_ask_about();
        self.asked.retain(|job, _| parking.contains_key(job));
        let is_open = |job: &u32| {
            let mut questions = self.open.values();
            questions
                .any(|(question, _)| matches!(question, Question::Parked(open, _) if open == job))
        };
        let last = |job: &u32| self.asked.get(job).copied();
        let mut due: Vec<(u32, Parking)> = parking
            .into_iter()
            .filter(|(job, _)| last(job).is_none_or(|asked| now - asked >= PARKED_INTERVAL))
            .filter(|(job, _)| !is_open(job))
            .collect();
        due.sort_by_key(|(job, _)| last(job));
        for (job, Parking { nodes, since, .. }) in due {
            if !self.has_room(now) {
                return;
            }
            let address = format!("/run/dfrs/%n/parked.{job}.sock");
            self.asked.insert(job, now);
            self.ask(nodes, address, Question::Parked(job, since), now);
        }
    }

    /// Asks nodes that answer whether they have swap.
    fn ask_for_swap(&mut self, now: Instant) {
        let facts = self.board.facts();
        let mut due: Vec<String> = Vec::new();
        for (node, at) in &mut self.nodes {
            if *at <= now && facts.silent.contains(node) {
                *at = now + SWAP_INTERVAL;
                self.board.can_park(&[], std::slice::from_ref(node));
            } else if *at <= now {
                due.push(node.clone());
            }
        }
        for nodes in due.chunks(BATCH) {
            if !self.has_room(now) {
                return;
            }
            for node in nodes {
                self.nodes.insert(node.clone(), now + SWAP_INTERVAL);
            }
            self.ask(
                nodes.to_vec(),
                SWAP.to_owned(),
                Question::Swap(nodes.to_vec()),
                now,
            );
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
