//! The input of one run of an algorithm.

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

/// Exact for every number of processors and of tasks.
pub(crate) fn real(count: usize) -> f64 {
    count as f64
}
