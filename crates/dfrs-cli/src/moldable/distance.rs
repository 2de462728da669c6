//! How far algorithms are from the optimum, on instances that are small enough to know it.

use std::fmt::Write;

use clap::Args;
use dfrs_moldable::workload::{WorkloadModel, generate};
use dfrs_moldable::{Algorithm, Criteria, MoldableInstance, Problem, Shuffles, optimum};

use dfrs_lab::summary::{mean, quantile, sorted};

/// Compares algorithms with the optimum of small instances, generated from seeds.
///
/// Either criterion has an optimum, and a schedule, of its own, found by branch and bound. Exit code 2: an
/// instance is too large for that.
#[derive(Args)]
pub struct DistanceArguments {
    /// What the tasks are like: uniform-weak, uniform-high, mixed or cirne; may be given many times; all four if not
    #[arg(long, num_args = 1..)]
    model: Vec<WorkloadModel>,
    /// Number of tasks
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u64).range(1..=12))]
    tasks: u64,
    /// Number of processors
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=16))]
    processors: u32,
    /// Instances of each model
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    instances: u64,
    /// Seed of the first instance; the others have the seeds after it
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// What to compare; may be given many times
    #[arg(long, value_name = "NAME", num_args = 1.., default_values = ["DEMT", "DEMT+"])]
    algorithm: Vec<Algorithm>,
    /// Partial schedules that the search for one optimum looks at, at most
    #[arg(long, value_name = "NUMBER", default_value_t = 100_000_000)]
    partial: u64,
}

/// A line for each model and algorithm.
pub fn table(arguments: &DistanceArguments) -> Result<String, String> {
    let models = match arguments.model.as_slice() {
        [] => &WorkloadModel::ALL,
        some => some,
    };
    let mut table = format!(
        "{:<13} {:<16} {:>26}   {:>26}\n{:<30} {}   {}\n",
        "", "", "makespan over the optimum", "weighted completion", "model, algorithm", HEAD, HEAD
    );
    for model in models {
        let instances = instances(arguments, *model)?;
        for algorithm in &arguments.algorithm {
            let ratios = ratios(*algorithm, &instances);
            let makespans = summary(ratios.iter().map(|ratio| ratio.makespan));
            let completions = summary(ratios.iter().map(|ratio| ratio.weighted_completion));
            let (model, algorithm) = (model.name(), algorithm.name());
            let _ = writeln!(
                table,
                "{model:<13} {algorithm:<16} {makespans}   {completions}"
            ); // a String takes all
        }
    }
    Ok(table)
}

const HEAD: &str = "    mean   median  largest";

/// Instances with their optimum.
fn instances(
    arguments: &DistanceArguments,
    model: WorkloadModel,
) -> Result<Vec<(MoldableInstance, Criteria)>, String> {
    let tasks = usize::try_from(arguments.tasks).unwrap_or(usize::MAX);
    let one = |number: u64| {
        let seed = arguments.seed.wrapping_add(number);
        let instance = generate(model, tasks, arguments.processors, seed)
            .map_err(|error| error.to_string())?;
        let best = optimum(&Problem::of(&instance), arguments.partial).ok_or_else(|| {
            format!(
                "{} tasks on {} processors ({model}, seed {seed}): the optimum is not found within {} \
                 partial schedules; take fewer tasks or processors",
                arguments.tasks, arguments.processors, arguments.partial
            )
        })?;
        Ok((instance, best))
    };
    (0..arguments.instances).map(one).collect()
}

fn ratios(algorithm: Algorithm, instances: &[(MoldableInstance, Criteria)]) -> Vec<Criteria> {
    let one = |(instance, best): &(MoldableInstance, Criteria)| {
        let none = Shuffles { count: 0, seed: 1 };
        let schedule = algorithm.schedule(&Problem::of(instance), none);
        let criteria = schedule.criteria(instance);
        Criteria {
            makespan: criteria.makespan / best.makespan,
            weighted_completion: criteria.weighted_completion / best.weighted_completion,
        }
    };
    instances.iter().map(one).collect()
}

fn summary(values: impl Iterator<Item = f64>) -> String {
    let values = sorted(&values.collect::<Vec<_>>());
    let mean = mean(values.iter().copied());
    let [median, largest] = [0.5, 1.0].map(|part| quantile(&values, part));
    format!("{mean:>8.3} {median:>8.3} {largest:>8.3}")
}
