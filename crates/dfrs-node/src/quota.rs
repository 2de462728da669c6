//! From a share of the node to the kernel's CPU bandwidth: a quota of CPU time in each period.

use dfrs_proto::message::Share;

/// The period of most caps, in microseconds: the kernel's default. A job that has used its quota waits for
/// the next period, so this is also the longest time for which a cap stops it.
pub const LONG_PERIOD: u64 = 100_000;

/// The shortest period of a cap, in microseconds: of jobs whose tasks on other nodes wait meanwhile. See
/// docs/parallel.md for what shorter and longer ones cost.
pub const SHORT_PERIOD: u64 = 20_000;

/// Periods are whole milliseconds, so that a cap that changes a little keeps its period.
const PERIOD_STEP: u64 = 1_000;

/// The smallest quota that the kernel accepts, in microseconds.
pub const MIN_MICROSECONDS: u64 = 1_000;

/// CPU time that a cgroup may use in each period. Caps of the same cores with different periods are
/// different caps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    microseconds: u64,
    period: u64,
}

impl Quota {
    /// The quota for a share of a node with `capacity` cores (finite and positive, or it counts as
    /// nothing), in periods of [`LONG_PERIOD`]: rounded to the microsecond, at least
    /// [`MIN_MICROSECONDS`]. A share of 0 thus still lets a job creep at 1% of a core, as the kernel
    /// cannot do less without freezing it.
    pub fn of(share: Share, capacity: f64) -> Quota {
        Quota::in_periods(share.fraction() * capacity, LONG_PERIOD)
    }

    /// The quota as by [`Quota::of`], but in the shortest periods in which it is so much, from
    /// [`SHORT_PERIOD`] on.
    pub fn in_short_periods(share: Share, capacity: f64) -> Quota {
        let cores = share.fraction() * capacity;
        let steps = (MIN_MICROSECONDS as f64 / cores / PERIOD_STEP as f64).ceil();
        // No cores, or what is no number of them, are enough in no period.
        let period = if cores > 0.0 {
            whole(steps).saturating_mul(PERIOD_STEP)
        } else {
            LONG_PERIOD
        };
        Quota::in_periods(cores, period.clamp(SHORT_PERIOD, LONG_PERIOD))
    }

    fn in_periods(cores: f64, period: u64) -> Quota {
        Quota {
            microseconds: whole((cores * period as f64).round()).max(MIN_MICROSECONDS),
            period,
        }
    }

    /// A quota as the kernel reports it; none if the period is 0.
    pub fn from_kernel(quota: u64, period: u64) -> Option<Quota> {
        (period > 0).then_some(Quota {
            microseconds: quota,
            period,
        })
    }

    /// Microseconds of CPU time in each period.
    pub fn microseconds(self) -> u64 {
        self.microseconds
    }

    /// Microseconds of a period.
    pub fn period(self) -> u64 {
        self.period
    }

    /// The weight that goes with the cap, where one core weighs `one_core`: within `min..=max`.
    /// When a node has less to give than its caps add up to (its own system is busy), the kernel
    /// divides by weight, so that all jobs lose the same fraction of what they were promised.
    pub fn weight(self, one_core: u64, min: u64, max: u64) -> u64 {
        let exact = u128::from(self.microseconds) * u128::from(one_core) / u128::from(self.period);
        u64::try_from(exact).unwrap_or(max).clamp(min, max)
    }

    /// The cap in cores.
    pub fn cores(self) -> f64 {
        self.microseconds as f64 / self.period as f64
    }
}

