//! How far jobs get: a job's processes progress as the slowest of its nodes lets them.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::{Span, Time};

use super::events::Event;
use super::machine::{Frozen, swapped};
use super::whole::Model;

/// The processes of one job from one start to their end.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) job: u32,
    pub(super) label: u32,
    /// Node, cores needed there, MiB there.
    pub(super) parts: Vec<(u32, f64, u64)>,
    /// Nodes on which processes are left.
    pub(super) alive: BTreeSet<u32>,
    /// The prolog is over.
    pub(super) began: bool,
    /// Slurm's SIGSTOP.
    pub(super) stopped: bool,
    /// They got the signal to end, or have ended.
    pub(super) ends: bool,
    /// Nodes on which it was parked then: what is in swap ends there.
    pub(super) parked_at_end: BTreeSet<u32>,
    /// MiB in swap, by node, of processes that were thawed and are still stopped.
    pub(super) cold: BTreeMap<u32, u64>,
    /// Work done, microseconds of run time with all the CPU that it needs.
    pub(super) done: f64,
    pub(super) work: Span,
    /// Work done in a microsecond.
    pub(super) rate: f64,
    pub(super) counted: Time,
    /// Grows with every change of the rate.
    pub(super) version: u64,
}

impl Run {
    fn count(&mut self, now: Time) {
        #[expect(clippy::cast_precision_loss, reason = "far below 2^53 microseconds")]
        let elapsed = (now.0 - self.counted.0) as f64;
        self.done += elapsed * self.rate;
        self.counted = now;
    }
}

impl Model {
    /// The rates of everything that runs on one of these nodes follow from what is there now.
    pub(super) fn rate(&mut self, nodes: &[u32]) {
        let touched: BTreeSet<u64> = nodes
            .iter()
            .filter_map(|node| self.machines.get(*node as usize))
            .flat_map(|machine| machine.runs.iter().copied())
            .collect();
        for run in touched {
            self.rate_run(run);
        }
    }

    fn rate_run(&mut self, id: u64) {
        let Some(run) = self.runs.get(&id) else {
            return;
        };
        let moves = run.began && !run.stopped && !run.ends;
        let complete = run.parts.len() == run.alive.len();
        let rate = if moves && complete {
            let parts = run.parts.iter();
            parts
                .map(|(node, _, _)| self.progress_on(*node, id))
                .fold(1.0, f64::min)
        } else {
            0.0
        };
        let now = self.now;
        let Some(run) = self.runs.get_mut(&id) else {
            return;
        };
        if (run.rate - rate).abs() < 1e-12 && run.version > 0 {
            return;
        }
        run.count(now);
        run.rate = rate;
        run.version += 1;
        let version = run.version;
        if rate > 0.0 {
            let left = Span(time_left(run));
            self.after(left, Event::Finished(id, version));
        }
    }

    /// The share of its need that a run gets on a node.
    fn progress_on(&self, node: u32, id: u64) -> f64 {
        let Some(machine) = self.machines.get(node as usize) else {
            return 0.0;
        };
        let wanted = |id: &u64| {
            let run = self.runs.get(id)?;
            let idle = !run.began || run.stopped || run.ends;
            let frozen = machine.frozen.contains_key(&run.job);
            let need = run.parts.iter().find(|part| part.0 == node)?.1;
            let cap = machine.cap(run.job).unwrap_or(need);
            Some((need, if idle || frozen { 0.0 } else { need.min(cap) }))
        };
        let total: f64 = machine.runs.iter().filter_map(wanted).map(|w| w.1).sum();
        let crowd = (f64::from(machine.cpus) / total).min(1.0);
        match wanted(&id) {
            Some((need, gets)) if need > 0.0 => gets * crowd / need,
            _ => 0.0,
        }
    }

    /// What a run has done by now, of its work.
    pub(super) fn work_done(&mut self, id: u64) -> Span {
        let now = self.now;
        self.runs.get_mut(&id).map_or(Span(0), |run| {
            run.count(now);
            #[expect(clippy::cast_possible_truncation, reason = "below the work, an i64")]
            Span((run.done as i64).min(run.work.0))
        })
    }

