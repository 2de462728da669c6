//! `dfrs moldable distance`: how far algorithms are from the optimum.

use clap::Args;
use dfrs_lab::moldable::distance::{self, DistanceTrial};
use dfrs_moldable_lab::Algorithm;
use dfrs_moldable_lab::workload::WorkloadModel;

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
    distance::table(&DistanceTrial {
        models: &arguments.model,
        tasks: usize::try_from(arguments.tasks).unwrap_or(usize::MAX),
        processors: arguments.processors,
        instances: arguments.instances,
        seed: arguments.seed,
        algorithms: &arguments.algorithm,
        partial: arguments.partial,
    })
}
