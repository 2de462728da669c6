//! Schedules, and what they are judged by.

use crate::processors::ProcessorSet;

/// When and where a task runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Placement {
    /// Place of the task in the list of those that were to be scheduled.
    pub task: usize,
    /// When it starts.
    pub start: f64,
    /// When it is completed: its start and its time on so many processors.
    pub end: f64,
    /// Where it runs.
    pub processors: ProcessorSet,
}

/// A placement for each task, in the order of the tasks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schedule {
    /// The placements.
    pub placements: Vec<Placement>,
}

/// The two criteria of Section 2.2, or lower bounds on them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Criteria {
    /// When the last task is completed, Cmax.
    pub makespan: f64,
    /// The sum of weight times completion time, which the paper calls minsum.
    pub weighted_completion: f64,
}

impl Criteria {
    /// Makespan times weighted completion: one number for both that does not depend on any unit.
    pub fn product(self) -> f64 {
        self.makespan * self.weighted_completion
    }

    /// Whether it is at most as much in both.
    pub fn is_nowhere_worse(self, other: Self) -> bool {
        self.makespan <= other.makespan && self.weighted_completion <= other.weighted_completion
    }

    /// The criteria of completion times, one a task, and the tasks' weights.
    pub fn of(weight: impl Fn(usize) -> f64, ends: impl IntoIterator<Item = (usize, f64)>) -> Self {
        let none = Self {
            makespan: 0.0,
            weighted_completion: 0.0,
        };
        ends.into_iter().fold(none, |sum, (task, end)| Self {
            makespan: sum.makespan.max(end),
            weighted_completion: sum.weighted_completion + weight(task) * end,
        })
    }
}
