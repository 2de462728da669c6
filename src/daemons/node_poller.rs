//! Polls the node daemons for what they publish as socket names, by the agent's rules.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use dfrs_agent::publish::delivery::{DaemonQuery, PollSchedule, PolledChanges, SendTiming};
use dfrs_core::Time;
use dfrs_proto::message::Message;

use super::facts_store::NodeFactsStore;
use super::in_flight::{CompletedMessage, InFlight};
use super::uptime::Uptime;
use super::{Traffic, next_events};
use crate::node_link::NodeLink;

/// What the node poller receives.
pub(super) enum PollerEvent {
    /// Orders changed.
    Orders(PolledChanges),
    Completed(CompletedMessage),
    Stop,
}

/// The thread's state.
pub(super) struct NodePoller {
    in_flight: InFlight,
    store: Arc<NodeFactsStore>,
    traffic: Arc<Traffic>,
    uptime: Uptime,
    schedule: PollSchedule,
    stops: bool,
}

impl NodePoller {
    pub(super) fn new(
        link: &Arc<dyn NodeLink>,
        events: &Sender<PollerEvent>,
        (store, traffic): (&Arc<NodeFactsStore>, &Arc<Traffic>),
        timing: SendTiming,
    ) -> Self {
        let max = PollSchedule::MAX_IN_FLIGHT;
        Self {
            in_flight: InFlight::new(link, events, PollerEvent::Completed, max),
            store: Arc::clone(store),
            traffic: Arc::clone(traffic),
            uptime: Uptime::start(),
            schedule: PollSchedule::new(timing.late),
            stops: false,
        }
    }

    /// Polls until it is stopped.
    pub(super) fn run(&mut self, events: &Receiver<PollerEvent>) {
        // After a panic: what was under way may never complete.
        self.schedule.reset_in_flight(self.uptime.now());
        while !self.stops {
            let Some(events) = next_events(events) else {
                break;
            };
            for event in events {
                self.handle(event);
            }
            if !self.stops {
                self.poll_due(self.uptime.now());
            }
            self.traffic.set_queries(self.schedule.under_way());
        }
        self.in_flight.abandon();
    }

    fn handle(&mut self, event: PollerEvent) {
        let now = self.uptime.now();
        match event {
            PollerEvent::Orders(changes) => {
                self.schedule.change(&changes, &mut self.store.lock(), now);
            }
            PollerEvent::Completed(completed) => {
                self.in_flight.join(completed.id);
                let (id, failed) = (completed.id, &completed.failed);
                let mut facts = self.store.lock();
                self.schedule.answered(id, failed, &mut facts, now);
            }
            PollerEvent::Stop => self.stops = true,
        }
    }

    fn poll_due(&mut self, now: Time) {
        loop {
            let query = self.schedule.next(&mut self.store.lock(), now);
            let Some(query) = query else { return };
            let Some(id) = self.send(&query) else {
                self.schedule.not_sent(&query, now);
                return;
            };
            self.schedule.sent(id, query, now);
        }
    }

    /// Returns the number of the query, unless it cannot be sent.
    fn send(&mut self, query: &DaemonQuery) -> Option<u64> {
        let bytes = Message::Probe.encode().ok()?;
        // After a panic threads of queries are left that the schedule has forgotten.
        if !self.in_flight.has_room() {
            return None;
        }
        let (nodes, address) = (query.nodes.clone(), query.address());
        self.in_flight.start(nodes, address, bytes).ok()
    }
}
