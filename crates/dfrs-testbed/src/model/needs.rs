//! What jobs use, and what their nodes see of it.

use dfrs_core::{Span, Time};

use super::cluster::{ClusterModel, SECOND};
use super::events::ModelEvent;
use super::gauge::NeedGauge;
use super::machine::ModelNode;
use super::work::ModelRun;

/// A job that is held back counts with its request after this, unless something is in the way.
const RESTORE_TIMEOUT: i64 = 12 * SECOND;

impl ClusterModel {
    /// All nodes of the run see what it uses from now on.
    pub(super) fn gauge(&mut self, id: u64) {
        let now = self.now;
        let Some(run) = self.runs.get_mut(&id) else {
            return;
        };
        let mut looks = Vec::new();
        for part in 0..run.parts.len() {
            let node = run.parts[part].0;
            let machine = &self.machines[node as usize];
            if !measures(machine, run) {
                run.gauges[part] = None;
                continue;
            }
            let (uses, throttled) = (run.uses_on(part), run.is_held_back_on(part));
            let request = run.parts[part].1;
            let gauge = &mut run.gauges[part];
            if gauge.as_ref().is_some_and(|gauge| !gauge.is_of(request)) {
                *gauge = None;
            }
            let gauge = gauge.get_or_insert_with(|| NeedGauge::new(now, request));
            if gauge.set(now, uses, throttled)
                && let Some(next) = gauge.next()
            {
                looks.push((next, ModelEvent::Measured(id, node, gauge.version)));
            }
        }
        for (at, event) in looks {
            self.queue.add(at, event);
        }
    }

    /// A node looks at what it has measured.
    pub(super) fn measured(&mut self, id: u64, node: u32, version: u64) {
        let now = self.now;
        let Some(run) = self.runs.get_mut(&id) else {
            return;
        };
        let part = run.part(node);
        let gauge = part.and_then(|part| run.gauges[part].as_mut());
        let Some(gauge) = gauge.filter(|gauge| gauge.version == version) else {
            return;
        };
        gauge.look(now);
        let (next, version) = (gauge.next(), gauge.version);
        if let Some(next) = next {
            self.queue
                .add(next, ModelEvent::Measured(id, node, version));
        }
    }

    /// A run begins the next of its phases.
    pub(super) fn next_phase(&mut self, id: u64, version: u64) {
        let now = self.now;
        let run = self.runs.get_mut(&id);
        let Some(run) = run.filter(|run| run.version == version && !run.ends) else {
            return;
        };
        run.count(now);
        run.phase += 1;
        let nodes: Vec<u32> = run.alive.iter().copied().collect();
        self.rate_changed(&nodes, id);
    }

    /// A job that has been held back for long although it is counted with less than its request,
    /// and for how many seconds. While its nodes are slow or do not answer, or if `is_excused`, it
    /// is not for long.
    pub fn long_throttled_job(&mut self, is_excused: bool) -> Option<(u32, i64)> {
        let now = self.now;
        let (machines, delivery) = (&self.machines, &self.delivery);
        let is_troubled = |(node, ..): &(u32, f64, u64)| {
            let machine = &machines[*node as usize];
            let is_slow = machine.slowness > 1 || !delivery.has_newest_orders(&machine.name);
            is_slow || !machine.takes_orders() || delivery.is_silent(&machine.name)
        };
        let mut late = None;
        for run in self.runs.values_mut() {
            let Some(since) = run.held_back else { continue };
            if is_excused || !run.counts_with_less(machines) || run.parts.iter().any(is_troubled) {
                run.held_back = Some(now);
            } else if now.0 - since.0 > RESTORE_TIMEOUT {
                late = Some((run.job, (now.0 - since.0) / SECOND));
            }
        }
        late
    }
}

impl ModelRun {
    /// The part of its request that it can use now.
    pub(super) fn wants(&self) -> f64 {
        let percent = self.uses.get(self.phase).copied().unwrap_or(100);
        f64::from(percent.clamp(1, 100)) / 100.0
    }

    /// Cores that it uses on one of its nodes.
    fn uses_on(&self, part: usize) -> f64 {
        self.parts[part].1 * self.wants() * self.rate
    }

    /// Whether its cap leaves it less there than it could use.
    fn is_held_back_on(&self, part: usize) -> bool {
        self.is_ready() && self.shares[part] < 1.0 - 1e-9
    }

    /// Notes since when it is held back on some node by a cap that goes with less than its request.
    pub(super) fn follow_held_back(&mut self, machines: &[ModelNode], now: Time) {
        let is_held_back = (0..self.parts.len()).any(|part| self.is_held_back_on(part));
        let is_less = self.counts_with_less(machines);
        self.held_back = (is_held_back && is_less).then(|| self.held_back.unwrap_or(now));
    }

    fn counts_with_less(&self, machines: &[ModelNode]) -> bool {
        self.parts.iter().any(|(node, ..)| {
            let order = machines[*node as usize].orders.get(&self.job);
            order.is_some_and(|order| order.need.is_less())
        })
    }
}

/// Whether this node's dfrsd measures what the job of this run needs.
fn measures(machine: &ModelNode, run: &ModelRun) -> bool {
    let order = machine.orders.get(&run.job);
    let asked = order.is_some_and(|order| order.request.is_some() && !order.frozen);
    let frozen = machine.frozen.contains_key(&run.job);
    asked && run.began && !frozen && !machine.expired && machine.has_dfrsd && machine.on
}

/// In which phase a job is that has done so much.
pub(super) fn phase_at(done: Span, work: Span, phases: usize) -> usize {
    let phases = i128::try_from(phases.max(1)).unwrap_or(1);
    let phase = i128::from(done.0) * phases / i128::from(work.0.max(1));
    usize::try_from(phase.clamp(0, phases - 1)).unwrap_or(0)
}
