//! The optimality of yields, each against a definition that is independent of how they are found.

#[path = "../../dfrs-core/tests/common/yields.rs"]
mod common;

use common::{CLOSE, YieldProblem, cases, cluster, shares};
use dfrs_core::{Cluster, Job, Optimisation, Policy, Span, Time, Weight, yields_of};
use dfrs_papers::PaperGoal;
use proptest::prelude::*;

const AVERAGE: Optimisation = PaperGoal::Average.optimisation();

const HEURISTIC: Optimisation = PaperGoal::Heuristic.optimisation();

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
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn average_is_the_best_vertex(cluster in cluster(3, 4)) {
        let problem = YieldProblem::of(&cluster);
        let least = problem.uniform();
        let shares = shares(&cluster, AVERAGE);
        prop_assert!(problem.is_feasible(&shares), "{shares:?}");
        prop_assert!(shares.iter().all(|share| *share >= least - CLOSE));
        let best = best_sum(&problem, least);
        prop_assert!((shares.iter().sum::<f64>() - best).abs() < CLOSE, "{shares:?} {best}");
    }

    #[test]
    fn average_beats_the_other_allocations(cluster in cluster(12, 40)) {
        let problem = YieldProblem::of(&cluster);
        let average = shares(&cluster, AVERAGE);
        prop_assert!(problem.is_feasible(&average));
        let mut cluster = cluster;
        cluster.jobs.iter_mut().for_each(|job| job.weight = Weight::ONE);
        for other in [Optimisation::Uniform, Optimisation::Minimum, HEURISTIC] {
            prop_assert!(average.iter().sum::<f64>() >= shares(&cluster, other).iter().sum::<f64>() - CLOSE);
        }
    }

    #[test]
    fn the_heuristic_leaves_nothing_that_a_job_could_use(cluster in cluster(6, 12)) {
        let problem = YieldProblem::of(&cluster);
        let shares = shares(&cluster, HEURISTIC);
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
        let policy = dfrs_papers::policy("/stretch-per/OPT=MAX").unwrap();
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
            let mut policy = dfrs_papers::policy(name).unwrap();
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
        for optimisation in [Optimisation::Uniform, Optimisation::Minimum, AVERAGE, HEURISTIC] {
            let shares = shares(&cluster, optimisation);
            prop_assert!(problem.is_feasible(&shares), "{optimisation:?}: {shares:?}");
        }
    }

    #[test]
    fn no_exchange_between_jobs_lowers_the_average_stretch(cluster in cluster(4, 6), steps in proptest::collection::vec((0usize..6, 0usize..6, 1i32..6), 40)) {
        let policy = dfrs_papers::policy("/stretch-per/OPT=AVG").unwrap();
        let problem = YieldProblem::of(&cluster);
        let yields = |policy: &Policy| -> Vec<f64> {
            yields_of(policy, &cluster, Time::from_seconds(10_000)).into_iter().map(|(_, share)| share.0).collect()
        };
        let shares = yields(&policy);
        prop_assert!(problem.is_feasible(&shares), "{shares:?}");
        let equal = yields(&dfrs_papers::policy("/stretch-per").unwrap());
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
        let policy = dfrs_papers::policy("/stretch-per/OPT=AVG").unwrap();
        let now = Time::from_seconds(10_000);
        let yields = |name: &str| -> Vec<f64> {
            yields_of(&dfrs_papers::policy(name).unwrap(), &cluster, now).into_iter().map(|(_, share)| share.0).collect()
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
