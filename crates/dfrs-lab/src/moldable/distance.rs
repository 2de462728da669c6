//! How far algorithms are from the optimum, on instances that are small enough to know it.

use std::fmt::Write;

use dfrs_moldable::Criteria;
use dfrs_moldable_lab::workload::{WorkloadModel, generate};
use dfrs_moldable_lab::{Algorithm, MoldableInstance, Shuffles, optimum};

use crate::summary::{mean, quantile, sorted};

/// What is compared, on which instances.
pub struct DistanceTrial<'a> {
    /// What the tasks are like; all models if there are none.
    pub models: &'a [WorkloadModel],
    /// Number of tasks of an instance; the search for the optimum takes time exponential in it.
    pub tasks: usize,
    /// Number of processors.
    pub processors: u32,
    /// Instances of each model.
    pub instances: u64,
    /// Seed of the first instance; the others have the seeds after it.
    pub seed: u64,
    /// The algorithms.
    pub algorithms: &'a [Algorithm],
    /// Partial schedules that the search for one optimum looks at, at most.
    pub partial: u64,
}

/// A line for each model and algorithm.
///
/// # Errors
///
/// One line: an optimum is not found within so many partial schedules.
pub fn table(trial: &DistanceTrial) -> Result<String, String> {
    let models = match trial.models {
        [] => &WorkloadModel::ALL,
        some => some,
    };
    let mut table = format!(
        "{:<13} {:<16} {:>26}   {:>26}\n{:<30} {}   {}\n",
        "", "", "makespan over the optimum", "weighted completion", "model, algorithm", HEAD, HEAD
    );
    for model in models {
        let instances = instances(trial, *model)?;
        for algorithm in trial.algorithms {
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
    trial: &DistanceTrial,
    model: WorkloadModel,
) -> Result<Vec<(MoldableInstance, Criteria)>, String> {
    let one = |number: u64| {
        let seed = trial.seed.wrapping_add(number);
        let instance = generate(model, trial.tasks, trial.processors, seed)
            .map_err(|error| error.to_string())?;
        let best = optimum(&instance.problem(), trial.partial).ok_or_else(|| {
            format!(
                "{} tasks on {} processors ({model}, seed {seed}): the optimum is not found within {} \
                 partial schedules; take fewer tasks or processors",
                trial.tasks, trial.processors, trial.partial
            )
        })?;
        Ok((instance, best))
    };
    (0..trial.instances).map(one).collect()
}

fn ratios(algorithm: Algorithm, instances: &[(MoldableInstance, Criteria)]) -> Vec<Criteria> {
    let one = |(instance, best): &(MoldableInstance, Criteria)| {
        let none = Shuffles { count: 0, seed: 1 };
        let schedule = algorithm.schedule(&instance.problem(), none);
        let criteria = instance.criteria(&schedule);
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