/// A real number that is whole; 0 for what is negative or no number.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // `as` saturates
fn whole(number: f64) -> u64 {
    number as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Half a microsecond of the shortest period, in cores.
    const ROUNDING: f64 = 0.51 / SHORT_PERIOD as f64;

    fn both(share: f64, capacity: f64) -> [Quota; 2] {
        let share = Share::clamped(share);
        [
            Quota::of(share, capacity),
            Quota::in_short_periods(share, capacity),
        ]
    }

    /// Quota and period of both.
    fn numbers(share: f64, capacity: f64) -> [(u64, u64); 2] {
        both(share, capacity).map(|quota| (quota.microseconds(), quota.period()))
    }

    #[test]
    fn a_share_is_of_the_whole_node() {
        assert_eq!(numbers(0.25, 4.0), [(100_000, 100_000), (20_000, 20_000)]);
        assert_eq!(numbers(1.0, 2.0), [(200_000, 100_000), (40_000, 20_000)]);
        assert_eq!(
            numbers(1.0 / 3.0, 1.0),
            [(33_333, 100_000), (6_667, 20_000)]
        );
        assert_eq!(both(0.25, 2.0).map(Quota::cores), [0.5, 0.5]);
    }

    #[test]
    fn a_short_period_is_one_in_which_the_kernel_accepts_the_quota() {
        let short = |share| numbers(share, 1.0)[1];
        assert_eq!(short(0.05), (1_000, 20_000));
        assert_eq!(short(0.04), (1_000, 25_000));
        assert_eq!(short(0.03), (1_020, 34_000));
        assert_eq!(short(0.01), (1_000, 100_000));
    }

    #[test]
    fn never_less_than_the_kernel_accepts() {
        let least = [(MIN_MICROSECONDS, LONG_PERIOD); 2];
        assert_eq!(numbers(0.0, 4.0), least);
        assert_eq!(numbers(0.001, 1.0), least);
        assert_eq!(numbers(0.5, f64::NAN), least);
        assert_eq!(numbers(0.5, -1.0), least);
    }

    #[test]
    fn weights_are_in_proportion_within_the_kernels_bounds() {
        let weight =
            |share, capacity| Quota::of(Share::clamped(share), capacity).weight(100, 1, 10_000);
        assert_eq!((weight(0.25, 4.0), weight(0.5, 4.0)), (100, 200));
        assert_eq!((weight(0.0, 4.0), weight(1.0, 1000.0)), (1, 10_000));
    }

    #[test]
    fn other_periods_are_understood_and_are_other_caps() {
        let [long, short] = both(0.5, 1.0);
        assert_ne!(long, short);
        assert_eq!(Quota::from_kernel(50_000, 100_000), Some(long));
        assert_eq!(Quota::from_kernel(10_000, 20_000), Some(short));
        assert_eq!(Quota::from_kernel(1, 0), None);
    }

    proptest! {
        /// Caps of shares that fit the node together exceed it by rounding and minimum only.
        #[test]
        fn shares_that_fit_make_caps_that_fit(
            weights in proptest::collection::vec(0.0f64..1.0, 1..50),
            capacity in 0.5f64..256.0,
        ) {
            let sum: f64 = weights.iter().sum::<f64>().max(1e-9);
            let least = MIN_MICROSECONDS as f64 / LONG_PERIOD as f64;
            for which in 0..2 {
                let cap = |weight: &f64| both(weight / sum, capacity)[which].cores();
                let total: f64 = weights.iter().map(cap).sum();
                prop_assert!(total <= capacity + (least + ROUNDING) * weights.len() as f64);
            }
        }

        /// The kernel is given what was wanted, within its bounds.
        #[test]
        fn a_cap_is_the_share(share in 0.0f64..=1.0, capacity in 0.01f64..1000.0) {
            let wanted = (share * capacity).max(0.01);
            for (quota, period) in numbers(share, capacity) {
                prop_assert!((SHORT_PERIOD..=LONG_PERIOD).contains(&period));
                prop_assert!(period % PERIOD_STEP == 0 && quota >= MIN_MICROSECONDS);
                let cap = quota as f64 / period as f64;
                prop_assert!((cap - wanted).abs() <= ROUNDING, "{cap} for {wanted}");
            }
        }

        #[test]
        fn more_share_is_never_less_cap(a in 0.0f64..=1.0, b in 0.0f64..=1.0, capacity in 0.0f64..1000.0) {
            let less = both(a.min(b), capacity);
            let more = both(a.max(b), capacity);
            prop_assert!(less[0].microseconds() <= more[0].microseconds());
            prop_assert!(less[1].cores() <= more[1].cores() + ROUNDING);
        }
    }
}
