//! What a live agent is told.

mod common;

use dfrs_moldable::live::{Machine, plan};
use dfrs_moldable::{Busy, Processors, Shuffles, Task};
use proptest::prelude::*;

const NONE: Shuffles = Shuffles { count: 0, seed: 0 };

fn busy(until: f64, processors: &[u32]) -> Busy {
    Busy {
        until,
        processors: Processors::of(processors.iter().copied()),
    }
}

#[test]
fn tasks_start_around_what_runs() {
    let instance = common::instance(
        4,
        &[
            (5.0, 0.0, vec![8.0, 4.0]),
            (1.0, 0.0, vec![9.0]),
            (
                1.0,
                0.0,
                vec![f64::INFINITY, f64::INFINITY, f64::INFINITY, 1.0],
            ),
        ],
    );
    let waiting: Vec<&Task> = instance.tasks().iter().collect();
    let machine = Machine {
        processors: 4,
        unusable: Processors::of([3]),
        // One that should have ended already, on a processor that has become unusable.
        running: vec![busy(2.0, &[0, 3]), busy(20.0, &[1])],
    };
    let now = 10.0;
    let found = plan(&machine, &waiting, now, NONE);
    // The third task needs more than there are; one processor is free, the rest is not yet.
    assert!(found.placements.iter().all(|placement| placement.task != 2));
    assert_eq!(found.placements.len(), 2);
    let starts_now: Vec<_> = found
        .placements
        .iter()
        .filter(|placement| placement.start == now)
        .collect();
    assert_eq!(starts_now.len(), 1);
    assert_eq!(starts_now[0].processors, Processors::of([2]));
    let later = found
        .placements
        .iter()
        .find(|placement| placement.start > now)
        .expect("the other");
    assert!(later.processors.iter().all(|processor| processor != 3));
}

proptest! {
    #[test]
    fn nothing_is_placed_on_what_is_in_use(
        instance in common::any(8, 6), unusable in prop::collection::vec(0..6u32, 0..4),
        running in prop::collection::vec((0..20u8, 0..6u32), 0..4),
    ) {
        let waiting: Vec<&Task> = instance.tasks().iter().collect();
        let mut seen = Vec::new();
        let running: Vec<Busy> = running.into_iter()
            .filter(|(_, processor)| !seen.contains(processor) && { seen.push(*processor); true })
            .map(|(until, processor)| busy(f64::from(until), &[processor]))
            .collect();
        let unusable = Processors::of(unusable);
        let usable = 6 - unusable.count();
        let machine = Machine { processors: 6, unusable: unusable.clone(), running: running.clone() };
        let now = 5.0;
        let found = plan(&machine, &waiting, now, NONE);
        for (place, task) in waiting.iter().enumerate() {
            let is_possible = task.smallest().processors <= usable;
            let times = found.placements.iter().filter(|placement| placement.task == place).count();
            prop_assert_eq!(times, usize::from(is_possible));
        }
        for placement in &found.placements {
            let task = waiting[placement.task];
            prop_assert!(placement.start >= now);
            prop_assert_eq!(task.time_on(placement.processors.count()).map(|time| placement.start + time), Some(placement.end));
            for processor in placement.processors.iter() {
                prop_assert!(processor < 6 && !unusable.iter().any(|other| other == processor));
                for busy in &running {
                    let is_shared = busy.processors.iter().any(|other| other == processor);
                    prop_assert!(!is_shared || placement.start >= busy.until.max(now.next_up()));
                }
                for other in &found.placements {
                    let is_other = other.task != placement.task && other.processors.iter().any(|one| one == processor);
                    prop_assert!(!is_other || other.start >= placement.end || placement.start >= other.end);
                }
            }
        }
    }
}
