//! How messages get to the nodes and their answers back, by the agent's own rules of delivery: which
//! node is sent to or polled when, and what the answers mean.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dfrs_core::{Span, Time};

use super::cluster::{ClusterModel, SECOND};
use super::events::ModelEvent;
use dfrs_agent::daemons::{NodeFacts, OrderChanges};
use dfrs_agent::publish::delivery::{
    DaemonQuery, DeliveryFacts, OrderBatch, PollSchedule, PolledChanges, SendQueue, SendTiming,
};

/// The plugin's sender and poller look at least so often (`TICK` in `src/daemons.rs`).
const TICK: i64 = 200_000;
/// After this it is known that a node does not answer (Slurm's `MessageTimeout`).
pub(crate) const MESSAGE_TIMEOUT: Span = Span(10 * SECOND);
/// How long the last orders may take (`FINAL_ORDERS_TIMEOUT` in `src/daemons/order_sender.rs`).
const FINAL_ORDERS_TIMEOUT: Span = Span(2 * SECOND);

/// What the plugin's threads to the nodes know.
pub(super) struct ModelDelivery {
    queue: SendQueue,
    polls: PollSchedule,
    facts: DeliveryFacts,
    /// The agent is gone: only the last orders are sent, until then.
    stops_at: Option<Time>,
    /// Messages under way.
    messages: BTreeMap<u64, ModelMessage>,
    /// The number of the last message, which is the generation of its orders.
    last: u64,
    /// When it is to be looked at next what is due.
    due: Option<Time>,
}

/// A message under way.
struct ModelMessage {
    load: MessageLoad,
    /// Nodes that have not answered.
    open: BTreeSet<u32>,
    failed: Vec<String>,
}

enum MessageLoad {
    Orders(OrderBatch),
    /// To this address.
    Query(String),
}

impl Default for ModelDelivery {
    fn default() -> Self {
        Self::new(Span(0))
    }
}

impl ModelDelivery {
    /// For nodes that keep their caps without orders for so long.
    pub(super) fn new(time_to_live: Span) -> Self {
        let timing = SendTiming::with_time_to_live(time_to_live);
        Self {
            queue: SendQueue::new(timing),
            polls: PollSchedule::new(timing.late),
            facts: DeliveryFacts::default(),
            stops_at: None,
            messages: BTreeMap::new(),
            last: 0,
            due: None,
        }
    }

    /// The threads of another agent: nothing is known yet. Messages under way go on.
    fn restart(&mut self, time_to_live: Span) {
        let messages = std::mem::take(&mut self.messages);
        *self = Self {
            messages,
            last: self.last,
            ..Self::new(time_to_live)
        };
    }

    fn has_stopped(&self, now: Time) -> bool {
        self.stops_at
            .is_some_and(|end| now >= end || !self.queue.has_to_send(now))
    }

    /// What is known of the nodes.
    pub(super) fn facts(&self) -> Arc<NodeFacts> {
        self.facts.facts()
    }

    /// Whether the node has confirmed its newest orders, or gets none.
    pub(super) fn has_newest_orders(&self, node: &str) -> bool {
        self.facts.has_newest_orders(node)
    }

    /// Whether the node did not get the last message.
    pub(super) fn is_silent(&self, node: &str) -> bool {
        self.facts().silent.contains(node)
    }

    /// When something may be due.
    fn next_due(&self, now: Time) -> Option<Time> {
        let orders = self.queue.next_due();
        if self.stops_at.is_some() {
            return orders.filter(|_| !self.has_stopped(now));
        }
        let polls = self.polls.next_due(&self.facts);
        orders.into_iter().chain(polls).min()
    }
}

impl ClusterModel {
    /// Orders change, and these jobs are being parked.
    pub(super) fn set_orders(
        &mut self,
        changes: OrderChanges,
        parking: BTreeMap<u32, Vec<String>>,
    ) {
        let now = self.now;
        if self.delivery.stops_at.is_some() {
            self.delivery.restart(self.settings.time_to_live);
        }
        for name in &changes.gone {
            if let Some(node) = self.positions.get(name) {
                self.machines[*node as usize].in_touch = false;
            }
        }
        let delivery = &mut self.delivery;
        let number = delivery.facts.change(&changes, parking);
        let polled = PolledChanges::new(&changes, number, &delivery.facts);
        delivery.polls.change(&polled, &mut delivery.facts, now);
        delivery.queue.change(changes, number, now);
        self.send_due();
    }

    /// It may be time to send something.
    pub(super) fn look_at_due(&mut self) {
        if self.delivery.due.is_some_and(|at| at <= self.now) {
            self.delivery.due = None;
            self.send_due();
        }
    }

