//! The workloads of Section 4.1. The same seed gives the same tasks on every machine.

use std::fmt;
use std::str::FromStr;

use dfrs_moldable::{Task, downey};
use dfrs_random::Random;
use thiserror::Error;

use crate::instance::{InstanceError, MoldableInstance};

/// What the times come from.
const TIMES: u64 = 0;
/// What the weights come from: they are the same under all models.
const WEIGHTS: u64 = 1;

/// A model of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WorkloadModel {
    /// Sequential times uniform from 1 to 10, hardly faster on more processors.
    UniformWeak,
    /// Sequential times uniform from 1 to 10, nearly linear speedup.
    UniformHigh,
    /// Seven of ten tasks short and weakly parallel, the others long and highly parallel.
    Mixed,
    /// Sequential times uniform from 1 to 10, Downey's speedup.
    Cirne,
}

impl WorkloadModel {
    /// All, in the order of the paper's figures.
    pub const ALL: [Self; 4] = [
        Self::UniformWeak,
        Self::UniformHigh,
        Self::Mixed,
        Self::Cirne,
    ];

    /// The workload's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::UniformWeak => "uniform-weak",
            Self::UniformHigh => "uniform-high",
            Self::Mixed => "mixed",
            Self::Cirne => "cirne",
        }
    }
}

impl fmt::Display for WorkloadModel {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// There is no model of this name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no model {0:?}; take uniform-weak, uniform-high, mixed or cirne")]
pub struct UnknownModel(String);

impl FromStr for WorkloadModel {
    type Err = UnknownModel;

    fn from_str(name: &str) -> Result<Self, UnknownModel> {
        let found = Self::ALL.into_iter().find(|model| model.name() == name);
        found.ok_or_else(|| UnknownModel(name.into()))
    }
}

/// How much of its time a task of little and of much parallelism keeps with each processor more, as
/// a mean: near 1 it hardly gets faster.
const WEAK: f64 = 0.9;
const HIGH: f64 = 0.1;

/// Tasks 1, 2, … of a model, all released at 0, with weights uniform from 1 to 10. O(n m).
///
/// # Errors
///
/// An [`InstanceError`] if there are too many tasks or processors.
pub fn generate(
    model: WorkloadModel,
    tasks: usize,
    processors: u32,
    seed: u64,
) -> Result<MoldableInstance, InstanceError> {
    let mut instance = MoldableInstance::new(processors)?;
    let mut random = Random::new(seed, TIMES);
    let mut weights = Random::new(seed, WEIGHTS);
    for number in 1..=tasks {
        let times = times(model, processors, &mut random);
        let weight = weights.between(1.0, 10.0);
        let task = Task::new(number.to_string(), weight, 0.0, times, processors);
        // Positive times of at most some tens, so that there is such a task.
        instance.add(task.map_err(|_| InstanceError::Machine(processors))?)?;
    }
    Ok(instance)
}

fn times(model: WorkloadModel, processors: u32, random: &mut Random) -> Vec<f64> {
    let (sequential, mean) = match model {
        WorkloadModel::UniformWeak => (random.between(1.0, 10.0), WEAK),
        WorkloadModel::UniformHigh => (random.between(1.0, 10.0), HIGH),
        WorkloadModel::Mixed if random.chance(0.7) => (above_zero(1.0, 0.5, random), WEAK),
        WorkloadModel::Mixed => (above_zero(10.0, 5.0, random), HIGH),
        WorkloadModel::Cirne => {
            let sequential = random.between(1.0, 10.0);
            // W. Cirne, F. Berman (IPDPS 2001) take the speedup of A. Downey, and he an average
            // parallelism that is uniform in its logarithm.
            let max = libm::log(f64::from(processors));
            let parallelism = libm::exp(random.between(0.0, max));
            let variance = random.between(0.0, 2.0);
            return (1..=processors)
                .map(|count| sequential / downey(parallelism, variance, f64::from(count)))
                .collect();
        }
    };
    recurrence(sequential, mean, processors, random)
}

/// A Gaussian number above 0; others are drawn again. Times too short for a task would be, too.
fn above_zero(mean: f64, deviation: f64, random: &mut Random) -> f64 {
    loop {
        let drawn = mean + deviation * random.normal();
        if drawn > 1e-3 {
            return drawn;
        }
    }
}

/// p(j) = p(j-1) (X + j) / (1 + j) with an X of this mean for each j.
fn recurrence(sequential: f64, mean: f64, processors: u32, random: &mut Random) -> Vec<f64> {
    let mut time = sequential;
    let mut times = vec![time];
    for count in 2..=processors {
        let x = loop {
            let drawn = mean + 0.2 * random.normal();
            if (0.0..=1.0).contains(&drawn) {
                break drawn;
            }
        };
        time *= (x + f64::from(count)) / (1.0 + f64::from(count));
        times.push(time);
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workload_model_name_round_trips() {
        for model in WorkloadModel::ALL {
            assert_eq!(model.to_string().parse(), Ok(model));
        }
        assert!("x".parse::<WorkloadModel>().is_err());
    }

    #[test]
    fn the_same_seed_gives_the_same_tasks() {
        for model in WorkloadModel::ALL {
            let of = |seed| generate(model, 30, 20, seed).expect("an instance");
            assert_eq!(of(3), of(3));
            assert_ne!(of(3), of(4));
            for task in of(3).tasks() {
                assert!((1.0..=10.0).contains(&task.weight()));
                assert!(task.times().is_sorted_by(|one, next| next <= one));
                let work: Vec<f64> = (1..)
                    .zip(task.times())
                    .map(|(k, t)| f64::from(k) * t)
                    .collect();
                assert!(work.is_sorted_by(|one, next| *one <= next * (1.0 + 1e-12)));
            }
        }
    }

    /// Numbers that must never change, on any machine.
    #[test]
    fn tasks_of_a_seed_never_change() {
        let instance = generate(WorkloadModel::Mixed, 3, 4, 1).expect("an instance");
        let [first, .., last] = instance.tasks() else {
            panic!("three tasks");
        };
        assert_eq!(
            (first.weight(), last.weight()),
            (8.667_209_447_597_667, 6.028_772_946_677_62)
        );
        let expected = [
            0.623_235_769_809_887_8,
            0.563_839_947_939_588_7,
            0.554_558_911_738_556_9,
            0.506_243_531_025_631_9,
        ];
        assert_eq!(first.times(), expected);
        let expected = [
            10.900_556_555_360_183,
            8.061_618_873_511_232,
            6.581_068_237_759_257,
            5.533_703_032_598_002,
        ];
        assert_eq!(last.times(), expected);
    }

    #[test]
    fn highly_parallel_tasks_are_faster_on_many_processors() {
        let speedup = |model| {
            let instance = generate(model, 50, 200, 1).expect("an instance");
            let tasks = instance.tasks().iter();
            tasks
                .map(|task| task.times()[0] / task.times()[199])
                .sum::<f64>()
                / 50.0
        };
        let (weak, high) = (
            speedup(WorkloadModel::UniformWeak),
            speedup(WorkloadModel::UniformHigh),
        );
        assert!(weak < 3.0 && high > 30.0, "{weak} {high}");
    }
}
