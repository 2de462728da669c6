//! Weights that fall with virtual time.

use crate::constraints::Placed;
use crate::model::Node;
use crate::space::share;
use crate::units::Span;

/// Added to virtual times, so that the youngest jobs are not worth without bound more than others.
const OFFSET: f64 = 10.0;

/// From this virtual time on a job counts as long, and its number of tasks counts: one that holds
/// many nodes is in the way of many.
const LONG: Span = Span::from_seconds(1000);

/// The least part of a node that counts.
const MIN_SHARE: f64 = 0.05;

/// The weight of a job of weight 1 without virtual time is this over the square root of [`OFFSET`]:
/// large enough that weights of old jobs still differ as whole numbers.
const SCALE: f64 = 1e6;

/// A job's weight when CPU is shared by virtual time: its own, over the square root of virtual time
/// plus 10 s; for jobs of more than 1,000 s times the fourth root of the number of tasks. If such a
/// job cannot move freely, it holds its memory until its end: then times the number of tasks to the
/// power of 1.5, and the square of what a task requires of a node's memory over what it needs of
/// its CPU. At least 1.
///
/// Virtual times are rounded down to an eighth of the power of two below, so that yields, and
/// orders to nodes, change a few dozen times in a job's life and not at every event. Only square
/// roots are taken, which are the same on every machine. O(1), O(runs) for long jobs.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "weights are small"
)]
pub(super) fn weight(nodes: &[Node], placed: &Placed<'_>) -> u32 {
    let virtual_time = placed.virtual_time.max(Span::ZERO);
    let age = rounded(virtual_time).seconds() + OFFSET;
    let tasks = placed.mapping.tasks() as f64;
    let width = if virtual_time <= LONG {
        1.0
    } else if placed.job.moves_freely() {
        tasks.sqrt().sqrt()
    } else {
        let density = density(nodes, placed);
        tasks * tasks.sqrt() * density * density
    };
    // A conversion to a whole number saturates.
    ((SCALE * placed.job.weight.factor() * width / age.sqrt()) as u32).max(1)
}

/// What a task requires of its node's memory over what it needs of its CPU, each at least a
/// twentieth.
fn density(nodes: &[Node], placed: &Placed<'_>) -> f64 {
    let first = placed.mapping.iter().next();
    let Some(node) = first.and_then(|run| nodes.get(run.node.index())) else {
        return 1.0;
    };
    let memory = share(placed.job.memory_on(1).0, node.memory.0);
    let cpu = share(placed.job.cpu.0, node.cpu.0);
    memory.max(MIN_SHARE) / cpu.max(MIN_SHARE)
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
    use crate::model::{Job, JobId, Mapping, Mobility, NodeIndex};
    use crate::units::{Bytes, Cores, Time, Weight};

    fn weight_of(tasks: u32, seconds: i64, own: u32) -> u32 {
        let mut job = Job::new(JobId(1), Time(0), tasks, Cores(1), Bytes(1));
        job.virtual_time = Span::from_seconds(seconds);
        job.weight = Weight(own);
        let mapping = Mapping::from_tasks((0..tasks).map(NodeIndex));
        weight(&[], &Placed::new(&job, &mapping))
    }

    #[test]
    fn long_immobile_jobs_weigh_more_by_their_memory() {
        let weight_of = |tasks: u32, memory: u64, mobility, seconds| {
            let nodes = vec![Node::new("", Cores(4), Bytes(100)); tasks as usize];
            let mut job = Job::new(JobId(1), Time(0), tasks, Cores(1), Bytes(memory));
            job.virtual_time = Span::from_seconds(seconds);
            job.mobility = mobility;
            let mapping = Mapping::from_tasks((0..tasks).map(NodeIndex));
            weight(&nodes, &Placed::new(&job, &mapping))
        };
        let is_about = |value: u32, other: u32| value.abs_diff(other) <= value / 1000;
        let free = weight_of(1, 50, Mobility::Checkpoint, 2000);
        // Half of the memory for a quarter of the CPU.
        assert!(weight_of(1, 50, Mobility::Carry, 2000) == free);
        for mobility in [Mobility::Park, Mobility::Restart, Mobility::Never] {
            assert!(is_about(weight_of(1, 50, mobility, 2000), 4 * free));
            assert!(is_about(weight_of(4, 50, mobility, 2000), 32 * free));
            assert!(is_about(weight_of(1, 25, mobility, 2000), free));
            assert!(is_about(weight_of(1, 1, mobility, 2000) * 25, free));
            let young = weight_of(4, 50, Mobility::Checkpoint, 900);
            assert_eq!(weight_of(4, 50, mobility, 900), young);
        }
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
