//! The optimality of yields, each against a definition that is independent of how they are found.

#[path = "common/yields.rs"]
mod common;

use common::{CLOSE, YieldProblem, cases, cluster, shares};
use dfrs_core::{Optimisation, Weight};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

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
    fn shares_stay_feasible_for_very_large_needs(cluster in cluster(6, 12), exponent in 0u32..7) {
        let mut cluster = cluster;
        cluster.jobs[0].cpu.0 *= 30u64.pow(exponent);
        let problem = YieldProblem::of(&cluster);
        for optimisation in [Optimisation::Uniform, Optimisation::Minimum] {
            let shares = shares(&cluster, optimisation);
            prop_assert!(problem.is_feasible(&shares), "{optimisation:?}: {shares:?}");
        }
    }
}
