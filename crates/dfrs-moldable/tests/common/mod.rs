//! Tasks for property tests, also those of dfrs-moldable-lab.

use dfrs_moldable::Task;
use proptest::prelude::*;

/// Tasks of these weights, releases and times, on a machine of so many processors.
pub fn tasks(processors: u32, tasks: &[(f64, f64, Vec<f64>)]) -> Vec<Task> {
    let tasks = tasks.iter().enumerate();
    let task = |(place, (weight, release, times)): (usize, &(f64, f64, Vec<f64>))| {
        let task = Task::new(
            place.to_string(),
            *weight,
            *release,
            times.clone(),
            processors,
        );
        task.expect("a task")
    };
    tasks.map(task).collect()
}

/// Tasks of any kind: times that go up and down, or are not possible at all.
pub fn any(count: usize, processors: u32) -> impl Strategy<Value = Vec<Task>> {
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
    prop::collection::vec(task, 0..=count).prop_map(move |all| tasks(processors, &all))
}
