//! What a live agent is to start.

mod common;

use dfrs_moldable::live::{LiveMachine, WaitingTask, plan};
use dfrs_moldable::{Busy, Placement, ProcessorSet, Task};
use proptest::prelude::*;

fn busy(until: f64, processors: &[u32]) -> Busy {
    Busy {
        until,
        processors: ProcessorSet::of(processors.iter().copied()),
    }
}

#[test]
fn tasks_start_on_free_processors_around_running_ones() {
    let tasks = common::tasks(
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
    let waiting = waiting(&tasks);
    let machine = LiveMachine {
        processors: 4,
        unusable: ProcessorSet::of([3]),
        // A task that should have ended already, on a processor that has become unusable.
        running: vec![busy(2.0, &[0, 3]), busy(20.0, &[1])],
    };
    let now = 10.0;
    let found = plan(&machine, &waiting, now);
    // The third task needs more than there are; one processor is free, the rest is not yet.
    assert!(found.placements.iter().all(|placement| placement.task != 2));
    assert_eq!(found.placements.len(), 2);
    let starts_now: Vec<_> = found
        .placements
        .iter()
        .filter(|placement| placement.start == now)
        .collect();
    assert_eq!(starts_now.len(), 1);
    assert_eq!(starts_now[0].processors, ProcessorSet::of([2]));
    let later = found
        .placements
        .iter()
        .find(|placement| placement.start > now)
        .expect("the other");
    assert!(later.processors.iter().all(|processor| processor != 3));
}

fn waiting(tasks: &[Task]) -> Vec<WaitingTask<'_>> {
    tasks.iter().map(WaitingTask::from).collect()
}

fn task(id: &str, times: &[f64]) -> Task {
    Task::new(id, 1.0, 0.0, times.to_vec(), 100).expect("a task")
}

/// What starts now, by its place, and on which processors.
fn starting(placements: &[Placement], now: f64) -> Vec<(usize, Vec<u32>)> {
    let now = placements.iter().filter(|placement| placement.start <= now);
    now.map(|placement| (placement.task, placement.processors.iter().collect()))
        .collect()
}

#[test]
fn a_task_starts_on_fewer_processors_where_others_are_busy_for_long() {
    let tasks = [task("a", &[12.0, 6.0, 4.0, 3.0])];
    let on = |until: f64| {
        let machine = LiveMachine {
            processors: 4,
            unusable: ProcessorSet::default(),
            running: vec![busy(until, &[0, 1, 2])],
        };
        starting(&plan(&machine, &waiting(&tasks), 0.0).placements, 0.0)
    };
    assert_eq!(on(1000.0), [(0, vec![3])]);
    assert_eq!(on(1.0), [], "four processors are free soon");
}

#[test]
fn tasks_run_where_they_may() {
    let tasks = [task("a", &[8.0, 4.0]), task("b", &[8.0]), task("c", &[1.0])];
    let (high, none) = (ProcessorSet::of([2, 3, 9]), ProcessorSet::of([]));
    let mut waiting = waiting(&tasks);
    waiting[0].allowed = Some(&high);
    waiting[2].allowed = Some(&none);
    let machine = LiveMachine {
        processors: 4,
        unusable: ProcessorSet::of([3]),
        running: Vec::new(),
    };
    let found = plan(&machine, &waiting, 5.0).placements;
    assert_eq!(starting(&found, 5.0), [(0, vec![2]), (1, vec![0])]);
    assert_eq!(found.len(), 2, "the third may run nowhere");
}

#[test]
fn overdue_task_is_not_delayed() {
    // Two of four processors are free; the wide task needs all of them, which are free at 10.
    let wide = task("wide", &[f64::INFINITY, f64::INFINITY, f64::INFINITY, 50.0]);
    let tasks = [wide, task("short", &[9.0]), task("long", &[11.0])];
    let machine = LiveMachine {
        processors: 4,
        unusable: ProcessorSet::default(),
        running: vec![busy(10.0, &[0, 1])],
    };
    let mut waiting = waiting(&tasks);
    let started = |waiting: &[WaitingTask]| {
        let found = plan(&machine, waiting, 0.0).placements;
        let started = starting(&found, 0.0).into_iter().map(|(task, _)| task);
        (started.collect::<Vec<_>>(), found[0].start)
    };
    assert_eq!(started(&waiting).0, [1, 2]);
    waiting[0].is_overdue = true;
    assert_eq!(started(&waiting), (vec![1], 10.0));
}

proptest! {
    #[test]
    fn no_task_is_placed_on_a_processor_in_use(
        tasks in common::any(8, 6), unusable in prop::collection::vec(0..6u32, 0..4),
        running in prop::collection::vec((0..20u8, 0..6u32), 0..4),
        marks in prop::collection::vec((prop::option::weighted(0.4, prop::collection::vec(0..6u32, 1..6)), prop::bool::weighted(0.3)), 8),
    ) {
        let allowed: Vec<Option<ProcessorSet>> = marks.iter().map(|(set, _)| set.clone().map(ProcessorSet::of)).collect();
        let mut waiting = waiting(&tasks);
        for ((one, allowed), (_, is_overdue)) in waiting.iter_mut().zip(&allowed).zip(&marks) {
            (one.allowed, one.is_overdue) = (allowed.as_ref(), *is_overdue);
        }
        let mut seen = Vec::new();
        let running: Vec<Busy> = running.into_iter()
            .filter(|(_, processor)| !seen.contains(processor) && { seen.push(*processor); true })
            .map(|(until, processor)| busy(f64::from(until), &[processor]))
            .collect();
        let unusable = ProcessorSet::of(unusable);
        let may = |one: &WaitingTask, processor: u32| {
            let mut barred = unusable.iter();
            let is_allowed = one.allowed.is_none_or(|set| set.iter().any(|other| other == processor));
            is_allowed && !barred.any(|other| other == processor)
        };
        let machine = LiveMachine { processors: 6, unusable: unusable.clone(), running: running.clone() };
        let now = 5.0;
        let found = plan(&machine, &waiting, now);
        for (place, one) in waiting.iter().enumerate() {
            let usable = (0..6).filter(|processor| may(one, *processor)).count();
            let is_possible = one.task.smallest().processors as usize <= usable;
            let times = found.placements.iter().filter(|placement| placement.task == place).count();
            prop_assert_eq!(times, usize::from(is_possible));
        }
        for placement in &found.placements {
            let task = waiting[placement.task].task;
            prop_assert!(placement.start >= now);
            prop_assert_eq!(task.time_on(placement.processors.count()).map(|time| placement.start + time), Some(placement.end));
            for processor in placement.processors.iter() {
                prop_assert!(processor < 6 && may(&waiting[placement.task], processor));
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
