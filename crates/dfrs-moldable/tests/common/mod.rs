//! Instances for property tests.
#![allow(dead_code)] // each test uses some of it

use dfrs_moldable::{MoldableInstance, Task};
use proptest::prelude::*;

/// An instance of these weights, releases and times.
pub fn instance(processors: u32, tasks: &[(f64, f64, Vec<f64>)]) -> MoldableInstance {
    let mut instance = MoldableInstance::new(processors).expect("a machine");
    for (place, (weight, release, times)) in tasks.iter().enumerate() {
        let task = Task::new(
            place.to_string(),
            *weight,
            *release,
            times.clone(),
            processors,
        );
        instance.add(task.expect("a task")).expect("room");
    }
    instance
}

/// Tasks of any kind: times that go up and down, or are not possible at all.
pub fn any(tasks: usize, processors: u32) -> impl Strategy<Value = MoldableInstance> {
    let time =
        prop_oneof![1 => Just(f64::INFINITY), 8 => (1..60u32).prop_map(|t| f64::from(t) / 4.0)];
    let times = prop::collection::vec(time, 1..=processors as usize);
    let times = times.prop_map(|mut times| {
        if times.iter().all(|time| time.is_infinite()) {
            times[0] = 1.0;
        }
        times
    });
    let task = (
        (0..20u8).prop_map(f64::from),
        (0..40u8).prop_map(f64::from),
        times,
    );
    prop::collection::vec(task, 0..=tasks).prop_map(move |tasks| instance(processors, &tasks))
}

/// Monotonic tasks: more processors are never slower and never do less work.
pub fn monotonic(tasks: usize, processors: u32) -> impl Strategy<Value = MoldableInstance> {
    let factors = prop::collection::vec(0.0..=1.0f64, processors as usize - 1);
    let task = (0.1..10.0f64, 0.0..10.0f64, 0.2..20.0f64, factors);
    let task = task.prop_map(|(weight, release, first, factors)| {
        let mut times = vec![first];
        for (factor, count) in factors.into_iter().zip(2u32..) {
            let least = f64::from(count - 1) / f64::from(count);
            let before = times[times.len() - 1];
            times.push(before * (least + factor * (1.0 - least)));
        }
        (weight, release, times)
    });
    prop::collection::vec(task, 0..=tasks).prop_map(move |tasks| instance(processors, &tasks))
}
