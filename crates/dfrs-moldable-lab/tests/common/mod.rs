//! Instances for property tests.
#![allow(dead_code)] // each test uses some of it

#[path = "../../../dfrs-moldable/tests/common/mod.rs"]
mod tasks;

use dfrs_moldable::Task;
use dfrs_moldable_lab::MoldableInstance;
use proptest::prelude::*;

/// An instance of these weights, releases and times.
pub fn instance(processors: u32, tasks: &[(f64, f64, Vec<f64>)]) -> MoldableInstance {
    instance_of(processors, tasks::tasks(processors, tasks))
}

fn instance_of(processors: u32, tasks: Vec<Task>) -> MoldableInstance {
    let mut instance = MoldableInstance::new(processors).expect("a machine");
    for task in tasks {
        instance.add(task).expect("room");
    }
    instance
}

/// Tasks of any kind: times that go up and down, or are not possible at all.
pub fn any(count: usize, processors: u32) -> impl Strategy<Value = MoldableInstance> {
    tasks::any(count, processors).prop_map(move |tasks| instance_of(processors, tasks))
}

/// Monotonic tasks: more processors are never slower and never do less work.
pub fn monotonic(count: usize, processors: u32) -> impl Strategy<Value = MoldableInstance> {
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
    prop::collection::vec(task, 0..=count).prop_map(move |all| instance(processors, &all))
}
