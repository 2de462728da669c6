//! From a share of the node to the kernel's CPU bandwidth: a quota of CPU time in each period.

use dfrs_proto::message::Share;

/// The period of every cap, in microseconds: the kernel's default. A job that has used its quota
/// waits for the next period, so this is also the longest time for which a cap stops it.
pub const PERIOD_MICROSECONDS: u64 = 100_000;

/// The smallest quota that the kernel accepts, in microseconds.
pub const MINIMUM_MICROSECONDS: u64 = 1_000;

/// CPU time in microseconds that a cgroup may use in each [`PERIOD_MICROSECONDS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quota(u64);

impl Quota {
    /// The quota for a share of a node with `capacity` cores (finite and positive, or it counts as
    /// nothing): rounded to the microsecond, at least [`MINIMUM_MICROSECONDS`]. A share of 0 thus
    /// still lets a job creep at 1% of a core, as the kernel cannot do less without freezing it.
    pub fn of(share: Share, capacity: f64) -> Quota {
        let wanted = (share.fraction() * capacity * PERIOD_MICROSECONDS as f64).round();
        // Truncation and sign loss: `as` saturates, and makes 0 of what is negative or no number.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let microseconds = wanted as u64;
        Quota(microseconds.max(MINIMUM_MICROSECONDS))
    }

    /// A quota as the kernel reports it, brought to our period; none if the period is 0.
    pub fn from_kernel(quota: u64, period: u64) -> Option<Quota> {
        let scaled = u128::from(quota) * u128::from(PERIOD_MICROSECONDS);
        let microseconds = scaled.checked_div(u128::from(period))?;
        u64::try_from(microseconds).ok().map(Quota)
    }

    /// Microseconds in each period.
    pub fn microseconds(self) -> u64 {
        self.0
    }

    /// The weight that goes with the cap, where one core weighs `one_core`: within `least..=most`.
    /// When a node has less to give than its caps add up to (its own system is busy), the kernel
    /// divides by weight, so that all jobs lose the same fraction of what they were promised.
    pub fn weight(self, one_core: u64, least: u64, most: u64) -> u64 {
        let exact = u128::from(self.0) * u128::from(one_core) / u128::from(PERIOD_MICROSECONDS);
        u64::try_from(exact).unwrap_or(most).clamp(least, most)
    }

    /// The cap in cores.
    pub fn cores(self) -> f64 {
        self.0 as f64 / PERIOD_MICROSECONDS as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn quota(share: f64, capacity: f64) -> u64 {
        Quota::of(Share::clamped(share), capacity).microseconds()
    }

    #[test]
    fn a_share_is_of_the_whole_node() {
        assert_eq!(quota(0.25, 4.0), 100_000);
        assert_eq!(quota(1.0, 2.0), 200_000);
        assert_eq!(quota(1.0 / 3.0, 1.0), 33_333);
        assert_eq!(Quota::of(Share::clamped(0.25), 2.0).cores(), 0.5);
    }

    #[test]
    fn never_less_than_the_kernel_accepts() {
        assert_eq!(quota(0.0, 4.0), MINIMUM_MICROSECONDS);
        assert_eq!(quota(0.001, 1.0), MINIMUM_MICROSECONDS);
        assert_eq!(quota(0.5, f64::NAN), MINIMUM_MICROSECONDS);
        assert_eq!(quota(0.5, -1.0), MINIMUM_MICROSECONDS);
    }

    #[test]
    fn weights_are_in_proportion_within_the_kernels_bounds() {
        let weight =
            |share, capacity| Quota::of(Share::clamped(share), capacity).weight(100, 1, 10_000);
        assert_eq!((weight(0.25, 4.0), weight(0.5, 4.0)), (100, 200));
        assert_eq!((weight(0.0, 4.0), weight(1.0, 1000.0)), (1, 10_000));
    }

    #[test]
    fn other_periods_are_understood() {
        assert_eq!(Quota::from_kernel(25_000, 50_000), Some(Quota(50_000)));
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
            let total: u64 = weights.iter().map(|weight| quota(weight / sum, capacity)).sum();
            let slack = (MINIMUM_MICROSECONDS + 1) * weights.len() as u64;
            prop_assert!((total as f64) <= capacity * 100_000.0 + slack as f64);
        }

        #[test]
        fn more_share_is_never_less_quota(a in 0.0f64..=1.0, b in 0.0f64..=1.0, capacity in 0.0f64..1000.0) {
            prop_assert!(quota(a.min(b), capacity) <= quota(a.max(b), capacity));
        }
    }
}
