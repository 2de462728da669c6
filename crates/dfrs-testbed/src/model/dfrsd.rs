//! How orders reach the nodes, and what their daemons do with them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dfrs_core::Span;
use dfrs_proto::message::NodeOrder;
use dfrs_proto::swap::swap_eighths;

use super::cluster::{ClusterModel, SECOND};
use super::events::ModelEvent;
use super::machine::ModelNode;
use dfrs_agent::daemons::{NodeFacts, OrderChanges};
use dfrs_agent::plan::need_queries::NeedQueries;

/// A node that was not reached is tried again after this.
pub(crate) const RESEND_INTERVAL: Span = Span(5 * SECOND);

impl ClusterModel {
    pub(super) fn set_orders(
        &mut self,
        changes: OrderChanges,
        parking: BTreeMap<u32, Vec<String>>,
    ) {
        if !parking.is_empty() || !self.parking.is_empty() {
            self.facts = None;
        }
        self.follow_places(&changes, self.generation + 1);
        let changed = changes.changed.iter();
        let mut changed: Vec<(u32, NodeOrder)> = changed
            .filter_map(|(name, orders)| Some((*self.positions.get(name)?, orders.clone())))
            .collect();
        changed.sort_unstable_by_key(|(node, _)| *node);
        for (node, orders) in changed {
            self.generation += 1;
            self.machines[node as usize].given = self.generation;
            self.send(node, orders);
        }
        let count = self.sent_orders.len();
        changes.apply_to(&mut self.sent_orders);
        if self.sent_orders.len() != count {
            self.check_contacts();
        }
        self.set_parking(parking);
    }

    /// A job that was parked before is reported as parked until its nodes receive that it is
    /// thawed: their reports count when they have the current orders.
    fn set_parking(&mut self, parking: BTreeMap<u32, Vec<String>>) {
        let mut before = std::mem::take(&mut self.parking);
        for (job, nodes) in parking {
            let same = before.remove(&job);
            let are_same = |given: &BTreeMap<_, _>| {
                given.len() == nodes.len() && nodes.iter().all(|name| given.contains_key(name))
            };
            let given = same.filter(are_same);
            let given = given.unwrap_or_else(|| {
                let given = |name: &String| {
                    let node = self.positions.get(name);
                    node.map_or(0, |node| self.machines[*node as usize].given)
                };
                nodes
                    .iter()
                    .map(|name| (name.clone(), given(name)))
                    .collect()
            });
            self.parking.insert(job, given);
        }
    }

    pub(super) fn has_current_orders(&self, node: &str) -> bool {
        let position = self.positions.get(node);
        let position = position.filter(|_| self.sent_orders.contains_key(node));
        position.is_none_or(|node| {
            let machine = &self.machines[*node as usize];
            machine.generation >= machine.given
        })
    }

    fn send(&mut self, node: u32, state: NodeOrder) {
        let generation = self.generation;
        let about = [6, generation, u64::from(node)];
        let latency = self.latency_on(self.settings.orders, about, std::iter::once(node));
        if self.lose > 0 {
            self.lose -= 1;
            self.after(RESEND_INTERVAL, ModelEvent::SendAgain(node));
            return;
        }
        self.in_flight.insert((node, generation), state);
        self.after(latency, ModelEvent::Orders(node, generation));
    }

    pub(super) fn orders_arrive(&mut self, node: u32, generation: u64) {
        let Some(state) = self.in_flight.remove(&(node, generation)) else {
            return;
        };
        let machine = &mut self.machines[node as usize];
        if !machine.takes_orders() {
            let name = machine.name.clone();
            self.facts = None;
            self.forget_needs_on(&name);
            self.silent.insert(name);
            self.after(RESEND_INTERVAL, ModelEvent::SendAgain(node));
            return;
        }
        if self.silent.remove(&machine.name) {
            self.facts = None;
        }
        if !machine.take(&state, generation) {
            return;
        }
        self.freeze(node);
        self.rate(&[node]);
        self.schedule_needs_query_on(node);
    }

    /// Sends the last orders of the node again, unless newer ones are in flight. A node that was
    /// reached gets the same again and again, which changes nothing and is left out.
    pub(super) fn resend(&mut self, node: u32) {
        let machine = &self.machines[node as usize];
        let all = (node, 0)..=(node, u64::MAX);
        let under_way = self.in_flight.range(all).next().is_some();
        if !self.serves || under_way {
            return;
        }
        if let Some(state) = self.sent_orders.get(&machine.name).cloned() {
            self.generation += 1;
            self.send(node, state);
        }
    }

