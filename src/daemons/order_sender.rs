//! Carries orders to the node daemons.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use dfrs_agent::daemons::OrderChanges;
use dfrs_agent::publish::delivery::{OrderBatch, SendQueue, SendTiming};
use dfrs_agent::slurm::port::LogLevel;
use dfrs_core::{Span, Time};
use dfrs_proto::message::{DesiredState, Message};

use super::facts_store::NodeFactsStore;
use super::in_flight::{CompletedMessage, InFlight};
use super::uptime::Uptime;
use super::{Traffic, next_events};
use crate::log::Log;
use crate::node_link::NodeLink;

/// Where dfrsd listens; slurmd replaces %n by the node's name.
const DAEMON: &str = "/run/dfrs/%n/dfrsd.sock";
/// How long the last orders may take, once it is to stop.
const FINAL_ORDERS_TIMEOUT: Span = Span::from_seconds(2);

/// What the order sender receives.
pub(super) enum SenderEvent {
    /// The change of orders with this number.
    Orders(OrderChanges, u64),
    Completed(CompletedMessage),
    Stop,
}

/// The thread's state.
pub(super) struct OrderSender {
    queue: SendQueue,
    uptime: Uptime,
    in_flight: InFlight,
    store: Arc<NodeFactsStore>,
    traffic: Arc<Traffic>,
    log: Log,
    time_to_live: Span,
    generation: u64,
    stop_deadline: Option<Time>,
}

impl OrderSender {
    pub(super) fn new(
        link: &Arc<dyn NodeLink>,
        events: &Sender<SenderEvent>,
        (store, traffic): (&Arc<NodeFactsStore>, &Arc<Traffic>),
        log: &Log,
        timing: SendTiming,
        generation: u64,
    ) -> Self {
        let max = SendQueue::MAX_IN_FLIGHT;
        Self {
            queue: SendQueue::new(timing),
            uptime: Uptime::start(),
            in_flight: InFlight::new(link, events, SenderEvent::Completed, max),
            store: Arc::clone(store),
            traffic: Arc::clone(traffic),
            log: log.clone(),
            time_to_live: timing.time_to_live,
            generation,
            stop_deadline: None,
        }
    }

    /// Sends orders until it is stopped.
    pub(super) fn run(&mut self, events: &Receiver<SenderEvent>) {
        // After a panic: what was under way may never complete.
        self.queue.reset_in_flight(self.uptime.now());
        while !self.is_done(self.uptime.now()) {
            let Some(events) = next_events(events) else {
                break;
            };
            for event in events {
                self.handle(event);
            }
            self.send_due(self.uptime.now());
            self.report(self.uptime.now());
        }
        self.in_flight.abandon();
    }

    /// Whether it was stopped and has nothing more to send, or no more time.
    fn is_done(&self, now: Time) -> bool {
        self.stop_deadline
            .is_some_and(|end| now >= end || !self.queue.has_to_send(now))
    }

    fn report(&self, now: Time) {
        let (under_way, late) = self.queue.messages();
        self.traffic
            .set_orders(self.queue.due(now), under_way, late);
    }

    fn handle(&mut self, event: SenderEvent) {
        let now = self.uptime.now();
        match event {
            SenderEvent::Orders(changes, number) => self.queue.change(changes, number, now),
            SenderEvent::Stop => self.stop_deadline = Some(now + FINAL_ORDERS_TIMEOUT),
            SenderEvent::Completed(completed) => {
                self.in_flight.join(completed.id);
                if let Some(problem) = completed.problem {
                    let line = format!("internal error in a message to nodes: {problem}");
                    self.log.write(LogLevel::Error, &line);
                }
                let answers = self.queue.completed(completed.id, &completed.failed, now);
                self.store.lock().record(&answers);
            }
        }
    }

    fn send_due(&mut self, now: Time) {
        self.queue.mark_late(now);
        while self.in_flight.has_room() {
            let load = match self.stop_deadline {
                None => self.queue.next(now),
                Some(_) => self.queue.next_urgent(now),
            };
            let Some(load) = load else { return };
            match self.send(&load) {
                Ok(id) => self.queue.started(id, &load, now),
                Err(problem) => {
                    self.queue.not_started(&load, now);
                    self.log
                        .write(LogLevel::Error, &format!("orders not sent: {problem}"));
                    return;
                }
            }
        }
    }

    fn send(&mut self, load: &OrderBatch) -> Result<u64, String> {
        self.generation += 1;
        let message = Message::State(DesiredState {
            generation: self.generation,
            time_to_live: u32::try_from(self.time_to_live.0 / 1_000_000).unwrap_or(u32::MAX),
            nodes: load.clone(),
        });
        let bytes = message.encode().map_err(|error| error.to_string())?;
        let names = load.keys().cloned().collect();
        self.in_flight
            .start(names, DAEMON.to_owned(), bytes)
            .map_err(|error| error.to_string())
    }
}