    /// dfrsd freezes and thaws as its orders say, what is there.
    pub(super) fn freeze(&mut self, node: u32) {
        let now = self.now;
        let Some(machine) = self.machines.get(node as usize) else {
            return;
        };
        let wanted = machine.to_freeze();
        let here = machine.runs.iter().filter_map(|id| self.runs.get(id));
        let memory_here = |run: &Run| run.parts.iter().find(|part| part.0 == node).map(|p| p.2);
        let fresh: Vec<(u32, Frozen)> = here
            .filter(|run| wanted.contains(&run.job) && !machine.frozen.contains_key(&run.job))
            .filter_map(|run| {
                let cold = run.cold.get(&node).copied().unwrap_or(0);
                let memory = memory_here(run)?.saturating_sub(cold);
                Some((run.job, Frozen { since: now, memory }))
            })
            .collect();
        self.thaw(node, &wanted);
        let machine = &mut self.machines[node as usize];
        machine.frozen.extend(fresh);
    }

    /// Thaws all but these. What is in swap stays there until the job's processes run.
    fn thaw(&mut self, node: u32, wanted: &BTreeSet<u32>) {
        let settings = &self.settings;
        let (swap, speed) = (settings.swap, settings.swap_speed);
        let machine = &mut self.machines[node as usize];
        let amounts = swapped(&machine.frozen, swap, speed, self.now);
        machine.frozen.retain(|job, _| wanted.contains(job));
        let ids: Vec<u64> = machine.runs.iter().copied().collect();
        let thawed: Vec<u32> = amounts
            .keys()
            .copied()
            .filter(|job| !wanted.contains(job))
            .collect();
        for id in ids {
            if let Some(run) = self.runs.get_mut(&id)
                && run.stopped
                && thawed.contains(&run.job)
            {
                *run.cold.entry(node).or_default() += amounts[&run.job];
            }
        }
    }

    /// Whether this node says that the job is parked: frozen, and its memory in swap.
    pub(super) fn is_parked_on(&self, job: u32, name: &str) -> bool {
        let Some(machine) = self.machines.iter().find(|machine| machine.name == name) else {
            return false;
        };
        let Some(frozen) = machine.frozen.get(&job).filter(|_| machine.takes_orders()) else {
            return false;
        };
        let settings = &self.settings;
        let then = Time(self.now.0 - settings.probe.0);
        let amounts = swapped(&machine.frozen, settings.swap, settings.swap_speed, then);
        then >= frozen.since && amounts.get(&job) >= Some(&frozen.memory)
    }

    /// MiB in RAM on each node of jobs that Slurm knows about: what others may not have.
    #[must_use]
    pub fn resident(&self) -> Vec<u64> {
        let settings = &self.settings;
        let nodes = self.machines.iter().enumerate().map(|(index, machine)| {
            let node = u32::try_from(index).unwrap_or(u32::MAX);
            let swapped = swapped(
                &machine.frozen,
                settings.swap,
                settings.swap_speed,
                self.now,
            );
            let here = machine
                .runs
                .iter()
                .filter_map(|id| self.runs.get_key_value(id));
            here.filter(|(id, run)| self.is_known(**id, run))
                .filter(|(_, run)| !run.parked_at_end.contains(&node))
                .map(|(_, run)| {
                    let part = run.parts.iter().find(|part| part.0 == node);
                    let memory = part.map_or(0, |part| part.2);
                    let cold = run.cold.get(&node).copied().unwrap_or(0);
                    let swapped = cold + swapped.get(&run.job).copied().unwrap_or(0);
                    memory - swapped.min(memory)
                })
                .sum()
        });
        nodes.collect()
    }

    /// Whether slurmctld still counts on these processes' being there.
    pub(super) fn is_known(&self, id: u64, run: &Run) -> bool {
        let entry = self.slurmctld.jobs.get(&run.job);
        entry.is_some_and(|entry| entry.run == id && entry.may_have_processes())
    }
}

/// Microseconds until the work is done at the present rate, at least 1.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "work is far below 2^53 microseconds"
)]
fn time_left(run: &Run) -> i64 {
    let left = (run.work.0 as f64 - run.done).max(0.0);
    ((left / run.rate).ceil() as i64).max(1)
}
