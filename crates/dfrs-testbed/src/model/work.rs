//! How far jobs get: a job's processes progress as the slowest of its nodes lets them.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::{Span, Time};
use dfrs_proto::journal::JobOutcome;

use super::cluster::ClusterModel;
use super::devices::HeldDevice;
use super::events::ModelEvent;
use super::gauge::NeedGauge;
use super::machine::{FrozenJob, ModelNode, swapped};
use super::program::ImageOutcome;

/// A node says that a job cannot be parked after so long.
const STUCK_TIMEOUT: Span = Span(2_000_000);
/// What an image of a job without memory takes.
const IMAGE_START: Span = Span(500_000);

/// The processes of one job from one start to their end.
#[derive(Clone, Debug, Default)]
pub(super) struct ModelRun {
    pub(super) job: u32,
    pub(super) label: u32,
    /// Node, cores needed there, MiB there; ascending by node.
    pub(super) parts: Vec<(u32, f64, u64)>,
    /// What its processes may open of its nodes' devices.
    pub(super) devices: Vec<HeldDevice>,
    /// The share of what it can use now that it gets on each of these, if nothing else holds it up.
    pub(super) shares: Vec<f64>,
    /// What each of these measures of it.
    pub(super) gauges: Vec<Option<NeedGauge>>,
    /// The percents of its request that it can use, by phase, and its present phase.
    pub(super) uses: Vec<u8>,
    pub(super) phase: usize,
    /// Since when it is held back although it is counted with less than its request.
    pub(super) held_back: Option<Time>,
    /// Nodes on which processes are left.
    pub(super) alive: BTreeSet<u32>,
    /// The prolog is over.
    pub(super) began: bool,
    /// Slurm's SIGSTOP.
    pub(super) stopped: bool,
    /// They got the signal to end, or have ended.
    pub(super) ends: bool,
    /// A warning has ended them, and how.
    pub(super) warning_ended: Option<JobOutcome>,
    /// Nodes that the signal to end could not reach.
    pub(super) unsignalled: BTreeSet<u32>,
    /// Nodes on which it was parked then: what is in swap ends there.
    pub(super) parked_at_end: BTreeSet<u32>,
    /// Its image was complete then.
    pub(super) imaged_at_end: bool,
    /// It goes on from an image.
    pub(super) restores: bool,
    /// MiB in swap, by node, of processes that were thawed and are still stopped.
    pub(super) cold_mib: BTreeMap<u32, u64>,
    /// MiB of swap, by node, that it still has since it was parked there last.
    pub(super) kept_swap_mib: BTreeMap<u32, u64>,
    /// Work that was done before, in other runs: microseconds of run time with all the CPU that it
    /// needs.
    pub(super) kept: f64,
    /// `kept`, and the work that was done in this run.
    pub(super) done: f64,
    pub(super) work: Span,
    /// Work done in a microsecond.
    pub(super) rate: f64,
    pub(super) counted: Time,
    /// Grows with every change of the rate.
    pub(super) version: u64,
}

impl ModelRun {
    pub(super) fn count(&mut self, now: Time) {
        // Precise enough: far below 2^53 microseconds.
        let elapsed = (now.0 - self.counted.0) as f64;
        self.done += elapsed * self.rate;
        self.counted = now;
    }

    /// Where in its parts this node is.
    pub(super) fn part(&self, node: u32) -> Option<usize> {
        self.parts.binary_search_by_key(&node, |part| part.0).ok()
    }

    /// Cores that it needs on this node.
    pub(super) fn need_on(&self, node: u32) -> Option<f64> {
        self.part(node).map(|part| self.parts[part].1)
    }

    /// MiB on this node.
    fn memory_on(&self, node: u32) -> u64 {
        self.part(node).map_or(0, |part| self.parts[part].2)
    }

    /// Whether it would use CPU, whatever its nodes do to it.
    pub(super) fn is_ready(&self) -> bool {
        self.began && !self.stopped && !self.ends
    }
}

impl ClusterModel {
    /// The rates of everything that runs on one of these nodes follow from what is there now.
    pub(super) fn rate(&mut self, nodes: &[u32]) {
        self.rate_all(nodes, None);
    }

    /// Counts the rates on these nodes again, where this run, which is there, changed.
    pub(super) fn rate_changed(&mut self, nodes: &[u32], changed: u64) {
        self.rate_all(nodes, Some(changed));
    }

    fn rate_all(&mut self, nodes: &[u32], changed: Option<u64>) {
        let mut touched = BTreeSet::new();
        for node in nodes {
            for (run, share) in self.shares_on(*node) {
                touched.insert(run);
                let Some(run) = self.runs.get_mut(&run) else {
                    continue;
                };
                if let Some(part) = run.part(*node) {
                    run.shares[part] = share;
                }
            }
        }
        for run in touched {
            self.rate_run(run, changed == Some(run));
            self.gauge(run);
        }
    }

