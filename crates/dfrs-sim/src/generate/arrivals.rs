//! When jobs are submitted: gaps of rush hours, stretched at other times of the day.

use dfrs_random::Random;

/// Parts of a day with a rate of submissions of their own: half hours.
const BUCKETS: usize = 48;
const BUCKET_SECONDS: f64 = 86_400.0 / BUCKETS as f64;

/// The half hour at which the day of the model begins, counted from midnight. What comes before it
/// belongs to the end of the day: the gamma distribution is over half hours 10.5 to 58.5.
const DAY_BEGINS: usize = 10;

/// Logarithm of the longest gap in rush hours: 5 days. Longer ones are drawn again.
const MAX_LOGARITHM: f64 = 13.0;

/// Parameters of submissions. The names in brackets are those of the published model.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArrivalParameters {
    /// Shape of the gamma distribution of the logarithm of a gap in rush hours, in seconds (`aarr`).
    pub gap_shape: f64,
    /// Scale of that distribution (`barr`).
    pub gap_scale: f64,
    /// What its shape is multiplied by, so that the gaps of the whole day come out right (`ARAR`).
    pub rush_to_all: f64,
    /// Shape of the gamma distribution of submissions over the half hours of the day (`anum`).
    pub day_shape: f64,
    /// Scale of that distribution (`bnum`).
    pub day_scale: f64,
}

/// Submissions one after the other, from midnight of the first day on.
///
/// A gap is drawn as it is in rush hours. A second of it takes as much longer in another half hour
/// of the day as fewer jobs come then.
pub(super) struct ArrivalClock {
    parameters: ArrivalParameters,
    /// Rate of each half hour from midnight on; 1 on average.
    rates: [f64; BUCKETS],
    /// The half hour of the last submission, counted from the beginning.
    bucket: usize,
    /// How much of the half hour had passed, in half hours of rate 1.
    passed: f64,
}

impl ArrivalClock {
    pub(super) fn new(parameters: ArrivalParameters) -> Self {
        Self {
            parameters,
            rates: rates(parameters.day_shape, parameters.day_scale),
            bucket: 0,
            passed: 0.0,
        }
    }

    /// The next submission, in whole seconds.
    pub(super) fn next(&mut self, random: &mut Random) -> u64 {
        let shape = self.parameters.gap_shape * self.parameters.rush_to_all;
        let logarithm = loop {
            let drawn = random.gamma(shape, self.parameters.gap_scale);
            if drawn <= MAX_LOGARITHM {
                break drawn;
            }
        };
        self.passed += libm::exp(logarithm) / BUCKET_SECONDS;
        while self.passed > self.rates[self.bucket % BUCKETS] {
            self.passed -= self.rates[self.bucket % BUCKETS];
            self.bucket += 1;
        }
        // Precise enough: half hours since the beginning.
        let whole = self.bucket as f64;
        let time = BUCKET_SECONDS * (whole + self.passed / self.rates[self.bucket % BUCKETS]);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // not negative
        let seconds = time as u64;
        seconds
    }
}

/// Rate of each half hour: the share of the gamma distribution that falls into it, over the mean
/// share.
fn rates(shape: f64, scale: f64) -> [f64; BUCKETS] {
    let mut rates = [0.0; BUCKETS];
    for after in 0..BUCKETS {
        // Precise enough: at most 58.
        let middle = (DAY_BEGINS + after + 1) as f64;
        rates[(DAY_BEGINS + after) % BUCKETS] = mass(shape, scale, middle - 0.5, middle + 0.5);
    }
    let mean = rates.iter().sum::<f64>() / BUCKETS as f64;
    rates.map(|rate| rate / mean)
}

/// The integral of the gamma distribution's density from `low` to `high` but for a constant factor,
/// by Simpson's rule: to about 1e-12, and no gamma function is needed.
fn mass(shape: f64, scale: f64, low: f64, high: f64) -> f64 {
    const STEPS: u32 = 32;
    let density = |x: f64| libm::exp((shape - 1.0) * libm::log(x) - x / scale);
    let step = (high - low) / f64::from(STEPS);
    let inner: f64 = (1..STEPS)
        .map(|at| density(low + f64::from(at) * step) * if at % 2 == 1 { 4.0 } else { 2.0 })
        .sum();
    (density(low) + inner + density(high)) * step / 3.0
}

#[cfg(test)]
mod tests {
    use super::super::Stream;
    use super::*;

    const ARRIVALS: ArrivalParameters = ArrivalParameters {
        gap_shape: 10.2303,
        gap_scale: 0.4871,
        rush_to_all: 1.0225,
        day_shape: 8.1737,
        day_scale: 3.9631,
    };

    #[test]
    fn rates_follow_the_day() {
        let rates = rates(ARRIVALS.day_shape, ARRIVALS.day_scale);
        assert!((rates.iter().sum::<f64>() - 48.0).abs() < 1e-9);
        let highest = (0..48).max_by(|one, other| rates[*one].total_cmp(&rates[*other]));
        // The mode is at (shape - 1) * scale = 28.4 half hours, which is in the half hour of 28.
        assert_eq!(highest, Some(27));
        let lowest = (0..48).min_by(|one, other| rates[*one].total_cmp(&rates[*other]));
        assert_eq!(lowest, Some(10));
        // Gamma with shape 2: the integral of x exp(-x) is -(x + 1) exp(-x).
        let exact = |x: f64| -(x + 1.0) * (-x).exp();
        assert!((mass(2.0, 1.0, 3.0, 4.0) - (exact(4.0) - exact(3.0))).abs() < 1e-9);
    }

    #[test]
    fn submissions_ascend_and_cluster_in_rush_hours() {
        let mut clock = ArrivalClock::new(ARRIVALS);
        let mut random = Stream::Jobs.of(5);
        let times: Vec<u64> = (0..5_000).map(|_| clock.next(&mut random)).collect();
        assert!(times.is_sorted());
        let within = |from: u64, to: u64| {
            let hour = |time: &u64| time / 3_600 % 24;
            times
                .iter()
                .filter(|time| (from..to).contains(&hour(time)))
                .count()
        };
        assert!(within(11, 17) > 3 * within(23, 24) + 3 * within(0, 5));
    }
}
