//! Carries orders to the node daemons.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use dfrs_agent::daemons::OrderChanges;
use dfrs_agent::slurm::Level;
use dfrs_proto::message::{DesiredState, Message};

use super::board::Board;
use super::flights::{Flights, Landed};
use super::rounds::{Load, MOST, Rounds};
use super::{Pace, TICK, Traffic};
use crate::log::Log;
use crate::node_link::NodeLink;

/// Where dfrsd listens; slurmd replaces %n by the node's name.
const DAEMON: &str = "/run/dfrs/%n/dfrsd.sock";
/// How long the last orders may take, once it is to stop.
const LAST_ORDERS: Duration = Duration::from_secs(2);

/// What the courier hears of.
pub(super) enum Event {
    /// The change of orders with this number.
    Orders(OrderChanges, u64),
    Landed(Landed),
    Stop,
}

/// The thread's state.
pub(super) struct Courier {
    rounds: Rounds,
    flights: Flights,
    board: Arc<Board>,
    traffic: Arc<Traffic>,
    log: Log,
    time_to_live: Duration,
    generation: u64,
    stops: Option<Instant>,
}

impl Courier {
    pub(super) fn new(
        link: &Arc<dyn NodeLink>,
        events: &Sender<Event>,
        (board, traffic): (&Arc<Board>, &Arc<Traffic>),
        log: &Log,
        pace: Pace,
        generation: u64,
    ) -> Self {
        let events = events.clone();
        // Nobody listens to what lands after the end.
        let land = move |landed| {
            let _ = events.send(Event::Landed(landed));
        };
        Self {
            rounds: Rounds::new(pace),
            flights: Flights::new(Arc::clone(link), Arc::new(land), MOST),
            board: Arc::clone(board),
            traffic: Arc::clone(traffic),
            log: log.clone(),
            time_to_live: pace.time_to_live,
            generation,
            stops: None,
        }
    }

    /// Carries orders until it is told to stop.
    pub(super) fn run(&mut self, events: &Receiver<Event>) {
        // After a panic: what was under way may never be heard of again.
        self.rounds.begin_again(Instant::now());
        while !self.is_done(Instant::now()) {
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
            self.send_due(Instant::now());
            self.report(Instant::now());
        }
        self.flights.abandon();
    }

    /// Whether it was told to stop and has nothing more to send, or no more time.
    fn is_done(&self, now: Instant) -> bool {
        self.stops
            .is_some_and(|end| now >= end || !self.rounds.has_to_send(now))
    }

    fn report(&self, now: Instant) {
        let (under_way, late) = self.rounds.messages();
        self.traffic
            .set_orders(self.rounds.due(now), under_way, late);
    }

    fn hear(&mut self, event: Event) {
        let now = Instant::now();
        match event {
            Event::Orders(changes, number) => self.rounds.change(changes, number, now),
            Event::Stop => self.stops = Some(now + LAST_ORDERS),
            Event::Landed(landed) => {
                self.flights.landed(landed.flight);
                if let Some(problem) = landed.problem {
                    let line = format!("internal error in a message to nodes: {problem}");
                    self.log.write(Level::Error, &line);
                }
                let answers = self.rounds.landed(landed.flight, &landed.failed, now);
                self.board.confirmed(&answers.confirmed);
                self.board.heard(&answers.answered, &answers.silent);
            }
        }
    }

    fn send_due(&mut self, now: Instant) {
        self.rounds.give_up_late(now);
        while self.flights.has_room() {
            let load = match self.stops {
                None => self.rounds.next(now),
                Some(_) => self.rounds.next_hurried(now),
            };
            let Some(load) = load else { return };
            match self.send(&load) {
                Ok(flight) => self.rounds.started(flight, &load, now),
                Err(problem) => {
                    self.rounds.not_started(&load, now);
                    self.log
                        .write(Level::Error, &format!("orders not sent: {problem}"));
                    return;
                }
            }
        }
    }

    fn send(&mut self, load: &Load) -> Result<u64, String> {
        self.generation += 1;
        let message = Message::State(DesiredState {
            generation: self.generation,
            time_to_live: u32::try_from(self.time_to_live.as_secs()).unwrap_or(u32::MAX),
            nodes: load.clone(),
        });
        let bytes = message.encode().map_err(|error| error.to_string())?;
        let names = load.keys().cloned().collect();
        self.flights
            .start(names, DAEMON.to_owned(), bytes)
            .map_err(|error| error.to_string())
    }
}
