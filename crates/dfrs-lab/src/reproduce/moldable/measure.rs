//! What is measured: all algorithms on the same tasks, and the bounds.

use std::collections::BTreeMap;
use std::time::Instant;

use dfrs_moldable::Criteria;
use dfrs_moldable_lab::workload::{WorkloadModel, generate};
use dfrs_moldable_lab::{Algorithm, Shuffles, bounds};
use serde::{Deserialize, Serialize};

use super::{Figure, PROCESSORS, TASKS};
use crate::runs::Runs;
use crate::summary::mean;

/// The tasks of one run.
#[derive(Clone, Debug, Serialize)]
struct MoldableRun {
    moldable: &'static str,
    tasks: u32,
    processors: u32,
    seed: u64,
    #[serde(skip)]
    model: WorkloadModel,
}

/// What one run gave.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct MoldableMeasures {
    bound_makespan: f64,
    bound_weighted_completion: f64,
    /// For each algorithm makespan, weighted completion and seconds.
    algorithms: Vec<(f64, f64, f64)>,
}

/// What is divided by its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RatioCriterion {
    Makespan,
    WeightedCompletion,
}

impl RatioCriterion {
    pub const ALL: [Self; 2] = [Self::Makespan, Self::WeightedCompletion];

    /// Its name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Makespan => "makespan",
            Self::WeightedCompletion => "weighted-completion",
        }
    }

    /// Its name for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Makespan => "makespan",
            Self::WeightedCompletion => "weighted completion (minsum)",
        }
    }
}

/// Ratios over the runs of one number of tasks.
#[derive(Clone, Copy, Debug)]
pub struct RatioPoint {
    pub min: f64,
    /// The sum of the values over the sum of the bounds, as in the paper.
    pub average: f64,
    pub max: f64,
}

/// All runs of the chosen figures.
pub struct Ratios {
    /// Runs for each number of tasks.
    pub runs: u32,
    measured: BTreeMap<(WorkloadModel, u32), Vec<MoldableMeasures>>,
}

impl Ratios {
    /// Does all runs of the figures: so many for each model and number of tasks, with seeds from this one
    /// on.
    pub fn get(
        figures: &[&Figure],
        count: u32,
        seed: u64,
        runs: &mut Runs,
    ) -> Result<Self, String> {
        let mut models: Vec<WorkloadModel> = figures
            .iter()
            .flat_map(|figure| figure.models)
            .copied()
            .collect();
        models.sort_unstable();
        models.dedup();
        let mut wanted = Vec::new();
        for model in models {
            for tasks in TASKS.iter().rev() {
                wanted.extend((0..count).map(|number| MoldableRun {
                    moldable: model.name(),
                    tasks: *tasks,
                    processors: PROCESSORS,
                    seed: seed.wrapping_add(u64::from(number)),
                    model,
                }));
            }
        }
        let found = runs.execute("moldable tasks", &wanted, execute)?;
        let mut measured: BTreeMap<(WorkloadModel, u32), Vec<MoldableMeasures>> = BTreeMap::new();
        for (run, found) in wanted.iter().zip(found) {
            measured
                .entry((run.model, run.tasks))
                .or_default()
                .push(found);
        }
        Ok(Self {
            runs: count,
            measured,
        })
    }

    /// Minimum, average and maximum ratio to the bound; none if it was not measured.
    pub fn point(
        &self,
        model: WorkloadModel,
        tasks: u32,
        algorithm: Algorithm,
        criterion: RatioCriterion,
    ) -> Option<RatioPoint> {
        let runs = self.measured.get(&(model, tasks))?.iter();
        let pairs = runs.map(|measured| measured.value_and_bound(algorithm, criterion));
        let pairs: Vec<(f64, f64)> = pairs.collect::<Option<_>>()?;
        let ratios = pairs.iter().map(|(value, bound)| value / bound);
        let sums = pairs
            .iter()
            .fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
        Some(RatioPoint {
            min: ratios.clone().fold(f64::INFINITY, f64::min),
            average: sums.0 / sums.1,
            max: ratios.fold(0.0, f64::max),
        })
    }

    /// The ratios of single runs.
    pub fn all(&self, algorithm: Algorithm, criterion: RatioCriterion) -> Vec<f64> {
        let runs = self.measured.values().flatten();
        let pairs = runs.filter_map(|measured| measured.value_and_bound(algorithm, criterion));
        pairs.map(|(value, bound)| value / bound).collect()
    }

    /// Mean and longest time of an algorithm, in seconds.
    pub fn seconds(
        &self,
        model: WorkloadModel,
        tasks: u32,
        algorithm: Algorithm,
    ) -> Option<(f64, f64)> {
        let runs = self.measured.get(&(model, tasks))?.iter();
        let seconds = runs.map(|measured| measured.of(algorithm).map(|found| found.2));
        let seconds: Vec<f64> = seconds.collect::<Option<_>>()?;
        let longest = seconds.iter().copied().fold(0.0, f64::max);
        Some((mean(seconds.into_iter()), longest))
    }
}

impl MoldableMeasures {
    /// Makespan, weighted completion and seconds of an algorithm.
    fn of(&self, algorithm: Algorithm) -> Option<(f64, f64, f64)> {
        let mut known = Algorithm::ALL.iter();
        let place = known.position(|known| *known == algorithm)?;
        self.algorithms.get(place).copied()
    }

    fn value_and_bound(
        &self,
        algorithm: Algorithm,
        criterion: RatioCriterion,
    ) -> Option<(f64, f64)> {
        let (makespan, weighted, _) = self.of(algorithm)?;
        Some(match criterion {
            RatioCriterion::Makespan => (makespan, self.bound_makespan),
            RatioCriterion::WeightedCompletion => (weighted, self.bound_weighted_completion),
        })
    }
}

fn execute(run: &MoldableRun) -> Result<MoldableMeasures, String> {
    let tasks = run.tasks as usize;
    let instance = generate(run.model, tasks, run.processors, run.seed)
        .map_err(|error| format!("{}: {error}", run.moldable))?;
    let problem = instance.problem();
    let lower_bounds = bounds(&problem);
    let measure = |algorithm: Algorithm| {
        let begin = Instant::now();
        let schedule = algorithm.schedule(&problem, Shuffles::default());
        let seconds = begin.elapsed().as_secs_f64();
        let Criteria {
            makespan,
            weighted_completion,
        } = instance.criteria(&schedule);
        (makespan, weighted_completion, seconds)
    };
    Ok(MoldableMeasures {
        bound_makespan: lower_bounds.makespan,
        bound_weighted_completion: lower_bounds.weighted_completion,
        algorithms: Algorithm::ALL.map(measure).to_vec(),
    })
}
