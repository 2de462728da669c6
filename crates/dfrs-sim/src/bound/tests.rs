//! The parts of the search against each other, on traces that give them much to do.

use dfrs_core::{Span, Time};

use super::instance::{Instance, StretchLevel};
use super::split::Split;
use super::sweep::Sweep;
use super::{BoundSearch, MAX_SHORT_INTERVALS, PRECISION};
use crate::generate::Lublin;
use crate::metrics::STRETCH_BOUND;
use crate::trace::{NODE_CPU, Trace};

/// Whether all jobs can have this level.
fn is_possible(instance: &Instance, level: StretchLevel, max_short_intervals: u32) -> bool {
    let mut sweep = Sweep::new(max_short_intervals);
    let mut split = Split::default();
    while let Some(start) = split.until_contention(instance) {
        match sweep.run(instance, level, &start) {
            Ok(end) => split = end,
            Err(_) => return false,
        }
    }
    true
}

/// Two hundred jobs that come at nine tenths of what 128 nodes can do.
fn busy(seed: u64) -> Trace {
    let model = Lublin {
        jobs: 200,
        ..Lublin::default()
    };
    model.trace_at_load(seed, 0.9).expect("a trace")
}

fn searched(instance: Instance, lower: StretchLevel) -> StretchLevel {
    BoundSearch::bound(instance, lower, &mut |_, _| ())
}

#[test]
fn feasibility_does_not_depend_on_the_repair_interval() {
    for seed in 1..=6 {
        let trace = busy(seed);
        let instance = || Instance::new(&trace, 128, STRETCH_BOUND);
        let least = instance().least();
        let bound = searched(instance(), least);
        assert!(bound > least, "seed {seed} shows nothing");
        let instance = instance();
        for max_short_intervals in [1, 7, MAX_SHORT_INTERVALS, u32::MAX] {
            for (part, expected) in [(-10_000, false), (-100, false), (4_000, true), (10, true)] {
                let level =
                    StretchLevel(bound.0.saturating_add_signed(bound.0.cast_signed() / part));
                let found = is_possible(&instance, level, max_short_intervals);
                assert_eq!(
                    found, expected,
                    "seed {seed}, {max_short_intervals}, 1/{part}"
                );
            }
        }
    }
}

#[test]
fn jobs_that_can_use_all_nodes_need_no_sweep() {
    for seed in 1..=6 {
        let mut trace = busy(seed);
        for job in &mut trace.jobs {
            job.cpu = NODE_CPU;
        }
        let instance = || Instance::new(&trace, 1, STRETCH_BOUND);
        let (found, is_all) = instance().least_together();
        assert!(is_all);
        let least = instance().least();
        assert!(found > least, "seed {seed} shows nothing");
        let all = searched(instance(), least);
        let gap = found.0.abs_diff(all.0);
        assert!(
            gap <= found.0 / PRECISION,
            "seed {seed}: {found:?}, {all:?}"
        );
    }
}

#[test]
fn joint_bound_is_not_above_the_full_bound() {
    for (seed, nodes) in [(1, 2), (2, 3), (3, 4)] {
        let mut trace = busy(seed);
        for (job, second) in trace.jobs.iter_mut().zip(0..) {
            job.tasks = job.tasks.min(nodes);
            job.submit = Time::from_seconds(second);
            job.runtime = Span::from_seconds(50 + 10 * (second % 11));
        }
        let instance = || Instance::new(&trace, nodes, STRETCH_BOUND);
        let (found, is_all) = instance().least_together();
        assert!(!is_all);
        let least = instance().least();
        assert!(found > least, "{nodes} nodes show nothing");
        let all = searched(instance(), least);
        assert!(found.0 <= all.0 + all.0 / PRECISION, "{nodes}");
        let quickly = searched(instance(), found);
        assert!(quickly.0.abs_diff(all.0) <= all.0 / PRECISION, "{nodes}");
    }
}
