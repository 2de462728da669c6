//! Sweeps that repair early and late, on traces in which there is much to repair.

use super::instance::{Instance, Level};
use super::split::Split;
use super::sweep::Sweep;
use super::{PATIENCE, Search};
use crate::generate::Lublin;
use crate::metrics::STRETCH_BOUND;

/// Whether all jobs can have this level.
fn is_possible(instance: &Instance, level: Level, patience: u32) -> bool {
    let mut sweep = Sweep::new(patience);
    let mut split = Split::default();
    while let Some(start) = split.until_contention(instance) {
        match sweep.run(instance, level, &start) {
            Ok(end) => split = end,
            Err(_) => return false,
        }
    }
    true
}

#[test]
fn when_sweeps_are_repaired_is_no_matter() {
    let model = Lublin {
        jobs: 200,
        ..Lublin::default()
    };
    for seed in 1..=6 {
        let trace = model.trace_at_load(seed, 0.9).expect("a trace");
        let instance = || Instance::new(&trace, model.nodes, STRETCH_BOUND);
        let least = instance().least();
        let bound = Search::bound(instance(), least);
        assert!(bound > least, "seed {seed} tells nothing");
        let instance = instance();
        for patience in [1, 7, PATIENCE, u32::MAX] {
            for (part, expected) in [(-10_000, false), (-100, false), (4_000, true), (10, true)] {
                let level = Level(bound.0.saturating_add_signed(bound.0.cast_signed() / part));
                let found = is_possible(&instance, level, patience);
                assert_eq!(found, expected, "seed {seed}, {patience}, 1/{part}");
            }
        }
    }
}
