//! The bound on the weighted completion, against a linear-program solver.

mod common;

use dfrs_moldable::Estimate;
use dfrs_moldable_lab::workload::{WorkloadModel, generate};
use dfrs_moldable_lab::{MoldableInstance, weighted_completion_bound};
use good_lp::{Expression, ProblemVariables, Solution, SolverModel, constraint, microlp, variable};
use proptest::prelude::*;

/// The program as it is documented, from the tasks' times alone.
fn solved(instance: &MoldableInstance, guess: f64, is_papers: bool) -> f64 {
    let tasks = instance.tasks();
    let all = tasks.iter().flat_map(|task| task.times()).copied();
    let shortest = all.fold(f64::INFINITY, f64::min);
    let mut ends = vec![guess];
    while ends[0] / 2.0 >= shortest {
        ends.insert(0, ends[0] / 2.0);
    }
    ends.push(2.0 * guess);
    let mut variables = ProblemVariables::new();
    let mut objective = Expression::from(0.0);
    let mut used = vec![Expression::from(0.0); ends.len()];
    let mut whole = Vec::new();
    for task in tasks {
        let mut sum = Expression::from(0.0);
        let fastest = task.times().iter().copied().fold(f64::INFINITY, f64::min);
        for (place, end) in ends.iter().enumerate().skip(usize::from(is_papers)) {
            let areas = (1..).zip(task.times()).filter(|(_, time)| *time <= end);
            let area = areas
                .map(|(count, time)| f64::from(count) * time)
                .fold(f64::INFINITY, f64::min);
            if area.is_finite() {
                let begin = if place == 0 { fastest } else { ends[place - 1] };
                let part = variables.add(variable().min(0.0));
                objective += task.weight() * begin * part;
                sum += part;
                for later in &mut used[place..] {
                    *later += area / (f64::from(instance.processors()) * guess) * part;
                }
            }
        }
        whole.push(sum);
    }
    let mut model = variables.minimise(&objective).using(microlp);
    for sum in whole {
        model = model.with(constraint!(sum == 1.0));
    }
    for (sum, end) in used.into_iter().zip(&ends) {
        model = model.with(constraint!(sum <= end / guess));
    }
    let solution = model.solve().expect("a solution");
    solution.eval(&objective)
}

fn is_solved(instance: &MoldableInstance) {
    if instance.tasks().is_empty() {
        return;
    }
    let problem = instance.problem();
    let estimate = Estimate::of(&problem);
    let found = weighted_completion_bound(&problem, &estimate);
    let expected = solved(instance, estimate.guess, false);
    assert!(
        (found - expected).abs() <= 1e-7 * (1e-3 + expected),
        "{found} is not {expected}"
    );
}

proptest! {
    #[test]
    fn the_bound_is_the_optimum_of_the_program(instance in common::any(12, 5)) {
        is_solved(&instance);
    }

    #[test]
    fn bound_is_the_optimum_for_monotonic_tasks(instance in common::monotonic(25, 9)) {
        is_solved(&instance);
    }
}

#[test]
fn bound_is_the_optimum_for_the_papers_workloads() {
    for model in WorkloadModel::ALL {
        is_solved(&generate(model, 60, 40, 5).expect("an instance"));
    }
}

/// The interval before t_0 costs next to nothing where the paper uses its program.
#[test]
fn the_interval_before_the_first_makes_little_difference() {
    for model in WorkloadModel::ALL {
        let instance = generate(model, 40, 60, 2).expect("an instance");
        let problem = instance.problem();
        let estimate = Estimate::of(&problem);
        let found = weighted_completion_bound(&problem, &estimate);
        let papers = solved(&instance, estimate.guess, true);
        println!("{model}: {found} {papers} {}", found / papers);
        assert!(
            found <= papers * (1.0 + 1e-9) && found >= 0.95 * papers,
            "{model}: {found} {papers}"
        );
    }
}
