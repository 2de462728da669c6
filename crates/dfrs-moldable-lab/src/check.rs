//! What must hold of every schedule from any source. Nothing here is shared with the code that
//! makes them.

use dfrs_moldable::Schedule;

use crate::instance::MoldableInstance;

/// What rounding may differ by, as a part of the value.
const ROUNDING: f64 = 1e-9;

/// A rule that a schedule breaks.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ScheduleViolation {
    /// A task is not in the schedule.
    #[error("task {task:?} is not scheduled")]
    Missing {
        /// Id of the task.
        task: String,
    },
    /// A task is in the schedule more than once.
    #[error("task {task:?} is scheduled more than once")]
    Twice {
        /// Id of the task.
        task: String,
    },
    /// There is no task of this place.
    #[error("there is no task in place {task}")]
    Unknown {
        /// The place.
        task: usize,
    },
    /// The task starts before 0, or before its release where that counts.
    #[error("task {task:?} starts at {start}, before {release}")]
    Early {
        /// Id of the task.
        task: String,
        /// The task's start.
        start: f64,
        /// When it might start.
        release: f64,
    },
    /// The task cannot run on so many processors.
    #[error("task {task:?} cannot run on {processors} processors")]
    Impossible {
        /// Id of the task.
        task: String,
        /// How many it has.
        processors: u32,
    },
    /// The task has a processor that the machine has not.
    #[error("task {task:?} has processor {processor}, which is not there")]
    NoProcessor {
        /// Id of the task.
        task: String,
        /// Index of the processor.
        processor: u32,
    },
    /// Start and time do not make its end.
    #[error("task {task:?} ends at {end} instead of {expected}")]
    Time {
        /// Id of the task.
        task: String,
        /// The task's end in the schedule.
        end: f64,
        /// What its end has to be.
        expected: f64,
    },
    /// A processor has two tasks at once.
    #[error("processor {processor} has the tasks {first:?} and {second:?} at once")]
    Overlap {
        /// Index of the processor.
        processor: u32,
        /// Id of the one that was there first.
        first: String,
        /// Id of the one that starts before the first has ended.
        second: String,
    },
}

/// Which start times are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Releases {
    /// All tasks are available at time 0.
    Ignored,
    /// No task starts before its release.
    Kept,
}

/// Every rule that the schedule breaks: each task once, on processors that exist, as long as it
/// takes on so many, not too early, and no processor with two tasks at once. O(n log n + processors
/// of all tasks).
#[must_use]
pub fn check(
    instance: &MoldableInstance,
    schedule: &Schedule,
    releases: Releases,
) -> Vec<ScheduleViolation> {
    let mut found = Vec::new();
    let tasks = instance.tasks();
    let mut seen = vec![0u32; tasks.len()];
    for place in &schedule.placements {
        let Some(task) = tasks.get(place.task) else {
            found.push(ScheduleViolation::Unknown { task: place.task });
            continue;
        };
        seen[place.task] += 1;
        let name = || task.id().to_owned();
        let release = match releases {
            Releases::Ignored => 0.0,
            Releases::Kept => task.release(),
        };
        // A start that is no number is before everything, too.
        if !matches!(
            place.start.partial_cmp(&release),
            Some(std::cmp::Ordering::Greater | std::cmp::Ordering::Equal)
        ) {
            found.push(ScheduleViolation::Early {
                task: name(),
                start: place.start,
                release,
            });
        }
        let processors = place.processors.count();
        match task.time_on(processors) {
            None => found.push(ScheduleViolation::Impossible {
                task: name(),
                processors,
            }),
            Some(time) => {
                let (end, expected) = (place.end, place.start + time);
                let is_right = (end - expected).abs() <= ROUNDING * expected.abs();
                if !is_right {
                    found.push(ScheduleViolation::Time {
                        task: name(),
                        end,
                        expected,
                    });
                }
            }
        }
        let last = place.processors.ranges().last();
        if let Some(last) = last.filter(|last| last.end > instance.processors()) {
            found.push(ScheduleViolation::NoProcessor {
                task: name(),
                processor: last.end - 1,
            });
        }
    }
    for (task, count) in tasks.iter().zip(seen) {
        let task = task.id().to_owned();
        match count {
            0 => found.push(ScheduleViolation::Missing { task }),
            1 => {}
            _ => found.push(ScheduleViolation::Twice { task }),
        }
    }
    found.extend(overlaps(instance, schedule));
    found
}