    fn send_due(&mut self) {
        let now = self.now;
        self.delivery.queue.mark_late(now);
        if !self.delivery.has_stopped(now) {
            self.send_orders(now);
        }
        if self.delivery.stops_at.is_none() {
            self.send_queries(now);
        }
        let Some(due) = self.delivery.next_due(now) else {
            return;
        };
        // What is due and cannot start waits for the next look, or for an answer.
        let due = due.0.max(now.0 + 1);
        let due = Time((due + TICK - 1).div_euclid(TICK) * TICK);
        if self.delivery.due.is_none_or(|known| known > due) {
            self.delivery.due = Some(due);
            self.queue.add(due, ModelEvent::Due);
        }
    }

    fn send_orders(&mut self, now: Time) {
        loop {
            let queue = &self.delivery.queue;
            let load = match self.delivery.stops_at {
                None => queue.next(now),
                Some(_) => queue.next_urgent(now),
            };
            let Some(load) = load else { return };
            let nodes = load.keys().filter_map(|name| self.positions.get(name));
            let nodes: BTreeSet<u32> = nodes.copied().collect();
            let id = self.next_message();
            self.delivery.queue.started(id, &load, now);
            self.begin_message(id, MessageLoad::Orders(load), nodes.clone());
            if self.lose > 0 {
                self.lose -= 1;
                self.after(MESSAGE_TIMEOUT, ModelEvent::Unanswered(id));
                continue;
            }
            for node in nodes {
                let about = [6, id, u64::from(node)];
                let latency = self.latency_on(self.settings.orders, about, std::iter::once(node));
                self.after(latency, ModelEvent::Orders(node, id));
            }
        }
    }

    fn send_queries(&mut self, now: Time) {
        loop {
            let delivery = &mut self.delivery;
            let Some(query) = delivery.polls.next(&mut delivery.facts, now) else {
                return;
            };
            self.send_query(query, now);
        }
    }

    fn send_query(&mut self, query: DaemonQuery, now: Time) {
        let nodes = query
            .nodes
            .iter()
            .filter_map(|name| self.positions.get(name));
        let nodes: BTreeSet<u32> = nodes.copied().collect();
        let id = self.next_message();
        let reached = nodes.iter().copied();
        let reached = reached.filter(|node| self.machines[*node as usize].is_reachable());
        let latency = self.latency_on(self.settings.probe, [7, id, 0], reached);
        self.begin_message(id, MessageLoad::Query(query.address()), nodes);
        self.delivery.polls.sent(id, query, now);
        self.after(latency, ModelEvent::Queried(id));
    }

    fn next_message(&mut self) -> u64 {
        self.delivery.last += 1;
        self.delivery.last
    }

    fn begin_message(&mut self, id: u64, load: MessageLoad, open: BTreeSet<u32>) {
        let message = ModelMessage {
            load,
            open,
            failed: Vec::new(),
        };
        self.delivery.messages.insert(id, message);
    }

    /// Orders reach a node, if it can be reached.
    pub(super) fn orders_arrive(&mut self, node: u32, id: u64) {
        let Some(message) = self.delivery.messages.get_mut(&id) else {
            return;
        };
        let machine = &mut self.machines[node as usize];
        if !machine.is_reachable() {
            self.after(MESSAGE_TIMEOUT, ModelEvent::Unanswered(id));
            return;
        }
        message.open.remove(&node);
        if !machine.takes_orders() {
            message.failed.push(machine.name.clone());
        } else if let MessageLoad::Orders(load) = &message.load
            && let Some(state) = load.get(&machine.name).cloned()
        {
            self.take_orders(node, &state, id);
        }
        self.complete_answered(id);
    }

    /// A query reaches its nodes: those that have its address have answered.
    pub(super) fn query_arrives(&mut self, id: u64) {
        let Some(mut message) = self.delivery.messages.remove(&id) else {
            return;
        };
        if let MessageLoad::Query(address) = &message.load {
            for node in std::mem::take(&mut message.open) {
                let machine = &self.machines[node as usize];
                if !machine.is_reachable() {
                    message.open.insert(node);
                } else if !self.publishes(node, address) {
                    message.failed.push(machine.name.clone());
                } else if let Some(job) = carried_job(address) {
                    self.discard_old_image(job, node);
                }
            }
        }
        if !message.open.is_empty() {
            self.after(MESSAGE_TIMEOUT, ModelEvent::Unanswered(id));
        }
        self.delivery.messages.insert(id, message);
        self.complete_answered(id);
    }

    /// Nodes that have not answered this message do not.
    pub(super) fn unanswered(&mut self, id: u64) {
        let Some(message) = self.delivery.messages.get_mut(&id) else {
            return;
        };
        for node in std::mem::take(&mut message.open) {
            message
                .failed
                .push(self.machines[node as usize].name.clone());
        }
        self.complete_answered(id);
    }

