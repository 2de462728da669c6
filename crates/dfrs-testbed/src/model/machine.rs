//! The truth about a node: what runs there, and what its dfrsd does to it.

use std::collections::{BTreeMap, BTreeSet};

use super::program::ImageOutcome;
use dfrs_core::Time;
use dfrs_proto::message::{JobOrder, NodeOrder};

/// A job that dfrsd has frozen.
#[derive(Clone, Debug)]
pub(super) struct FrozenJob {
    pub(super) since: Time,
    /// MiB that it held then.
    pub(super) memory_mib: u64,
    /// Its memory is locked.
    pub(super) pinned: bool,
    /// Its processes are written to an image, and its memory stays; what comes of it.
    pub(super) image: Option<ImageOutcome>,
}

/// A node as it is.
#[derive(Clone, Debug, Default)]
pub(super) struct ModelNode {
    pub(super) name: String,
    pub(super) cpus: u32,
    /// It is switched on.
    pub(super) on: bool,
    /// It was switched on, and has not reported to slurmctld.
    pub(super) boots: bool,
    /// slurmd and dfrsd can be reached.
    pub(super) answers: bool,
    /// How many times as long as usual slurmd and dfrsd take for everything.
    pub(super) slowness: u32,
    /// dfrsd runs.
    pub(super) has_dfrsd: bool,
    /// The newest orders that dfrsd has got: by job.
    pub(super) orders: BTreeMap<u32, JobOrder>,
    /// MiB of swap that they count on.
    pub(super) counted_swap_mib: u64,
    pub(super) generation: u64,
    /// It has got orders from the agent that is there, and can be reached since.
    pub(super) in_touch: bool,
    /// When it got orders last.
    pub(super) heard: Time,
    /// It is noted when these lapse.
    pub(super) expires: bool,
    /// No message was received for the time to live.
    pub(super) expired: bool,
    /// Jobs that dfrsd keeps frozen.
    pub(super) frozen: BTreeMap<u32, FrozenJob>,
    /// Runs that have processes here.
    pub(super) runs: BTreeSet<u64>,
}

impl ModelNode {
    pub(super) fn new(name: String, cpus: u32) -> Self {
        Self {
            name,
            cpus,
            on: true,
            answers: true,
            slowness: 1,
            has_dfrsd: true,
            ..Self::default()
        }
    }

    /// Whether slurmd can be reached.
    pub(super) fn is_reachable(&self) -> bool {
        self.on && self.answers
    }

    /// Whether dfrsd can be reached.
    pub(super) fn takes_orders(&self) -> bool {
        self.is_reachable() && self.has_dfrsd
    }

    /// Cores that the job's cap leaves it; `None`: no cap.
    pub(super) fn cap(&self, job: u32) -> Option<f64> {
        let order = self.orders.get(&job).filter(|_| !self.expired)?;
        Some(order.share.fraction() * f64::from(self.cpus))
    }

    /// Jobs that the orders want frozen. Once these have expired, what is frozen stays so, and
    /// nothing else is frozen.
    pub(super) fn to_freeze(&self) -> BTreeSet<u32> {
        // What ends with its image is not thawed before.
        let stays = |order: &JobOrder| {
            let keeps = order.ended && (order.image || order.void);
            keeps && self.frozen.contains_key(&order.id)
        };
        let orders = self.orders.values();
        let orders = orders.filter(|order| order.frozen || stays(order));
        let is_due = |job: &u32| !self.expired || self.frozen.contains_key(job);
        orders.map(|order| order.id).filter(is_due).collect()
    }

    /// Whether dfrsd is to say when nothing of the job is left.
    pub(super) fn watches_end_of(&self, job: u32) -> bool {
        self.orders.get(&job).is_some_and(|order| order.ended)
    }

    /// Takes orders, unless newer ones came first. Returns whether dfrsd has something to do then:
    /// not for the same ones again.
    pub(super) fn take(&mut self, state: &NodeOrder, generation: u64, now: Time) -> bool {
        if generation < self.generation {
            return false;
        }
        let is_first = self.generation == 0 || self.expired;
        (self.generation, self.expired) = (generation, false);
        (self.heard, self.in_touch) = (now, true);
        let swap_mib = state.swap.unwrap_or(0) >> 20;
        let orders: BTreeMap<u32, JobOrder> = state.jobs.iter().map(|job| (job.id, *job)).collect();
        if !is_first && (swap_mib, &orders) == (self.counted_swap_mib, &self.orders) {
            return false;
        }
        (self.counted_swap_mib, self.orders) = (swap_mib, orders);
        true
    }

    /// Everything that ran here is gone.
    pub(super) fn switch_off(&mut self) {
        self.on = false;
        self.runs.clear();
        self.frozen.clear();
        self.orders.clear();
    }
}

/// How much of the frozen jobs' memory is in swap now: MiB by job. They are moved there one after
/// the other, as fast as the swap takes them and as far as it reaches.
pub(super) fn swapped(
    frozen: &BTreeMap<u32, FrozenJob>,
    swap: u64,
    speed: u64,
    now: Time,
) -> BTreeMap<u32, u64> {
    let mut order: Vec<(&u32, &FrozenJob)> = frozen.iter().collect();
    order.sort_by_key(|(job, frozen)| (frozen.since, **job));
    let mut left = swap;
    let mut free_at = 0;
    let mut amounts = BTreeMap::new();
    for (job, frozen) in order {
        if frozen.pinned || frozen.image.is_some() {
            amounts.insert(*job, 0);
            continue;
        }
        let begins = frozen.since.0.max(free_at);
        let elapsed = u64::try_from((now.0 - begins).max(0)).unwrap_or(0);
        let moved = elapsed.saturating_mul(speed) / 1_000_000;
        let moved = moved.min(frozen.memory_mib).min(left);
        let takes = frozen.memory_mib.saturating_mul(1_000_000) / speed.max(1);
        free_at = begins.saturating_add(i64::try_from(takes).unwrap_or(i64::MAX));
        left -= frozen.memory_mib.min(left);
        amounts.insert(*job, moved);
    }
    amounts
}