    fn rate_run(&mut self, id: u64, changed: bool) {
        let now = self.now;
        let Some(run) = self.runs.get_mut(&id) else {
            return;
        };
        let complete = run.parts.len() == run.alive.len();
        let rate = if run.is_ready() && complete {
            run.shares.iter().copied().fold(1.0, f64::min)
        } else {
            0.0
        };
        run.follow_held_back(&self.machines, now);
        if (run.rate - rate).abs() < 1e-12 && run.version > 0 && !changed {
            return;
        }
        run.count(now);
        run.rate = rate;
        run.version += 1;
        let version = run.version;
        if rate > 0.0 {
            let left = Span(time_left(run));
            let next = next_phase_in(run);
            self.after(left, ModelEvent::Finished(id, version));
            if let Some(next) = next {
                self.after(next, ModelEvent::Phase(id, version));
            }
        }
    }

    /// The share of its need that each run gets on a node.
    fn shares_on(&self, node: u32) -> Vec<(u64, f64)> {
        let Some(machine) = self.machines.get(node as usize) else {
            return Vec::new();
        };
        let wanted = |id: &u64| {
            let run = self.runs.get(id)?;
            let frozen = machine.frozen.contains_key(&run.job);
            let need = run.parts[run.part(node)?].1 * run.wants();
            let cap = machine.cap(run.job).unwrap_or(need);
            let idle = frozen || !run.is_ready();
            Some((*id, need, if idle { 0.0 } else { need.min(cap) }))
        };
        let wanted: Vec<(u64, f64, f64)> = machine.runs.iter().filter_map(wanted).collect();
        let total: f64 = wanted.iter().map(|(_, _, gets)| gets).sum();
        let contention = (f64::from(machine.cpus) / total).min(1.0);
        let share = |need: f64, gets: f64| {
            if need > 0.0 {
                gets * contention / need
            } else {
                0.0
            }
        };
        let shares = wanted.into_iter();
        let shares = shares.map(|(id, need, gets)| (id, share(need, gets)));
        shares.collect()
    }

    /// The last process of a run is gone.
    pub(super) fn remove_run(&mut self, id: u64) {
        let Some(mut run) = self.runs.remove(&id) else {
            return;
        };
        run.count(self.now);
        if let Some(program) = self.programs.get_mut(&run.label) {
            #[expect(clippy::cast_possible_truncation, reason = "below the work, an i64")]
            let worked = (run.done - run.kept) as i64;
            program.worked = Span(program.worked.0 + worked);
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
        let fresh: Vec<(u32, FrozenJob)> = here
            .filter(|run| wanted.contains(&run.job) && !machine.frozen.contains_key(&run.job))
            .filter(|run| run.part(node).is_some())
            .map(|run| {
                let cold = run.cold_mib.get(&node).copied().unwrap_or(0);
                let memory = run.memory_on(node).saturating_sub(cold);
                let program = self.programs.get(&run.label);
                let pinned = program.is_some_and(|program| program.submission.pinned);
                let order = machine.orders.get(&run.job);
                let image = program.map(|program| program.submission.image);
                let frozen = FrozenJob {
                    since: now,
                    memory_mib: memory,
                    pinned,
                    image: image.filter(|_| order.is_some_and(|order| order.image)),
                };
                (run.job, frozen)
            })
            .collect();
        self.thaw(node, &wanted);
        let machine = &mut self.machines[node as usize];
        machine.frozen.extend(fresh);
    }

    /// Swap of a node that parked jobs can have: MiB.
    pub(super) fn swap_for_parked(&self, machine: &ModelNode, node: u32) -> u64 {
        let here = machine.runs.iter().filter_map(|id| self.runs.get(id));
        let others = here.filter(|run| !machine.frozen.contains_key(&run.job));
        let kept: u64 = others.filter_map(|run| run.kept_swap_mib.get(&node)).sum();
        self.settings.swap_mib.saturating_sub(kept)
    }

    /// Thaws all but these. What is in swap stays there until the job's processes run.
    fn thaw(&mut self, node: u32, wanted: &BTreeSet<u32>) {
        let (speed, keeps) = (self.settings.swap_mib_per_second, self.settings.keeps_swap);
        let swap = self.swap_for_parked(&self.machines[node as usize], node);
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
            let run = self.runs.get_mut(&id);
            let Some(run) = run.filter(|run| thawed.contains(&run.job)) else {
                continue;
            };
            if std::mem::take(&mut run.imaged_at_end) && !self.lost_state {
                let fault = format!("job {} ends with its image, and is let go on", run.job);
                self.faults.push(fault);
            }
            if run.stopped {
                *run.cold_mib.entry(node).or_default() += amounts[&run.job];
            } else {
                run.cold_mib.remove(&node);
                if keeps {
                    run.kept_swap_mib.insert(node, amounts[&run.job]);
                }
            }
        }
    }