    /// If all nodes have answered this message, it has come to its end.
    fn complete_answered(&mut self, id: u64) {
        let (delivery, now) = (&mut self.delivery, self.now);
        let message = delivery.messages.get(&id);
        if message.is_none_or(|message| !message.open.is_empty()) {
            return;
        }
        let Some(message) = delivery.messages.remove(&id) else {
            return;
        };
        match message.load {
            MessageLoad::Orders(_) => {
                let answers = delivery.queue.completed(id, &message.failed, now);
                if delivery.stops_at.is_none() {
                    delivery.facts.record(&answers);
                }
            }
            MessageLoad::Query(_) => {
                let (polls, facts) = (&mut delivery.polls, &mut delivery.facts);
                polls.answered(id, &message.failed, facts, now);
            }
        }
        self.send_due();
    }

    /// The sender of orders is gone, with what it had not delivered.
    pub(super) fn forget_orders(&mut self) {
        self.delivery.messages.clear();
        self.delivery.restart(self.settings.time_to_live);
        self.lose_touch();
    }

    /// No orders are made any more; the last ones are delivered.
    pub(super) fn stop_orders(&mut self) {
        let delivery = &mut self.delivery;
        delivery.stops_at = Some(self.now + FINAL_ORDERS_TIMEOUT);
        delivery.facts = DeliveryFacts::default();
        self.lose_touch();
        self.send_due();
    }

    fn lose_touch(&mut self) {
        for machine in &mut self.machines {
            machine.in_touch = false;
        }
    }
}

/// The job about which a query is whether it can be carried.
fn carried_job(address: &str) -> Option<u32> {
    let (_, name) = address.rsplit_once('/')?;
    name.strip_prefix("carry.")?
        .strip_suffix(".sock")?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use dfrs_agent::fixtures::{measuring_orders, nodes};

    use super::*;
    use crate::model::ModelSettings;
    use crate::model::acts::Act;

    /// Two nodes, `n0` and `n1`, of which each is to get orders now.
    fn model_with_orders(fault: Option<Act>) -> ClusterModel {
        let nodes = nodes(2).into_iter();
        let mut model = ClusterModel::new(
            nodes.map(|node| (node, "dfrs".to_owned())).collect(),
            ModelSettings::default(),
            Time(0),
        );
        if let Some(fault) = fault {
            model.act(&fault);
        }
        model.set_orders(
            measuring_orders(&[("n0", &[]), ("n1", &[])]),
            BTreeMap::new(),
        );
        model
    }

    fn advance(model: &mut ClusterModel, seconds: i64) {
        model.advance(Time(model.now.0 + seconds * SECOND));
    }

    fn expired(model: &ClusterModel) -> Vec<bool> {
        model
            .machines
            .iter()
            .map(|machine| machine.expired)
            .collect()
    }

    #[test]
    fn node_that_hangs_delays_no_other_and_is_silent_after_the_timeout() {
        let mut model = model_with_orders(Some(Act::Hang(0)));
        advance(&mut model, 2);
        assert!(model.delivery.has_newest_orders("n1"));
        assert!(!model.delivery.has_newest_orders("n0"));
        assert!(!model.delivery.is_silent("n0"), "it may still answer");
        advance(&mut model, 13);
        assert!(model.delivery.is_silent("n0") && !model.delivery.is_silent("n1"));
        model.act(&Act::Unhang(0));
        advance(&mut model, 70);
        assert!(model.delivery.has_newest_orders("n0"));
    }

    #[test]
    fn lost_orders_are_sent_again() {
        let mut model = model_with_orders(Some(Act::LoseMessages(1)));
        advance(&mut model, 1);
        assert!(model.machines.iter().all(|machine| machine.generation == 0));
        advance(&mut model, 1);
        assert!(model.machines.iter().all(|machine| machine.generation > 0));
    }

    #[test]
    fn orders_lapse_when_no_more_are_sent() {
        let mut model = model_with_orders(None);
        advance(&mut model, 600);
        assert_eq!(expired(&model), [false, false]);
        model.forget_orders();
        advance(&mut model, 30);
        assert_eq!(expired(&model), [false, false]);
        advance(&mut model, 31);
        assert_eq!(expired(&model), [true, true]);
    }

    #[test]
    fn nodes_answer_whether_they_have_swap() {
        let mut model = model_with_orders(Some(Act::StopDfrsd(1)));
        advance(&mut model, 5);
        assert_eq!(model.delivery.facts().swap_eighths("n0"), Some(8));
        assert_eq!(model.delivery.facts().swap_eighths("n1"), None);
    }
}
