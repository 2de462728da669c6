//! Whether the yields of a plan fit each node's CPU and further fluid resources.

use super::{Checker, ViolationKind};
use crate::model::{Job, JobId, JobState, NodeIndex};
use crate::target::is_free;
use crate::units::Cores;

/// How much CPU a node may seem to be exceeded by because shares are rounded: this fraction of its
/// capacity.
const ROUNDING: f64 = 1e-9;

impl Checker<'_> {
    /// Shares after the whole plan; only jobs whose yield the plan sets are known.
    pub(super) fn check_shares(&mut self) {
        if self.yields.iter().all(Option::is_none) {
            return;
        }
        let cluster = self.cluster;
        let resources = cluster.nodes.iter().map(|node| 1 + node.fluid.len()).max();
        let resources = resources.unwrap_or(1);
        let mut shares = vec![0.0; cluster.nodes.len() * resources];
        for (index, job) in cluster.jobs.iter().enumerate() {
            let running = matches!(self.states[index], JobState::Running(_));
            match self.yields[index] {
                Some(share) if !running => {
                    let state = self.states[index].clone();
                    self.report(ViolationKind::YieldWithoutPlace { share, state }, job.id);
                }
                None if running && is_free(cluster, job) => {
                    self.report(ViolationKind::NoYield, job.id);
                }
                Some(share) => add_shares(&mut shares, resources, job, &self.states[index], share),
                None => {}
            }
        }
        for (row, shared) in shares.into_iter().enumerate() {
            self.check_share(row / resources, row % resources, shared);
        }
    }

    /// Whether what jobs get of one fluid resource of one node is there. 0 is the CPU.
    fn check_share(&mut self, node: usize, resource: usize, shared: f64) {
        let capacity = match resource {
            0 => self.cluster.nodes[node].cpu.0,
            _ => {
                let amount = self.cluster.nodes[node].fluid.get(resource - 1);
                amount.map_or(0, |amount| amount.0)
            }
        };
        let capacity = amount(capacity);
        // A share that is no number exceeds nothing: its yield is reported.
        let is_exceeded = shared > capacity * (1.0 + ROUNDING);
        if !is_exceeded {
            return;
        }
        let node = NodeIndex(u32::try_from(node).unwrap_or(u32::MAX));
        let in_unit = |amount: f64| match resource {
            0 => amount / CORE,
            _ => amount,
        };
        let holders = self.share_holders(node, resource).into_iter();
        let kind = ViolationKind::Shares {
            resource: resource.checked_sub(1),
            capacity: in_unit(capacity),
            shared: in_unit(shared),
            holders: holders.map(|(job, share)| (job, in_unit(share))).collect(),
        };
        self.push(kind, None, Some(node));
    }

    /// What each job gets of the resource on the node.
    fn share_holders(&self, node: NodeIndex, resource: usize) -> Vec<(JobId, f64)> {
        let jobs = self.cluster.jobs.iter().zip(&self.states).zip(&self.yields);
        let held = jobs.filter_map(|((job, state), share)| {
            let run = state.running_on()?.run_on(node)?;
            Some((job.id, (*share)? * amount(job.need_of(run, resource))))
        });
        held.filter(|(_, share)| *share > 0.0).collect()
    }
}

/// A core, in the unit of [`Cores`].
#[expect(clippy::cast_precision_loss, reason = "a million")]
const CORE: f64 = Cores::from_cores(1).0 as f64;

#[expect(clippy::cast_precision_loss, reason = "compared with a tolerance")]
fn amount(amount: u64) -> f64 {
    amount as f64
}

/// Adds what the job gets of each fluid resource of its nodes.
fn add_shares(shares: &mut [f64], resources: usize, job: &Job, state: &JobState, share: f64) {
    let Some(mapping) = state.running_on() else {
        return;
    };
    for run in mapping.iter().copied() {
        for resource in 0..resources {
            if let Some(sum) = shares.get_mut(run.node.index() * resources + resource) {
                *sum += share * amount(job.need_of(run, resource));
            }
        }
    }
}
