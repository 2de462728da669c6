//! What jobs get of their requests, where decisions count some with less.

use std::collections::BTreeMap;

use crate::constraints::Placed;
use crate::model::{Cluster, Job, JobId, Node};
use crate::units::{Cores, Yield};
use crate::yields::{Goal, allocate};

/// How far a running job is served.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GrantedYield {
    /// Which.
    pub job: JobId,
    /// CPU that it has over its request: what a journal records, and progress counts by.
    pub of_request: Yield,
    /// CPU that it has over its need, at most 1: what decisions remember.
    pub of_need: Yield,
}

/// From the yields of a cluster in which some jobs' `cpu` is their measured need (`requests`: their
/// requests) to what they get of their requests. CPU that is left when all have their yields goes
/// to those jobs, in equal parts of what they miss: a low need takes no CPU from a job that could
/// use it, and costs no job anything where there is room.
///
/// `yields` are those of [`crate::yields_of`] or [`crate::Decision::yields`], ascending. O(jobs),
/// and O(nodes + (nodes + runs) log nodes) for the runs of jobs with a measured need if there are
/// any.
pub fn shares_of_requests(
    cluster: &Cluster,
    yields: &[(JobId, Yield)],
    requests: &BTreeMap<JobId, Cores>,
) -> Vec<GrantedYield> {
    let whole = |(job, share): &(JobId, Yield)| GrantedYield {
        job: *job,
        of_request: *share,
        of_need: *share,
    };
    let mut all: Vec<GrantedYield> = yields.iter().map(whole).collect();
    if requests.is_empty() {
        return all;
    }
    let missing = missing(cluster, yields, requests);
    let extra = extra(cluster, yields, &missing);
    for (job, extra) in missing.iter().zip(extra) {
        let (Ok(place), Some(request)) = (
            all.binary_search_by_key(&job.id, |granted| granted.job),
            requests.get(&job.id),
        ) else {
            continue;
        };
        let share = all[place].of_need.0;
        let need = request.minus(job.cpu).cores();
        let got = share * need + extra.0 * job.cpu.cores();
        all[place].of_request = Yield((got / request.cores()).clamp(0.0, 1.0));
        all[place].of_need = Yield((got / need.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0));
    }
    all
}

/// The jobs that count with less than their request, each with the rest of its request as its need.
fn missing(
    cluster: &Cluster,
    yields: &[(JobId, Yield)],
    requests: &BTreeMap<JobId, Cores>,
) -> Vec<Job> {
    let runs = |id: &JobId| yields.binary_search_by_key(id, |(job, _)| *job).is_ok();
    let jobs = requests.iter().filter(|(id, _)| runs(id));
    let jobs = jobs.filter_map(|(id, request)| {
        let job = cluster.job(*id).filter(|job| job.cpu < *request)?;
        let cpu = request.minus(job.cpu);
        // What is left over is shared without regard to least yields.
        let (rigid, rigid_per_node) = (Vec::new(), Vec::new());
        Some(Job {
            cpu,
            rigid,
            rigid_per_node,
            ..job.clone()
        })
    });
    jobs.collect()
}

/// What each of these gets of the rest of its request.
fn extra(cluster: &Cluster, yields: &[(JobId, Yield)], missing: &[Job]) -> Vec<Yield> {
    let mut used = vec![0.0; cluster.nodes.len()];
    for (id, share) in yields {
        let Some(job) = cluster.job(*id) else {
            continue;
        };
        for run in job.running_on().into_iter().flatten() {
            if let Some(used) = used.get_mut(run.node.index()) {
                *used += share.0 * job.cpu_of(run).cores();
            }
        }
    }
    let nodes = cluster.nodes.iter().zip(used);
    let nodes: Vec<Node> = nodes
        .map(|(node, used)| Node {
            cpu: left(node.cpu, used),
            ..Node::default()
        })
        .collect();
    let placed = missing
        .iter()
        .filter_map(|job| Some(Placed::new(job, job.running_on()?)));
    let placed: Vec<Placed<'_>> = placed.collect();
    allocate(&nodes, &placed, &Goal::ByWeight)
}

