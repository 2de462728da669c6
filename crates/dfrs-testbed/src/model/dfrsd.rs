//! What the nodes' daemons do with their orders, and what they publish.

use std::collections::BTreeSet;

use dfrs_core::Need;
use dfrs_node_proto::swap::swap_eighths;
use dfrs_proto::message::{EIGHTHS, NodeOrder};

use super::cluster::ClusterModel;
use super::events::ModelEvent;
use super::gauge::NeedGauge;
use super::program::ImageOutcome;

impl ClusterModel {
    /// Orders of this generation have reached the node's daemon.
    pub(super) fn take_orders(&mut self, node: u32, state: &NodeOrder, generation: u64) {
        let (now, time_to_live) = (self.now, self.settings.time_to_live);
        let machine = &mut self.machines[node as usize];
        let is_news = machine.take(state, generation, now);
        if !std::mem::replace(&mut machine.expires, true) {
            self.after(time_to_live, ModelEvent::Expires(node));
        }
        self.discard_void_images(node);
        if is_news {
            self.freeze(node);
            self.rate(&[node]);
        }
    }

    /// The daemon of this node can, or cannot, be reached any more.
    pub(super) fn check_contact(&mut self, node: u32) {
        if let Some(machine) = self.machines.get_mut(node as usize) {
            machine.in_touch &= machine.takes_orders();
        }
    }

    /// The node's orders lapse, unless it got some since.
    pub(super) fn expire_orders(&mut self, node: u32) {
        let lapse = self.machines[node as usize].heard + self.settings.time_to_live;
        if lapse > self.now {
            self.queue.add(lapse, ModelEvent::Expires(node));
            return;
        }
        let machine = &mut self.machines[node as usize];
        (machine.expires, machine.expired) = (false, true);
        // Nothing of the others is here that could stay frozen.
        let here = machine.runs.iter().filter_map(|run| self.runs.get(run));
        let here: BTreeSet<u32> = here.map(|run| run.job).collect();
        machine.frozen.retain(|job, _| here.contains(job));
        self.rate(&[node]);
    }

    /// Whether the node's daemon has its socket at this address, too (`facts.rs` in `dfrs-node`).
    pub(super) fn publishes(&self, node: u32, address: &str) -> bool {
        if !self.machines[node as usize].takes_orders() {
            return false;
        }
        let name = address.strip_prefix("/run/dfrs/%n/").unwrap_or(address);
        let name = name.strip_suffix(".sock").unwrap_or(name);
        let mut parts = name.split('.');
        let fact = parts.next().unwrap_or("");
        let numbers: Vec<u32> = parts.filter_map(|part| part.parse().ok()).collect();
        match (fact, numbers.as_slice()) {
            ("parked", [job]) => self.is_parked_on(*job, node),
            ("stuck", [job]) => self.is_stuck_on(*job, node),
            ("imaged", [job]) => self.says_imaged(*job, node),
            ("void", [job]) => self.says_void(*job, node),
            ("carry", [job]) => self.says_carriable(*job, node),
            ("swap", []) => self.settings.swap_mib > 0,
            ("swap", [eighths]) => u32::from(self.eighths(node)) >= *eighths,
            ("swap-less", []) => self.eighths(node) < EIGHTHS,
            ("needs-less", []) => self.any_need(node, |need, counted| need < counted),
            ("needs-more", []) => self.any_need(node, |need, counted| need > counted),
            ("need", [job, eighths]) => {
                let need = self.need_on(*job, node);
                need.is_less() && u32::from(need.eighths()) <= *eighths
            }
            _ => false,
        }
    }

    /// Whether the node says that the job, which it is to inspect, can be carried.
    fn says_carriable(&self, job: u32, node: u32) -> bool {
        let machine = &self.machines[node as usize];
        let is_inspected = machine.orders.get(&job).is_some_and(|order| order.carry);
        let mut runs = machine.runs.iter().filter_map(|id| self.runs.get(id));
        is_inspected
            && runs.any(|run| {
                let program = self.programs.get(&run.label);
                let image = program.map(|program| program.submission.image);
                let is_whole = run.began && run.parts.len() == 1;
                run.job == job && is_whole && image != Some(ImageOutcome::Refused)
            })
    }

    /// How many eighths of the swap that is counted there parked jobs can have.
    fn eighths(&self, node: u32) -> u8 {
        let machine = &self.machines[node as usize];
        let swap = self.swap_for_parked(machine, node);
        swap_eighths(machine.counted_swap_mib, 0, swap)
    }

    /// Whether a job whose need is measured there has such a need, with what it counts with.
    fn any_need(&self, node: u32, is_such: impl Fn(Need, Need) -> bool) -> bool {
        let orders = self.machines[node as usize].orders.values();
        let mut measured = orders.filter(|order| order.request.is_some() && !order.frozen);
        measured.any(|order| is_such(self.need_on(order.id, node), order.need))
    }

    /// What the node has measured that the job needs: all, as long as it has measured nothing.
    fn need_on(&self, job: u32, node: u32) -> Need {
        let machine = &self.machines[node as usize];
        let runs = machine.runs.iter().filter_map(|id| self.runs.get(id));
        let mut gauges = runs.filter(|run| run.job == job);
        let gauge = gauges.find_map(|run| run.gauges[run.part(node)?].as_ref());
        gauge.map_or(Need::WHOLE, NeedGauge::need)
    }
}