/// The pairs of tasks that have a processor at once; of each pair one processor.
fn overlaps(instance: &MoldableInstance, schedule: &Schedule) -> Vec<ScheduleViolation> {
    let mut found = Vec::new();
    let known = |task: usize| instance.tasks().get(task);
    let name = |task: usize| known(task).map_or(String::new(), |task| task.id().to_owned());
    let mut order: Vec<usize> = (0..schedule.placements.len()).collect();
    order.sort_by(|one, other| {
        let start = |place: &usize| schedule.placements[*place].start;
        start(one).total_cmp(&start(other))
    });
    // For each processor the placement that ends last, of those so far.
    let mut last: Vec<Option<usize>> = vec![None; instance.processors() as usize];
    for place in order {
        let placement = &schedule.placements[place];
        let mut reported = Vec::new();
        for processor in placement.processors.iter() {
            let Some(holder) = last.get_mut(processor as usize) else {
                continue;
            };
            let before = holder.map(|before| (before, schedule.placements[before].end));
            if let Some((before, end)) = before
                && end - placement.start > ROUNDING * end.abs()
                && !reported.contains(&before)
            {
                reported.push(before);
                found.push(ScheduleViolation::Overlap {
                    processor,
                    first: name(schedule.placements[before].task),
                    second: name(placement.task),
                });
            }
            if before.is_none_or(|(_, end)| end < placement.end) {
                *holder = Some(place);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use dfrs_moldable::{Placement, ProcessorSet, Task};

    fn instance() -> MoldableInstance {
        let mut instance = MoldableInstance::new(3).expect("a machine");
        for (id, release, times) in [("a", 0.0, vec![4.0, 2.0]), ("b", 1.0, vec![3.0])] {
            let task = Task::new(id, 1.0, release, times, 3).expect("a task");
            instance.add(task).expect("room");
        }
        instance
    }

    fn place(task: usize, start: f64, end: f64, processors: &[u32]) -> Placement {
        Placement {
            task,
            start,
            end,
            processors: ProcessorSet::of(processors.iter().copied()),
        }
    }

    fn violations_of(releases: Releases, placements: &[Placement]) -> Vec<String> {
        let schedule = Schedule {
            placements: placements.to_vec(),
        };
        let found = check(&instance(), &schedule, releases);
        found.iter().map(ScheduleViolation::to_string).collect()
    }

    #[test]
    fn every_rule_is_checked() {
        let (a, b) = (place(0, 0.0, 2.0, &[0, 1]), place(1, 0.0, 3.0, &[2]));
        assert!(violations_of(Releases::Ignored, &[a.clone(), b.clone()]).is_empty());
        let early = violations_of(Releases::Kept, &[a.clone(), b.clone()]);
        assert_eq!(early, ["task \"b\" starts at 0, before 1"]);
        let missing = violations_of(Releases::Ignored, std::slice::from_ref(&a));
        assert_eq!(missing, ["task \"b\" is not scheduled"]);
        for (third, expected) in [
            (
                place(1, 5.0, 8.0, &[2]),
                "task \"b\" is scheduled more than once",
            ),
            (place(7, 5.0, 8.0, &[2]), "there is no task in place 7"),
        ] {
            assert_eq!(
                violations_of(Releases::Ignored, &[a.clone(), b.clone(), third]),
                [expected]
            );
        }
        for (second, expected) in [
            (
                place(1, 0.0, 3.0, &[0]),
                "processor 0 has the tasks \"a\" and \"b\" at once",
            ),
            (
                place(1, 2.0, 5.0, &[0, 1]),
                "task \"b\" cannot run on 2 processors",
            ),
            (
                place(1, 2.0, 5.0, &[]),
                "task \"b\" cannot run on 0 processors",
            ),
            (
                place(1, 2.0, 6.0, &[0]),
                "task \"b\" ends at 6 instead of 5",
            ),
            (
                place(1, 2.0, 5.0, &[3]),
                "task \"b\" has processor 3, which is not there",
            ),
            (
                place(1, -1.0, 2.0, &[2]),
                "task \"b\" starts at -1, before 0",
            ),
            (
                place(1, 2.0, f64::NAN, &[2]),
                "task \"b\" ends at NaN instead of 5",
            ),
        ] {
            assert_eq!(
                violations_of(Releases::Ignored, &[a.clone(), second]),
                [expected]
            );
        }
        // The one that ends last counts, not the one that started last.
        let placements = [place(0, 0.0, 4.0, &[0]), place(1, 3.5, 6.5, &[0])];
        assert_eq!(violations_of(Releases::Ignored, &placements).len(), 1);
    }
}
