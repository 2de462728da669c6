//! The optimality of yields, each against a definition that is independent of how they are found.

use dfrs_core::{
    Bytes, Cluster, Cores, Job, JobId, JobState, Mapping, Node, NodeIndex, Optimisation, Policy,
    Run, Span, Time, Weight, yields_of,
};
use proptest::prelude::*;

mod common;
use common::cases;

/// Yields may differ by this.
const CLOSE: f64 = 1e-6;

/// For each node its capacity, and for each job its need there.
struct YieldProblem {
    capacity: Vec<f64>,
    needs: Vec<Vec<f64>>,
}

impl YieldProblem {
    fn of(cluster: &Cluster) -> Self {
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

    fn used(&self, node: usize, shares: &[f64]) -> f64 {
        self.needs[node]
            .iter()
            .zip(shares)
            .map(|(need, share)| need * share)
            .sum()
    }

    fn is_feasible(&self, shares: &[f64]) -> bool {
        let fits =
            |node: usize| self.used(node, shares) <= self.capacity[node] * (1.0 + 1e-9) + 1e-12;
        shares.iter().all(|share| (0.0..=1.0).contains(share)) && (0..self.capacity.len()).all(fits)
    }

    /// 1/max(1, Λ).
    fn uniform(&self) -> f64 {
        let load = |node: usize| self.needs[node].iter().sum::<f64>() / self.capacity[node];
        1.0 / (0..self.capacity.len()).map(load).fold(1.0, f64::max)
    }

    /// Whether no job's value can grow except at the cost of one that is no better off: each job
    /// has all it needs, or is on a full node where no job of larger value has more than `least`.
    fn is_max_min(&self, shares: &[f64], values: &[f64], least: f64) -> bool {
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
fn cluster(nodes: usize, jobs: usize) -> impl Strategy<Value = Cluster> {
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

fn shares(cluster: &Cluster, optimisation: Optimisation) -> Vec<f64> {
    let policy = Policy {
        optimisation,
        ..Policy::recommended()
    };
    yields_of(&policy, cluster, Time::ZERO)
        .into_iter()
        .map(|(_, share)| share.0)
        .collect()
}

/// The greatest sum of yields that are at least `least`, by trying every vertex.
fn best_sum(problem: &YieldProblem, least: f64) -> f64 {
    let jobs = problem.needs[0].len();
    let mut planes: Vec<(Vec<f64>, f64)> = problem
        .needs
        .iter()
        .cloned()
        .zip(problem.capacity.iter().copied())
        .collect();
    for job in 0..jobs {
        let unit: Vec<f64> = (0..jobs)
            .map(|other| f64::from(u8::from(other == job)))
            .collect();
        planes.push((unit.clone(), least));
        planes.push((unit, 1.0));
    }
    let mut best = f64::NEG_INFINITY;
    for_each_choice(planes.len(), jobs, &mut Vec::new(), &mut |choice| {
        let rows = choice.iter().map(|plane| planes[*plane].clone()).collect();
        if let Some(point) = solve(rows) {
            let inside = point
                .iter()
                .all(|share| *share >= least - 1e-9 && *share <= 1.0 + 1e-9);
            if inside
                && problem.is_feasible(
                    &point
                        .iter()
                        .map(|share| share.clamp(0.0, 1.0))
                        .collect::<Vec<_>>(),
                )
            {
                best = best.max(point.iter().sum());
            }
        }
    });
    best
}

fn for_each_choice(
    of: usize,
    count: usize,
    chosen: &mut Vec<usize>,
    each: &mut impl FnMut(&[usize]),
) {
    if chosen.len() == count {
        return each(chosen);
    }
    for next in chosen.last().map_or(0, |last| last + 1)..of {
        chosen.push(next);
        for_each_choice(of, count, chosen, each);
        chosen.pop();
    }
}

/// Gaussian elimination; `None` if the rows are not independent.
fn solve(mut rows: Vec<(Vec<f64>, f64)>) -> Option<Vec<f64>> {
    for column in 0..rows.len() {
        let pivot = (column..rows.len()).max_by(|one, other| {
            rows[*one].0[column]
                .abs()
                .total_cmp(&rows[*other].0[column].abs())
        })?;
        if rows[pivot].0[column].abs() < 1e-9 {
            return None;
        }
        rows.swap(column, pivot);
        let (pivot_row, pivot_value) = rows[column].clone();
        for (place, (row, value)) in rows.iter_mut().enumerate() {
            if place != column {
                let factor = row[column] / pivot_row[column];
                row.iter_mut()
                    .zip(&pivot_row)
                    .for_each(|(term, pivot)| *term -= factor * pivot);
                *value -= factor * pivot_value;
            }
        }
    }
    Some(
        rows.iter()
            .enumerate()
            .map(|(place, (row, value))| value / row[place])
            .collect(),
    )
}

/// The sum of the stretches that are expected at the end of the period.
fn sum_of_stretches(cluster: &Cluster, shares: &[f64], policy: &Policy) -> f64 {
    cluster
        .jobs
        .iter()
        .zip(shares)
        .map(|(job, share)| 1.0 / inverse(job, *share, policy))
        .sum()
}

fn inverse(job: &Job, share: f64, policy: &Policy) -> f64 {
    let period = policy.settings.period.seconds();
    (job.virtual_time.seconds() + share * period)
        / (job.flow_time(Time::from_seconds(10_000)).seconds() + period)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(1500)))]

    #[test]
    fn minimum_is_max_min_fair_by_weight(cluster in cluster(6, 12)) {
        let problem = YieldProblem::of(&cluster);
        let shares = shares(&cluster, Optimisation::Minimum);
        prop_assert!(problem.is_feasible(&shares), "{shares:?}");
        let values: Vec<f64> = shares.iter().zip(&cluster.jobs).map(|(share, job)| share / job.weight.factor()).collect();
        prop_assert!(problem.is_max_min(&shares, &values, 0.0), "{shares:?}");
    }

    #[test]
    fn uniform_is_the_largest_common_yield(cluster in cluster(6, 12)) {
        let problem = YieldProblem::of(&cluster);
        for share in shares(&cluster, Optimisation::Uniform) {
            prop_assert!((share - problem.uniform()).abs() < CLOSE);
        }
    }

    #[test]
    fn the_smallest_of_equal_weights_is_the_largest_common_yield(cluster in cluster(6, 12)) {
        let mut cluster = cluster;
        cluster.jobs.iter_mut().for_each(|job| job.weight = Weight::ONE);
        let smallest = shares(&cluster, Optimisation::Minimum).into_iter().fold(1.0, f64::min);
        prop_assert!((smallest - YieldProblem::of(&cluster).uniform()).abs() < CLOSE);
    }

    #[test]
    fn average_is_the_best_vertex(cluster in cluster(3, 4)) {
        let problem = YieldProblem::of(&cluster);
        let least = problem.uniform();
        let shares = shares(&cluster, Optimisation::Average);
        prop_assert!(problem.is_feasible(&shares), "{shares:?}");
        prop_assert!(shares.iter().all(|share| *share >= least - CLOSE));
        let best = best_sum(&problem, least);
        prop_assert!((shares.iter().sum::<f64>() - best).abs() < CLOSE, "{shares:?} {best}");
    }

    #[test]
    fn average_beats_the_other_allocations(cluster in cluster(12, 40)) {
        let problem = YieldProblem::of(&cluster);
        let average = shares(&cluster, Optimisation::Average);
        prop_assert!(problem.is_feasible(&average));
        let mut cluster = cluster;
        cluster.jobs.iter_mut().for_each(|job| job.weight = Weight::ONE);
        for other in [Optimisation::Uniform, Optimisation::Minimum, Optimisation::Heuristic] {
            prop_assert!(average.iter().sum::<f64>() >= shares(&cluster, other).iter().sum::<f64>() - CLOSE);
        }
    }

    #[test]
    fn the_heuristic_leaves_nothing_that_a_job_could_use(cluster in cluster(6, 12)) {
        let problem = YieldProblem::of(&cluster);
        let shares = shares(&cluster, Optimisation::Heuristic);
        prop_assert!(problem.is_feasible(&shares));
        for (job, share) in shares.iter().enumerate() {
            let stuck = (0..problem.capacity.len()).any(|node| {
                problem.needs[node][job] > 0.0 && problem.used(node, &shares) >= problem.capacity[node] * (1.0 - CLOSE)
            });
            prop_assert!(*share >= problem.uniform() - CLOSE && (*share >= 1.0 - CLOSE || stuck));
        }
        // The job of the lowest total need comes first, so that no other choice could give it more.
        let total = |job: &Job| job.cpu.0 * u64::from(job.tasks);
        let first = (0..cluster.jobs.len()).min_by_key(|job| (total(&cluster.jobs[*job]), *job)).unwrap();
        let room = (0..problem.capacity.len()).filter(|node| problem.needs[*node][first] > 0.0).map(|node| {
            let others = problem.needs[node].iter().sum::<f64>() - problem.needs[node][first];
            (problem.capacity[node] - others * problem.uniform()) / problem.needs[node][first]
        });
        prop_assert!((shares[first] - room.fold(1.0, f64::min)).abs() < CLOSE);
    }

    #[test]
    fn the_largest_expected_stretches_are_as_small_as_possible(cluster in cluster(6, 12)) {
        let policy: Policy = "/stretch-per/OPT=MAX".parse().unwrap();
        let problem = YieldProblem::of(&cluster);
        let found = yields_of(&policy, &cluster, Time::from_seconds(10_000));
        let shares: Vec<f64> = found.into_iter().map(|(_, share)| share.0).collect();
        let least = problem.uniform().min(0.01);
        prop_assert!(problem.is_feasible(&shares), "{shares:?}");
        prop_assert!(shares.iter().all(|share| *share >= least - 1e-9));
        let values: Vec<f64> = cluster.jobs.iter().zip(&shares).map(|(job, share)| inverse(job, *share, &policy)).collect();
        prop_assert!(problem.is_max_min(&shares, &values, least), "{shares:?} {values:?}");
    }

    #[test]
    fn shares_stay_feasible_for_very_old_jobs(cluster in cluster(6, 12), years in 0i64..60, period in 1i64..100) {
        let mut cluster = cluster;
        for job in &mut cluster.jobs {
            let age = years * 365 * 86_400 * 1_000_000;
            job.submit.0 -= age;
            job.virtual_time.0 += age / 3;
        }
        let problem = YieldProblem::of(&cluster);
        for name in ["/stretch-per", "/stretch-per/OPT=MAX", "/stretch-per/OPT=AVG", "DYNMCB8-STRETCH-PER"] {
            let mut policy: Policy = name.parse().unwrap();
            policy.settings.period = Span::from_seconds(period);
            let found = yields_of(&policy, &cluster, Time::from_seconds(10_000));
            let shares: Vec<f64> = found.into_iter().map(|(_, share)| share.0).collect();
            prop_assert!(problem.is_feasible(&shares), "{name}: {shares:?}");
        }
    }

    #[test]
    fn shares_stay_feasible_for_very_large_needs(cluster in cluster(6, 12), exponent in 0u32..7) {
        let mut cluster = cluster;
        cluster.jobs[0].cpu.0 *= 30u64.pow(exponent);
        let problem = YieldProblem::of(&cluster);
        for optimisation in [Optimisation::Uniform, Optimisation::Minimum, Optimisation::Average, Optimisation::Heuristic] {
            let shares = shares(&cluster, optimisation);
            prop_assert!(problem.is_feasible(&shares), "{optimisation:?}: {shares:?}");
        }
    }

    #[test]
    fn no_exchange_between_jobs_lowers_the_average_stretch(cluster in cluster(4, 6), steps in proptest::collection::vec((0usize..6, 0usize..6, 1i32..6), 40)) {
        let policy: Policy = "/stretch-per/OPT=AVG".parse().unwrap();
        let problem = YieldProblem::of(&cluster);
        let yields = |policy: &Policy| -> Vec<f64> {
            yields_of(policy, &cluster, Time::from_seconds(10_000)).into_iter().map(|(_, share)| share.0).collect()
        };
        let shares = yields(&policy);
        prop_assert!(problem.is_feasible(&shares), "{shares:?}");
        let equal = yields(&"/stretch-per".parse().unwrap());
        let best = sum_of_stretches(&cluster, &shares, &policy);
        prop_assert!(best <= sum_of_stretches(&cluster, &equal, &policy) * (1.0 + CLOSE));
        for (from, to, size) in steps {
            let (from, to, size) = (from % shares.len(), to % shares.len(), 10f64.powi(-size));
            // `to` gets as much as `from` frees on every node that they share, and as there is
            // room.
            let mut other = shares.clone();
            other[from] = (other[from] - size).max(equal[from]);
            let rooms = (0..problem.capacity.len()).filter(|node| problem.needs[*node][to] > 0.0).map(|node| {
                (problem.capacity[node] - problem.used(node, &other)) / problem.needs[node][to]
            });
            other[to] = (other[to] + rooms.fold(1.0, f64::min)).clamp(equal[to], 1.0);
            if problem.is_feasible(&other) {
                prop_assert!(best <= sum_of_stretches(&cluster, &other, &policy) * (1.0 + CLOSE), "{shares:?} {other:?}");
            }
        }
    }

    #[test]
    fn two_jobs_on_one_node_have_the_least_average_stretch(cluster in cluster(1, 2)) {
        let policy: Policy = "/stretch-per/OPT=AVG".parse().unwrap();
        let now = Time::from_seconds(10_000);
        let yields = |name: &str| -> Vec<f64> {
            yields_of(&name.parse().unwrap(), &cluster, now).into_iter().map(|(_, share)| share.0).collect()
        };
        let problem = YieldProblem::of(&cluster);
        let (found, equal) = (yields("/stretch-per/OPT=AVG"), yields("/stretch-per"));
        if found.len() < 2 {
            return Ok(());
        }
        let best = sum_of_stretches(&cluster, &found, &policy);
        for step in 0..=1000 {
            let first = equal[0] + (1.0 - equal[0]) * f64::from(step) / 1000.0;
            let second = ((problem.capacity[0] - problem.needs[0][0] * first) / problem.needs[0][1]).min(1.0);
            if second >= equal[1] {
                prop_assert!(best <= sum_of_stretches(&cluster, &[first, second], &policy) * (1.0 + CLOSE));
            }
        }
    }
}
