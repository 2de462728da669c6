//! Whether the yields of a plan fit each node's CPU.

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
        let mut shares = vec![0.0; cluster.nodes.len()];
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
                Some(share) => add_shares(&mut shares, job, &self.states[index], share),
                None => {}
            }
        }
        for (node, shared) in shares.into_iter().enumerate() {
            self.check_share(node, shared);
        }
    }

    /// Whether what jobs get of one node's CPU is there.
    fn check_share(&mut self, node: usize, shared: f64) {
        let capacity = amount(self.cluster.nodes[node].cpu.0);
        // A share that is no number exceeds nothing: its yield is reported.
        let is_exceeded = shared > capacity * (1.0 + ROUNDING);
        if !is_exceeded {
            return;
        }
        let node = NodeIndex(u32::try_from(node).unwrap_or(u32::MAX));
        let holders = self.share_holders(node).into_iter();
        let kind = ViolationKind::Shares {
            capacity: capacity / CORE,
            shared: shared / CORE,
            holders: holders.map(|(job, share)| (job, share / CORE)).collect(),
        };
        self.push(kind, None, Some(node));
    }

    /// What each job gets of the node's CPU.
    fn share_holders(&self, node: NodeIndex) -> Vec<(JobId, f64)> {
        let jobs = self.cluster.jobs.iter().zip(&self.states).zip(&self.yields);
        let held = jobs.filter_map(|((job, state), share)| {
            let run = state.running_on()?.run_on(node)?;
            Some((job.id, (*share)? * amount(job.cpu_of(run).0)))
        });
        held.filter(|(_, share)| *share > 0.0).collect()
    }
}

/// A core, in the unit of [`Cores`].
// Precise enough: a million.
const CORE: f64 = Cores::from_cores(1).0 as f64;

// Precise enough: compared with a tolerance.
fn amount(amount: u64) -> f64 {
    amount as f64
}

/// Adds what the job gets of the CPU of its nodes.
fn add_shares(shares: &mut [f64], job: &Job, state: &JobState, share: f64) {
    let Some(mapping) = state.running_on() else {
        return;
    };
    for run in mapping.iter() {
        if let Some(sum) = shares.get_mut(run.node.index()) {
            *sum += share * amount(job.cpu_of(run).0);
        }
    }
}
