//! Random running jobs, and what must hold of their yields.
#![allow(dead_code, reason = "each test binary uses a part")]

use dfrs_core::{
    Bytes, Cluster, Cores, Job, JobId, JobState, Mapping, Node, NodeIndex, Optimisation, Policy,
    Run, Span, Time, Weight, yields_of,
};
use proptest::prelude::*;

/// As many random cases as `PROPTEST_CASES` says, else 1500.
pub fn cases() -> u32 {
    let given = std::env::var("PROPTEST_CASES").ok();
    given.and_then(|cases| cases.parse().ok()).unwrap_or(1500)
}

/// Yields may differ by this.
pub const CLOSE: f64 = 1e-6;

/// For each node its capacity, and for each job its need there.
pub struct YieldProblem {
    /// Of each node, in cores.
    pub capacity: Vec<f64>,
    /// For each node, of each job.
    pub needs: Vec<Vec<f64>>,
}

impl YieldProblem {
    pub fn of(cluster: &Cluster) -> Self {
        let need = |job: &Job, node: usize| {
            let node = NodeIndex(node.try_into().unwrap());
            let tasks = job.mapping().map_or(0, |mapping| mapping.tasks_on(node));
            f64::from(tasks) * job.cpu.cores()
        };
        let row = |node| cluster.jobs.iter().map(|job| need(job, node)).collect();
        Self {
            capacity: cluster.nodes.iter().map(|node| node.cpu.cores()).collect(),
            needs: (0..cluster.nodes.len()).map(row).collect(),
        }
    }

    pub fn used(&self, node: usize, shares: &[f64]) -> f64 {
        self.needs[node]
            .iter()
            .zip(shares)
            .map(|(need, share)| need * share)
            .sum()
    }

    pub fn is_feasible(&self, shares: &[f64]) -> bool {
        let fits =
            |node: usize| self.used(node, shares) <= self.capacity[node] * (1.0 + 1e-9) + 1e-12;
        shares.iter().all(|share| (0.0..=1.0).contains(share)) && (0..self.capacity.len()).all(fits)
    }

    /// 1/max(1, Λ).
    pub fn uniform(&self) -> f64 {
        let load = |node: usize| self.needs[node].iter().sum::<f64>() / self.capacity[node];
        1.0 / (0..self.capacity.len()).map(load).fold(1.0, f64::max)
    }

    /// Whether no job's value can grow except at the cost of one that is no better off: each job
    /// has all it needs, or is on a full node where no job of larger value has more than `least`.
    pub fn is_max_min(&self, shares: &[f64], values: &[f64], least: f64) -> bool {
        (0..shares.len()).all(|job| {
            shares[job] >= 1.0 - CLOSE
                || (0..self.capacity.len()).any(|node| {
                    self.needs[node][job] > 0.0
                        && self.used(node, shares) >= self.capacity[node] * (1.0 - CLOSE)
                        && (0..shares.len()).all(|other| {
                            self.needs[node][other] == 0.0
                                || values[other] <= values[job] * (1.0 + CLOSE) + CLOSE
                                || shares[other] <= least + CLOSE
                        })
                })
        })
    }
}

/// Running jobs on nodes of some capacity; memory plays no part.
pub fn cluster(nodes: usize, jobs: usize) -> impl Strategy<Value = Cluster> {
    let capacities = proptest::collection::vec(
        prop_oneof![Just(1_000_000u64), 1_000u64..4_000_000],
        1..=nodes,
    );
    capacities.prop_flat_map(move |capacities| {
        let count = u32::try_from(capacities.len()).unwrap();
        let runs = proptest::collection::vec((0..count, 1u32..4), 1..4);
        let need = prop_oneof![Just(250_000u64), Just(1_000_000), 1u64..1_500_000];
        let job = (
            runs,
            need,
            prop_oneof![2 => Just(1000u32), 1 => 100u32..9_000],
            0i64..5_000,
            0i64..2_000,
        );
        proptest::collection::vec(job, 1..=jobs).prop_map(move |jobs| {
            let nodes = capacities
                .iter()
                .map(|cpu| Node::new("n", Cores(*cpu), Bytes(1)))
                .collect();
            let jobs = (0..)
                .zip(jobs)
                .map(|(id, (runs, need, weight, flow, virtual_time))| {
                    let run = |(node, tasks)| Run {
                        node: NodeIndex(node),
                        tasks,
                    };
                    let mapping: Mapping = runs.into_iter().map(run).collect();
                    let submit = Time::from_seconds(10_000 - flow);
                    let tasks = u32::try_from(mapping.tasks()).unwrap();
                    let mut job = Job::new(JobId(id), submit, tasks, Cores(need), Bytes(0));
                    job.state = JobState::Running(mapping);
                    job.weight = Weight(weight);
                    job.virtual_time = Span::from_seconds(virtual_time.min(flow));
                    job
                });
            Cluster {
                nodes,
                jobs: jobs.collect(),
            }
        })
    })
}

/// The yields of the recommended policy, but for this optimisation.
pub fn shares(cluster: &Cluster, optimisation: Optimisation) -> Vec<f64> {
    let policy = Policy {
        optimisation,
        ..Policy::recommended()
    };
    yields_of(&policy, cluster, Time::ZERO)
        .into_iter()
        .map(|(_, share)| share.0)
        .collect()
}
