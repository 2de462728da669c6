//! What jobs weigh beside each other, from Slurm's priorities.

use dfrs_core::{Span, Weight};
use dfrs_proto::conf::{Config, Weighting};

use crate::slurm::observation::Observation;
use crate::slurm::records::ObservedJob;

/// Weights go from 2^-3 to 2^3: below and above, an ordinary job would starve, or all others.
const MAX_DOUBLINGS: f64 = 3.0;
/// Weights come in steps of 2^(1/4), lest every change of a priority change all caps.
const STEPS_PER_DOUBLING: f64 = 4.0;

/// How often the median is looked at: a pass costs what changed, and this costs all jobs. Slurm
/// itself computes priorities every `PriorityCalcPeriod`, five minutes by default.
pub const MEDIAN_PERIOD: Span = Span::from_seconds(30);

/// The weights of the jobs of one observation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Weights {
    /// The priority of a job of weight 1; `None`: all jobs have that weight.
    ordinary: Option<f64>,
}

impl Weights {
    /// The weights by `JobWeight`. O(jobs) where priorities count.
    pub fn new(observation: &Observation, config: &Config) -> Self {
        Self {
            ordinary: match config.job_weight {
                Weighting::Equal => None,
                Weighting::Priority => median_priority(observation),
            },
        }
    }

    /// The weights after some time. Nearly every submission and every end moves the median a
    /// little, and what was made by weights has to be made again when it does. So the old one stays
    /// until the new one is half a step away: an ordinary job weighs 1 all the while. O(jobs) where
    /// priorities count: call this once in [`MEDIAN_PERIOD`].
    pub fn followed(&self, observation: &Observation, config: &Config) -> Self {
        let new = Self::new(observation, config);
        match (self.ordinary, new.ordinary) {
            (Some(old), Some(median)) if steps(median / old).abs() < 0.5 => *self,
            _ => new,
        }
    }

    /// What this job weighs: its priority over the median. One without a priority weighs 1.
    pub fn of(&self, job: &ObservedJob) -> Weight {
        let Some(ordinary) = self.ordinary.filter(|_| job.priority > 0) else {
            return Weight::ONE;
        };
        let max_steps = MAX_DOUBLINGS * STEPS_PER_DOUBLING;
        let steps = steps(f64::from(job.priority) / ordinary).round();
        let factor = (steps.clamp(-max_steps, max_steps) / STEPS_PER_DOUBLING).exp2();
        // Between 125 and 8000.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        Weight((factor * 1000.0).round() as u32)
    }
}

/// The weight of a job that has to be over by a time and would not be with its share: the greatest
/// that there is.
pub fn deadline_boosted(weight: Weight) -> Weight {
    // 2^MAX_DOUBLINGS thousandths.
    const MAX_WEIGHT: u32 = 8000;
    Weight(weight.0.max(MAX_WEIGHT))
}

/// How many steps of weights make this factor.
fn steps(factor: f64) -> f64 {
    factor.log2() * STEPS_PER_DOUBLING
}

/// The lower median of the priorities that are known. O(jobs).
fn median_priority(observation: &Observation) -> Option<f64> {
    let priorities = observation.jobs().map(|job| job.priority);
    let mut known: Vec<u32> = priorities.filter(|priority| *priority > 0).collect();
    let middle = known.len().checked_sub(1)? / 2;
    let (_, median, _) = known.select_nth_unstable(middle);
    Some(f64::from(*median))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{config, job, nodes};

    fn observation(priorities: &[u32]) -> Observation {
        let jobs = (1..).zip(priorities).map(|(id, priority)| ObservedJob {
            priority: *priority,
            ..job(id, 1)
        });
        Observation::new(jobs, nodes(1))
    }

    fn weighs(job_weight: Weighting) -> Config {
        Config {
            job_weight,
            ..config()
        }
    }

    /// Weights, in thousandths, of jobs with these priorities.
    fn weights(weighting: Weighting, priorities: &[u32]) -> Vec<u32> {
        let (observation, config) = (observation(priorities), weighs(weighting));
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
    fn a_median_stays_until_it_is_half_a_step_away() {
        let followed = |before: Weights, median: u32| {
            let observation = observation(&[median; 3]);
            let weights = before.followed(&observation, &weighs(Weighting::Priority));
            let ordinary = observation.job(1).map(|job| weights.of(job));
            assert_eq!(ordinary, Some(Weight::ONE), "also where the old one stays");
            weights.ordinary
        };
        let first = Weights {
            ordinary: Some(1000.0),
        };
        // 2^(1/8) is 1.0905.
        for stays in [918, 990, 1010, 1090] {
            assert_eq!(followed(first, stays), Some(1000.0), "{stays}");
        }
        for moves in [916, 1091, 5000] {
            assert_eq!(followed(first, moves), Some(f64::from(moves)));
        }
        assert_eq!(followed(Weights::default(), 1010), Some(1010.0));
        let none = first.followed(&observation(&[0]), &weighs(Weighting::Priority));
        let equal = first.followed(&observation(&[1000]), &weighs(Weighting::Equal));
        assert_eq!((none, equal), (Weights::default(), Weights::default()));
    }

    #[test]
    fn a_job_without_a_priority_is_an_ordinary_one() {
        assert_eq!(weights(Weighting::Priority, &[0, 800]), [1000; 2]);
        assert_eq!(weights(Weighting::Priority, &[0]), [1000]);
    }
}
