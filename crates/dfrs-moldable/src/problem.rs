//! The input of one run of an algorithm.

use crate::instance::MoldableInstance;
use crate::task::Task;

/// Tasks that are all available now, and a machine that is free. Places of tasks are places in this
/// list.
#[derive(Clone, Debug)]
pub struct Problem<'a> {
    /// The tasks; none has more times than there are processors.
    pub tasks: Vec<&'a Task>,
    /// Number of processors, m.
    pub processors: u32,
}

impl<'a> Problem<'a> {
    /// All tasks of an instance, whenever they are submitted.
    #[must_use]
    pub fn of(instance: &'a MoldableInstance) -> Self {
        Self {
            tasks: instance.tasks().iter().collect(),
            processors: instance.processors(),
        }
    }
}

/// Exact for every number of processors and of tasks.
#[allow(clippy::cast_precision_loss)]
pub(crate) fn real(count: usize) -> f64 {
    count as f64
}
