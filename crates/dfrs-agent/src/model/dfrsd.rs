//! How orders reach the nodes, and what their daemons do with them.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::Span;
use dfrs_proto::message::NodeState;

use super::events::Event;
use super::whole::{Model, SECOND};
use crate::daemons::{NodeFacts, OrderChanges};

/// A node that was not reached is tried again after this.
const AGAIN: Span = Span(5 * SECOND);

impl Model {
    pub(super) fn set_orders(
        &mut self,
        changes: OrderChanges,
        parking: BTreeMap<u32, Vec<String>>,
    ) {
        self.parking = parking;
        let names: Vec<String> = self.machines.iter().map(|m| m.name.clone()).collect();
        for (node, name) in (0..).zip(names) {
            if let Some(orders) = changes.changed.get(&name) {
                self.generation += 1;
                self.send(node, orders.clone());
            }
        }
        changes.apply_to(&mut self.told);
    }

    fn send(&mut self, node: u32, state: NodeState) {
        let generation = self.generation;
        let about = [6, generation, u64::from(node)];
        let latency = self.settings.latency(self.settings.orders, about);
        if self.lose > 0 {
            self.lose -= 1;
            self.after(AGAIN, Event::SendAgain(node));
            return;
        }
        self.in_flight.insert((node, generation), state);
        self.after(latency, Event::Orders(node, generation));
    }

    pub(super) fn orders_arrive(&mut self, node: u32, generation: u64) {
        let Some(state) = self.in_flight.remove(&(node, generation)) else {
            return;
        };
        let now = self.now;
        let machine = &mut self.machines[node as usize];
        let name = machine.name.clone();
        if !machine.takes_orders() {
            self.silent.insert(name);
            self.after(AGAIN, Event::SendAgain(node));
            return;
        }
        self.silent.remove(&name);
        let machine = &mut self.machines[node as usize];
        if !machine.take(&state, generation, now) {
            return;
        }
        self.freeze(node);
        self.rate(&[node]);
        let time_to_live = self.settings.time_to_live;
        self.after(Span(time_to_live.0 / 3), Event::SendAgain(node));
        self.after(Span(time_to_live.0 + 1), Event::Expires(node));
    }

    /// What the node was last told, unless something newer is under way.
    pub(super) fn send_again(&mut self, node: u32) {
        let machine = &self.machines[node as usize];
        let heard_lately = self.now.0 - machine.heard.0 < self.settings.time_to_live.0 / 3;
        let under_way = self.in_flight.keys().any(|(other, _)| *other == node);
        let silent = self.silent.contains(&machine.name);
        if !self.serves || under_way || (heard_lately && !silent) {
            return;
        }
        if let Some(state) = self.told.get(&machine.name).cloned() {
            self.generation += 1;
            self.send(node, state);
        }
    }

    pub(super) fn expires(&mut self, node: u32) {
        let machine = &mut self.machines[node as usize];
        if !machine.expired && self.now.0 - machine.heard.0 > self.settings.time_to_live.0 {
            machine.expired = true;
            self.rate(&[node]);
        }
    }

    pub(super) fn facts(&self) -> NodeFacts {
        let is_parked = |nodes: &Vec<String>, job: u32| {
            !nodes.is_empty() && nodes.iter().all(|node| self.is_parked_on(job, node))
        };
        let parked = self
            .parking
            .iter()
            .filter(|(job, nodes)| is_parked(nodes, **job));
        let answering = self
            .machines
            .iter()
            .filter(|machine| machine.takes_orders());
        let with_swap = answering.filter(|_| self.settings.swap > 0);
        NodeFacts {
            parked: parked.map(|(job, _)| *job).collect(),
            can_park: with_swap.map(|machine| machine.name.clone()).collect(),
            silent: self.silent.clone(),
        }
    }

    /// Those who sent orders are gone.
    pub(super) fn forget_orders(&mut self) {
        self.told.clear();
        self.parking.clear();
        self.in_flight.clear();
        self.silent = BTreeSet::new();
    }
}