    /// Whether this node says that the job is parked: frozen, and its memory in swap.
    pub(super) fn is_parked_on(&self, job: u32, node: u32) -> bool {
        let Some(machine) = self.machines.get(node as usize) else {
            return false;
        };
        if machine.watches_end_of(job) {
            let mut runs = machine.runs.iter().filter_map(|run| self.runs.get(run));
            return machine.takes_orders() && runs.all(|run| run.job != job);
        }
        let Some(frozen) = machine.frozen.get(&job).filter(|_| machine.takes_orders()) else {
            return false;
        };
        if frozen.image.is_some() {
            return false;
        }
        let speed = self.settings.swap_mib_per_second;
        let swap = self.swap_for_parked(machine, node);
        let amounts = swapped(&machine.frozen, swap, speed, self.now);
        !frozen.pinned && amounts.get(&job) >= Some(&frozen.memory_mib)
    }

    /// Whether this node says that the job, which is being parked, cannot be: so long after nothing
    /// of it has moved.
    pub(super) fn is_stuck_on(&self, job: u32, node: u32) -> bool {
        let machine = self.machines.get(node as usize);
        let frozen = machine.and_then(|machine| machine.frozen.get(&job));
        let since = self.now.0 - STUCK_TIMEOUT.0;
        frozen.is_some_and(|frozen| {
            let cannot = match frozen.image {
                Some(outcome) => !outcome.is_complete(),
                None => frozen.pinned && self.settings.swap_mib > 0,
            };
            cannot && frozen.since.0 <= since
        })
    }

    /// Whether the image of a frozen job is complete.
    fn has_image(&self, frozen: &FrozenJob) -> bool {
        let speed = self.settings.swap_mib_per_second.max(1);
        let takes = frozen.memory_mib.saturating_mul(1_000_000) / speed;
        let takes = IMAGE_START.0 + i64::try_from(takes).unwrap_or(i64::MAX / 2);
        frozen.image.is_some_and(ImageOutcome::is_complete) && self.now.0 - frozen.since.0 >= takes
    }

    /// DFRS requeues the job: if its node is writing its image, that has to be complete.
    pub(super) fn expect_image(&mut self, job: u32) {
        let writes = |machine: &ModelNode| {
            let order = machine.orders.get(&job);
            machine.takes_orders() && order.is_some_and(|order| order.frozen && order.image)
        };
        let nodes = 0..u32::try_from(self.machines.len()).unwrap_or(u32::MAX);
        let incomplete = nodes
            .filter(|node| writes(&self.machines[*node as usize]))
            .any(|node| !self.has_image_on(job, node));
        if incomplete {
            let fault = format!("job {job} is requeued before its image is complete");
            self.faults.push(fault);
        }
    }

    /// Whether the node has a complete image of the job, whose processes are to end.
    pub(super) fn has_image_on(&self, job: u32, node: u32) -> bool {
        let machine = self.machines.get(node as usize);
        let frozen = machine.and_then(|machine| machine.frozen.get(&job));
        frozen.is_some_and(|frozen| frozen.image.is_some() && self.has_image(frozen))
    }

    /// MiB in RAM on each node of jobs that Slurm knows about: what others may not have.
    pub fn resident(&self) -> Vec<u64> {
        let settings = &self.settings;
        let nodes = self.machines.iter().enumerate().map(|(index, machine)| {
            let node = u32::try_from(index).unwrap_or(u32::MAX);
            let swap = self.swap_for_parked(machine, node);
            let swapped = swapped(
                &machine.frozen,
                swap,
                settings.swap_mib_per_second,
                self.now,
            );
            let here = machine
                .runs
                .iter()
                .filter_map(|id| self.runs.get_key_value(id));
            here.filter(|(id, run)| self.is_known(**id, run))
                .filter(|(_, run)| !run.parked_at_end.contains(&node))
                .map(|(_, run)| {
                    let memory = run.memory_on(node);
                    let cold = run.cold_mib.get(&node).copied().unwrap_or(0);
                    let swapped = cold + swapped.get(&run.job).copied().unwrap_or(0);
                    memory - swapped.min(memory)
                })
                .sum()
        });
        nodes.collect()
    }

    /// Whether slurmctld still counts on these processes' being there.
    pub(super) fn is_known(&self, id: u64, run: &ModelRun) -> bool {
        let entry = self.slurmctld.jobs.get(&run.job);
        entry.is_some_and(|entry| entry.run == id && entry.may_have_processes())
    }
}

/// Microseconds until the work is done at the present rate, at least 1.
#[expect(
    clippy::cast_possible_truncation,
    reason = "work is far below 2^53 microseconds"
)]
fn time_left(run: &ModelRun) -> i64 {
    let left = (run.work.0 as f64 - run.done).max(0.0);
    ((left / run.rate).ceil() as i64).max(1)
}

/// When it begins its next phase at the present rate, if it has one before its end.
#[expect(
    clippy::cast_possible_truncation,
    reason = "work is far below 2^53 microseconds, and phases are few"
)]
fn next_phase_in(run: &ModelRun) -> Option<Span> {
    let phases = run.uses.len();
    let next = run.phase + 1;
    let at = run.work.0 as f64 * next as f64 / phases.max(1) as f64;
    let left = (at - run.done).max(0.0);
    (next < phases).then(|| Span(((left / run.rate).ceil() as i64).max(1)))
}
