//! Instances: a machine and the tasks for it.

use std::collections::BTreeSet;

use dfrs_moldable::{Criteria, MAX_PROCESSORS, Problem, Schedule, Task};
use thiserror::Error;

/// The most tasks of an instance.
pub const MAX_TASKS: usize = 1_000_000;

/// The most times of all tasks together: 1 GiB of them.
pub const MAX_TIMES: usize = 1 << 27;

/// Tasks, and the machine that is to run them.
#[derive(Clone, Debug, PartialEq)]
pub struct MoldableInstance {
    processors: u32,
    tasks: Vec<Task>,
    ids: BTreeSet<String>,
    times: usize,
}

/// Why a task cannot be added, or a machine be had.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InstanceError {
    /// The machine has none, or too many.
    #[error("a machine of {0} processors is not allowed; give 1 to {MAX_PROCESSORS}")]
    Machine(u32),
    /// Another task has the id.
    #[error("another task before it has the id {0:?}; give each its own")]
    Twice(String),
    /// The task may take more processors than there are.
    #[error("it has times for more than {0} processors; leave them out")]
    TooWide(u32),
    /// There are too many tasks, or too many times.
    #[error("there are more than {MAX_TASKS} tasks or {MAX_TIMES} times; take fewer tasks")]
    TooMany,
}

impl MoldableInstance {
    /// A machine without tasks.
    ///
    /// # Errors
    ///
    /// [`InstanceError::Machine`].
    pub fn new(processors: u32) -> Result<Self, InstanceError> {
        if !(1..=MAX_PROCESSORS).contains(&processors) {
            return Err(InstanceError::Machine(processors));
        }
        Ok(Self {
            processors,
            tasks: Vec::new(),
            ids: BTreeSet::new(),
            times: 0,
        })
    }

    /// Adds a task behind the others. O(log n).
    ///
    /// # Errors
    ///
    /// An [`InstanceError`]; nothing is added then.
    pub fn add(&mut self, task: Task) -> Result<(), InstanceError> {
        if task.times().len() > self.processors as usize {
            return Err(InstanceError::TooWide(self.processors));
        }
        self.times += task.times().len();
        if self.tasks.len() == MAX_TASKS || self.times > MAX_TIMES {
            return Err(InstanceError::TooMany);
        }
        if !self.ids.insert(task.id().to_owned()) {
            return Err(InstanceError::Twice(task.id().to_owned()));
        }
        self.tasks.push(task);
        Ok(())
    }

    /// Number of processors, m.
    pub const fn processors(&self) -> u32 {
        self.processors
    }

    /// The tasks, in the order in which they were added.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// Whether any task is submitted after time 0.
    pub fn has_releases(&self) -> bool {
        self.tasks.iter().any(|task| task.release() > 0.0)
    }

    /// All tasks, whenever they are submitted.
    pub fn problem(&self) -> Problem<'_> {
        Problem {
            tasks: self.tasks.iter().collect(),
            processors: self.processors,
        }
    }

    /// Makespan and weighted completion of a schedule of these tasks. O(n).
    pub fn criteria(&self, schedule: &Schedule) -> Criteria {
        let placements = schedule.placements.iter();
        let ends = placements.map(|place| (place.task, place.end));
        Criteria::of(|task| self.tasks[task].weight(), ends)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicate_or_too_wide_task_is_refused() {
        let mut instance = MoldableInstance::new(2).expect("a machine");
        let task =
            |id: &str, times: &[f64]| Task::new(id, 1.0, 0.0, times.to_vec(), 9).expect("a task");
        assert_eq!(instance.add(task("a", &[3.0])), Ok(()));
        let twice = Err(InstanceError::Twice("a".into()));
        assert_eq!(instance.add(task("a", &[3.0])), twice);
        let wide = Err(InstanceError::TooWide(2));
        assert_eq!(instance.add(task("b", &[3.0, 2.0, 1.0])), wide);
        assert_eq!(instance.tasks().len(), 1);
        assert_eq!(MoldableInstance::new(0), Err(InstanceError::Machine(0)));
    }
}
