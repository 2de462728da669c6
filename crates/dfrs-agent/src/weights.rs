//! What jobs weigh beside each other, from Slurm's priorities.

use dfrs_core::Weight;
use dfrs_proto::conf::{Config, Weighting};

use crate::observation::{Observation, ObservedJob};

/// Weights go from 2^-3 to 2^3: below and above, an ordinary job would starve, or all others.
const MOST_DOUBLINGS: f64 = 3.0;
/// Weights come in steps of 2^(1/4), lest every change of a priority change all caps.
const STEPS_PER_DOUBLING: f64 = 4.0;

/// The weights of the jobs of one observation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Weights {
    /// The priority of a job of weight 1; `None`: all jobs have that weight.
    ordinary: Option<f64>,
}

impl Weights {
    /// The weights that `JobWeight` asks for. O(n log n) in jobs.
    #[must_use]
    pub fn new(observation: &Observation, config: &Config) -> Self {
        Self {
            ordinary: match config.job_weight {
                Weighting::Equal => None,
                Weighting::Priority => median_priority(observation),
            },
        }
    }

    /// What this job weighs: its priority over the median. One without a priority weighs 1.
    #[must_use]
    pub fn of(&self, job: &ObservedJob) -> Weight {
        let Some(ordinary) = self.ordinary.filter(|_| job.priority > 0) else {
            return Weight::ONE;
        };
        let doublings = (f64::from(job.priority) / ordinary)
            .log2()
            .clamp(-MOST_DOUBLINGS, MOST_DOUBLINGS);
        let factor = ((doublings * STEPS_PER_DOUBLING).round() / STEPS_PER_DOUBLING).exp2();
        // Between 125 and 8000.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        Weight((factor * 1000.0).round() as u32)
    }
}

/// The weight of a job that has to be over by a time and would not be with its share: the greatest that
/// there is.
#[must_use]
pub fn hurried(weight: Weight) -> Weight {
    // 2^MOST_DOUBLINGS thousandths.
    const GREATEST: u32 = 8000;
    Weight(weight.0.max(GREATEST))
}

/// The lower median of the priorities that are known.
fn median_priority(observation: &Observation) -> Option<f64> {
    let priorities = observation.jobs().map(|job| job.priority);
    let mut known: Vec<u32> = priorities.filter(|priority| *priority > 0).collect();
    known.sort_unstable();
    let middle = known.len().checked_sub(1)? / 2;
    known.get(middle).copied().map(f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{config, job, nodes};

    /// Weights, in thousandths, of jobs with these priorities.
    fn weights(weighting: Weighting, priorities: &[u32]) -> Vec<u32> {
        let jobs = (1..).zip(priorities).map(|(id, priority)| ObservedJob {
            priority: *priority,
            ..job(id, 1)
        });
        let observation = Observation::new(jobs, nodes(1));
        let mut config = config();
        config.job_weight = weighting;
        let weights = Weights::new(&observation, &config);
        let of = |job| weights.of(job).0;
        observation.jobs().map(of).collect()
    }

    #[test]
    fn all_are_equal_unless_priorities_count() {
        assert_eq!(weights(Weighting::Equal, &[1, 10, 1000]), [1000; 3]);
    }

    #[test]
    fn a_weight_is_the_priority_over_the_median() {
        let priorities = [500, 1000, 2000, 1000];
        let expected = [500, 1000, 2000, 1000];
        assert_eq!(weights(Weighting::Priority, &priorities), expected);
    }

    #[test]
    fn weights_are_bounded_and_come_in_steps() {
        let priorities = [1, 990, 1000, 1050, 1200, 4_000_000_000];
        let expected = [125, 1000, 1000, 1000, 1189, 8000];
        assert_eq!(weights(Weighting::Priority, &priorities), expected);
    }

    #[test]
    fn priorities_of_priority_basic_are_all_alike() {
        let priorities = [4_294_901_759, 4_294_901_000, 4_294_000_000];
        assert_eq!(weights(Weighting::Priority, &priorities), [1000; 3]);
    }

    #[test]
    fn a_job_without_a_priority_is_an_ordinary_one() {
        assert_eq!(weights(Weighting::Priority, &[0, 800]), [1000; 2]);
        assert_eq!(weights(Weighting::Priority, &[0]), [1000]);
    }
}
