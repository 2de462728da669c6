//! What holds of the schedules of all algorithms, on tasks of all kinds.

mod common;

use dfrs_moldable::{Criteria, Estimate};
use dfrs_moldable_lab::workload::{WorkloadModel, generate};
use dfrs_moldable_lab::{
    Algorithm, MoldableInstance, Releases, Shelves, Shuffles, bounds, check, online_bounds, optimum,
};
use proptest::prelude::*;

const NONE: Shuffles = Shuffles { count: 0, seed: 0 };

fn some(seed: u64) -> Shuffles {
    Shuffles { count: 5, seed }
}

/// At least as much, but for rounding.
fn reaches(value: f64, bound: f64) -> bool {
    value >= bound * (1.0 - 1e-9)
}

fn is_right(instance: &MoldableInstance) {
    let problem = instance.problem();
    let least = bounds(&problem);
    for algorithm in Algorithm::ALL {
        let schedule = algorithm.schedule(&problem, some(3));
        assert_eq!(
            check(instance, &schedule, Releases::Ignored),
            [],
            "{algorithm}"
        );
        let found = instance.criteria(&schedule);
        assert!(
            reaches(found.makespan, least.makespan),
            "{algorithm}: {found:?} {least:?}"
        );
        assert!(
            reaches(found.weighted_completion, least.weighted_completion),
            "{algorithm}: {found:?} {least:?}"
        );
    }
}

fn is_right_online(instance: &MoldableInstance) {
    let least = online_bounds(instance);
    for algorithm in Algorithm::ALL {
        let schedule = algorithm.online(instance, NONE);
        assert_eq!(
            check(instance, &schedule, Releases::Kept),
            [],
            "{algorithm}"
        );
        let found = instance.criteria(&schedule);
        assert!(reaches(found.makespan, least.makespan), "{algorithm}");
        assert!(
            reaches(found.weighted_completion, least.weighted_completion),
            "{algorithm}"
        );
    }
}

/// Both bounds against the optimum, and the algorithms against it.
fn is_optimal(instance: &MoldableInstance) -> Result<(), TestCaseError> {
    let problem = instance.problem();
    let least = bounds(&problem);
    let best = optimum(&problem, 3_000_000);
    prop_assume!(best.is_some());
    let best = best.expect("assumed");
    prop_assert!(reaches(best.makespan, least.makespan), "{best:?} {least:?}");
    prop_assert!(
        reaches(best.weighted_completion, least.weighted_completion),
        "{best:?} {least:?}"
    );
    for algorithm in Algorithm::ALL {
        let found = instance.criteria(&algorithm.schedule(&problem, NONE));
        prop_assert!(reaches(found.makespan, best.makespan), "{}", algorithm);
        prop_assert!(
            reaches(found.weighted_completion, best.weighted_completion),
            "{}",
            algorithm
        );
    }
    Ok(())
}

proptest! {
    #[test]
    fn schedules_of_any_tasks_are_right(instance in common::any(12, 6)) {
        is_right(&instance);
        is_right_online(&instance);
    }

    #[test]
    fn schedules_of_monotonic_tasks_are_right(instance in common::monotonic(12, 7)) {
        is_right(&instance);
        is_right_online(&instance);
    }

    #[test]
    fn nothing_is_better_than_the_optimum(instance in common::any(5, 3)) {
        is_optimal(&instance)?;
    }

    #[test]
    fn nothing_is_better_than_the_optimum_of_monotonic_tasks(instance in common::monotonic(5, 4)) {
        is_optimal(&instance)?;
    }

    #[test]
    fn two_shelves_are_within_three_halves_of_the_bound(instance in common::monotonic(30, 12)) {
        let problem = instance.problem();
        let estimate = Estimate::of(&problem);
        prop_assert!(estimate.guess <= estimate.bound * (1.0 + 2e-6));
        let schedule = Shelves::of(&problem, &estimate).schedule(problem.processors);
        prop_assert!(schedule.is_some());
        let schedule = schedule.expect("a schedule");
        prop_assert_eq!(check(&instance, &schedule, Releases::Ignored), []);
        let makespan = instance.criteria(&schedule).makespan;
        prop_assert!(makespan <= 1.5 * estimate.guess * (1.0 + 1e-9));
    }

    #[test]
    fn equal_seeds_give_equal_schedules(instance in common::any(10, 5), seed in 0..9u64) {
        let problem = instance.problem();
        let of = |seed| Algorithm::Demt.schedule(&problem, some(seed));
        prop_assert_eq!(of(seed), of(seed));
        let first = instance.criteria(&Algorithm::Demt.schedule(&problem, NONE));
        let found = instance.criteria(&of(seed));
        prop_assert!(found.is_nowhere_worse(first));
        let better = Algorithm::DemtPlus.schedule(&problem, some(seed));
        prop_assert!(instance.criteria(&better).is_nowhere_worse(found));
    }
}

#[test]
fn the_papers_workloads_are_scheduled_right() {
    for model in WorkloadModel::ALL {
        for (tasks, processors) in [(1, 1), (3, 1), (40, 13), (60, 50)] {
            is_right(&generate(model, tasks, processors, 7).expect("an instance"));
        }
    }
}

#[test]
fn criteria_match_hand_calculations() {
    // Perfectly moldable: all on all processors, smallest area first (Section 3.1).
    let times = |work: f64| (1..=4u32).map(|count| work / f64::from(count)).collect();
    let instance = common::instance(4, &[(1.0, 0.0, times(8.0)), (1.0, 0.0, times(4.0))]);
    let expected = Criteria {
        makespan: 3.0,
        weighted_completion: 4.0,
    };
    let problem = instance.problem();
    assert_eq!(
        instance.criteria(&Algorithm::Gang.schedule(&problem, NONE)),
        expected
    );
    assert_eq!(optimum(&problem, 1000), Some(expected));
    assert!((bounds(&problem).makespan - 3.0).abs() < 1e-12);
    // A task that ends before t_0, at which the program of the paper would begin.
    let instance = common::instance(2, &[(1.0, 0.0, vec![1.0]), (1.0, 0.0, vec![1.5])]);
    let expected = Criteria {
        makespan: 1.5,
        weighted_completion: 2.5,
    };
    let found = bounds(&instance.problem());
    assert!(
        (found.weighted_completion - expected.weighted_completion).abs() < 1e-9,
        "{found:?}"
    );
    assert!((found.makespan - 1.5).abs() < 1e-9);
    // No tasks.
    let nothing = MoldableInstance::new(3).expect("a machine");
    let none = Criteria {
        makespan: 0.0,
        weighted_completion: 0.0,
    };
    assert_eq!(bounds(&nothing.problem()), none);
    assert_eq!(optimum(&nothing.problem(), 10), Some(none));
}
