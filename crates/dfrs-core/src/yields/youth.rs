//! Weights that fall with virtual time.

use super::Placed;
use crate::units::Span;

/// Added to virtual times, so that the youngest jobs are not worth without bound more than others.
const OFFSET: f64 = 10.0;

/// From this virtual time on a job counts as long, and its number of tasks counts: one that holds many
/// nodes is in the way of many.
const LONG: Span = Span::from_seconds(1000);

/// The weight of a job of weight 1 without virtual time is this over the square root of [`OFFSET`]: large
/// enough that weights of old jobs still differ as whole numbers.
const SCALE: f64 = 1e6;

/// A job's weight when CPU is shared by virtual time: its own, over the square root of virtual time plus
/// 10 s; for jobs of more than 1,000 s times the fourth root of the number of tasks. At least 1.
///
/// Virtual times are rounded down to an eighth of the power of two below, so that yields, and what nodes
/// are told, change a few dozen times in a job's life and not at every event. Only square roots are
/// taken, which are the same on every machine. O(1), O(runs) for long jobs.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "weights are small"
)]
pub(super) fn weight(placed: &Placed<'_>) -> u32 {
    let virtual_time = placed.virtual_time.max(Span::ZERO);
    let age = rounded(virtual_time).seconds() + OFFSET;
    let width = if virtual_time > LONG {
        (placed.mapping.tasks() as f64).sqrt().sqrt()
    } else {
        1.0
    };
    // A conversion to a whole number saturates.
    ((SCALE * placed.job.weight.factor() * width / age.sqrt()) as u32).max(1)
}

/// The time without all but its four highest binary digits.
fn rounded(time: Span) -> Span {
    let digits = i64::BITS - time.0.leading_zeros();
    let dropped = digits.saturating_sub(4);
    Span(time.0 >> dropped << dropped)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Job, JobId, Mapping, NodeIndex};
    use crate::units::{Bytes, Cores, Time, Weight};

    fn weight_of(tasks: u32, seconds: i64, own: u32) -> u32 {
        let mut job = Job::new(JobId(1), Time(0), tasks, Cores(1), Bytes(1));
        job.virtual_time = Span::from_seconds(seconds);
        job.weight = Weight(own);
        let mapping = Mapping::from_tasks((0..tasks).map(NodeIndex));
        weight(&Placed::new(&job, &mapping))
    }

    #[test]
    fn weights_fall_with_virtual_time() {
        assert_eq!(weight_of(1, 0, 1000), 316_227);
        let at = |seconds| f64::from(weight_of(1, seconds, 1000)) / 316_227.0;
        // 90 s count as 83.9: the square root of 10 over 93.9.
        assert!((at(90) - 0.326).abs() < 0.001, "{}", at(90));
        assert!(at(100_000) < 0.011 && at(100_000_000) > 0.0003);
        let all: Vec<u32> = (0..2000).map(|time| weight_of(1, time, 1000)).collect();
        assert!(all.is_sorted_by(|before, after| before >= after));
    }

    #[test]
    fn wide_jobs_weigh_more_once_they_are_long() {
        assert_eq!(weight_of(16, 500, 1000), weight_of(1, 500, 1000));
        let (wide, narrow) = (weight_of(16, 2000, 1000), weight_of(1, 2000, 1000));
        assert!(wide.abs_diff(2 * narrow) <= 1, "{wide} {narrow}");
    }

    #[test]
    fn a_jobs_own_weight_multiplies_and_none_is_zero() {
        assert_eq!(weight_of(1, 0, 2000), 632_455);
        assert_eq!(weight_of(1, i64::MAX / 1_000_000, 0), 1);
        assert_eq!(weight_of(1, 0, u32::MAX), u32::MAX);
    }

    #[test]
    fn virtual_times_are_rounded_down() {
        for (time, kept) in [
            (0, 0),
            (15, 15),
            (16, 16),
            (17, 16),
            (1023, 960),
            (i64::MAX, 15 << 59),
        ] {
            assert_eq!(rounded(Span(time)), Span(kept));
        }
    }
}