/// What is left of a node when so many cores of it are used, rounded down.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative, and at most the node's"
)]
fn left(all: Cores, used: f64) -> Cores {
    let used = Cores((used.max(0.0) * 1e6).ceil() as u64);
    all.minus(used)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::{JobState, Mapping, NodeIndex};
    use crate::policy::{Optimisation, Policy};
    use crate::units::{Bytes, Time};
    use crate::yields::yields_of;

    const NODES: u32 = 3;

    /// Jobs on nodes of four cores: the request of each, eighths of it that it needs, and its
    /// nodes.
    fn granted(jobs: &[(u64, u8, &[u32])]) -> (Vec<GrantedYield>, Cluster) {
        let mut requests = BTreeMap::new();
        let made = (0..).zip(jobs).map(|(id, (cores, eighths, nodes))| {
            let request = Cores::from_cores(*cores);
            let need = crate::needs::Need::from_eighths(*eighths);
            if need.is_less() {
                requests.insert(JobId(id), request);
            }
            let tasks = u32::try_from(nodes.len()).expect("few");
            let mut job = Job::new(JobId(id), Time::ZERO, tasks, need.of(request), Bytes::ZERO);
            job.state = JobState::Running(Mapping::from_tasks(
                nodes.iter().map(|node| NodeIndex(*node)),
            ));
            job
        });
        let node = Node::new("n", Cores::from_cores(4), Bytes::ZERO);
        let cluster = Cluster {
            jobs: made.collect(),
            nodes: vec![node; NODES as usize],
        };
        let policy = Policy {
            optimisation: Optimisation::Minimum,
            ..Policy::recommended()
        };
        let yields = yields_of(&policy, &cluster, Time::ZERO);
        (shares_of_requests(&cluster, &yields, &requests), cluster)
    }

    fn rounded(jobs: &[(u64, u8, &[u32])]) -> Vec<(f64, f64)> {
        let round = |share: Yield| (share.0 * 1e6).round() / 1e6;
        let granted = granted(jobs).0.into_iter();
        granted
            .map(|granted| (round(granted.of_request), round(granted.of_need)))
            .collect()
    }

    #[test]
    fn yields_are_unchanged_without_measured_needs() {
        let all = rounded(&[(4, 8, &[0]), (4, 8, &[0])]);
        assert_eq!(all, [(0.5, 0.5), (0.5, 0.5)]);
    }

    #[test]
    fn job_of_low_need_gets_leftover_of_its_request() {
        // One needs half a core of its four, the other needs all of them.
        let all = rounded(&[(4, 1, &[0]), (4, 8, &[0])]);
        assert_eq!(all, [(0.111_111, 0.888_889), (0.888_889, 0.888_889)]);
    }

    #[test]
    fn requests_are_met_in_full_when_cpu_suffices() {
        let all = rounded(&[(2, 1, &[0]), (2, 4, &[0]), (3, 2, &[1])]);
        assert_eq!(all, [(1.0, 1.0); 3]);
    }

    proptest! {
        /// No job gets more than its request, no node gives more than it has, and no job has less
        /// than its yield says.
        #[test]
        fn leftover_cpu_is_not_granted_twice(
            jobs in proptest::collection::vec(
                (1u64..5, 1u8..=8, proptest::collection::vec(0..NODES, 1..4)), 1..8
            ),
        ) {
            let borrowed: Vec<(u64, u8, &[u32])> =
                jobs.iter().map(|(cores, eighths, nodes)| (*cores, *eighths, nodes.as_slice())).collect();
            let (all, cluster) = granted(&borrowed);
            let mut used = vec![0.0; NODES as usize];
            for (granted, (cores, eighths, nodes)) in all.iter().zip(&jobs) {
                prop_assert!((0.0..=1.0).contains(&granted.of_request.0));
                prop_assert!((0.0..=1.0).contains(&granted.of_need.0));
                prop_assert!(granted.of_request.0 <= granted.of_need.0 + 1e-9);
                let least = granted.of_need.0 * f64::from(*eighths) / 8.0;
                prop_assert!(granted.of_request.0 >= least - 1e-9);
                for node in nodes {
                    // Precise enough: few cores.
                    let cores = *cores as f64;
                    used[*node as usize] += granted.of_request.0 * cores;
                }
            }
            for (node, used) in cluster.nodes.iter().zip(used) {
                prop_assert!(used <= node.cpu.cores() + 1e-6, "{used}");
            }
        }
    }
}