    /// The sender of orders, or a node's daemon, may have gone or come back.
    pub(super) fn check_contact(&mut self, node: u32) {
        let time_to_live = self.settings.time_to_live;
        let Some(machine) = self.machines.get_mut(node as usize) else {
            return;
        };
        let sends = self.serves && self.sent_orders.contains_key(&machine.name);
        let in_touch = sends && machine.takes_orders();
        self.facts = None;
        if machine.in_touch == in_touch {
            return;
        }
        machine.in_touch = in_touch;
        machine.contact += 1;
        let contact = machine.contact;
        if in_touch {
            self.after(RESEND_INTERVAL, ModelEvent::SendAgain(node));
        } else {
            self.after(time_to_live, ModelEvent::Expires(node, contact));
            if sends {
                // The next message that repeats the last orders.
                self.after(Span(time_to_live.0 / 3), ModelEvent::SendAgain(node));
            }
        }
    }

    pub(super) fn check_contacts(&mut self) {
        for node in 0..u32::try_from(self.machines.len()).unwrap_or(0) {
            self.check_contact(node);
        }
    }

    pub(super) fn expire_orders(&mut self, node: u32, contact: u64) {
        let machine = &mut self.machines[node as usize];
        if machine.contact == contact {
            machine.expired = true;
            // Nothing of the others is here that could stay frozen.
            let here = machine.runs.iter().filter_map(|run| self.runs.get(run));
            let here: BTreeSet<u32> = here.map(|run| run.job).collect();
            machine.frozen.retain(|job, _| here.contains(job));
            self.rate(&[node]);
        }
    }

    pub(super) fn facts(&mut self) -> Arc<NodeFacts> {
        if let Some(facts) = &self.facts {
            return Arc::clone(facts);
        }
        let is_parked_on = |job, name: &String, given: u64| {
            let node = self.positions.get(name).copied();
            let node = node.filter(|node| self.machines[*node as usize].generation >= given);
            node.is_some_and(|node| self.is_parked_on(job, node))
        };
        let is_parked = |nodes: &BTreeMap<String, u64>, job: u32| {
            let mut nodes = nodes.iter();
            nodes.len() > 0 && nodes.all(|(name, given)| is_parked_on(job, name, *given))
        };
        let parked = self
            .parking
            .iter()
            .filter(|(job, nodes)| is_parked(nodes, **job));
        let answering = self
            .machines
            .iter()
            .filter(|machine| machine.takes_orders());
        let with_swap = answering.filter(|_| self.settings.swap_mib > 0);
        let is_stuck_on = |job: u32, name: &String| {
            let node = self.positions.get(name);
            node.is_some_and(|node| self.is_stuck_on(job, *node))
        };
        let stuck = self
            .parking
            .iter()
            .filter(|(job, nodes)| nodes.keys().any(|name| is_stuck_on(**job, name)));
        let mut facts = NodeFacts {
            parked: parked.map(|(job, _)| *job).collect(),
            stuck: stuck.map(|(job, _)| *job).collect(),
            needs: self.needs.clone(),
            silent: self.silent.clone(),
            ..NodeFacts::default()
        };
        for machine in with_swap {
            facts.set_swap_eighths(&machine.name, Some(self.eighths(machine)));
        }
        let facts = Arc::new(facts);
        // What is being parked gets there without anything else happening.
        if self.parking.is_empty() {
            self.facts = Some(Arc::clone(&facts));
        }
        facts
    }

    /// How many eighths of the swap that is counted there parked jobs can have.
    fn eighths(&self, machine: &ModelNode) -> u8 {
        let node = self.positions.get(&machine.name).copied().unwrap_or(0);
        let swap = self.swap_for_parked(machine, node);
        swap_eighths(machine.counted_swap_mib, 0, swap)
    }

    /// The sender of orders is gone, with what it had not delivered.
    pub(super) fn forget_orders(&mut self) {
        self.in_flight.clear();
        self.stop_orders();
    }

    /// No orders are made any more; what is under way is delivered.
    pub(super) fn stop_orders(&mut self) {
        self.sent_orders.clear();
        self.parking.clear();
        self.places = NeedQueries::default();
        self.needs.clear();
        self.silent = BTreeSet::new();
        self.check_contacts();
    }
}
