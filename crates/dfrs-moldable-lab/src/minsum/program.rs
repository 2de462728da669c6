//! The linear program: in which interval does each task end?

use dfrs_moldable::Problem;
use dfrs_moldable::demt::first_length;

/// Minimise the sum of `cost * x` where each task's x sum up to 1 and for each interval the areas
/// of all tasks that end in it or before it fit on the machine until its end.
///
/// The intervals are (0, t_0], (t_0, t_1], … (t_K, t_K+1] with the t of the algorithm. The first is
/// not in the paper, whose program is no bound where a task ends before t_0. A task that ends there
/// does not do so before its shortest time, which is its cost there; everywhere else it is the
/// beginning of the interval, as in the paper. A schedule longer than t_K+1 satisfies the last
/// constraint, too: all smallest areas together fit before t_K.
pub(super) struct LinearProgram {
    /// Number of intervals.
    pub intervals: usize,
    /// For each task and interval the weight times the earliest completion.
    costs: Vec<f64>,
    /// For each task and interval the smallest area of the task if it ends there, infinite if it
    /// cannot.
    areas: Vec<f64>,
    /// For each interval the area of the machine until its end.
    pub capacities: Vec<f64>,
}

impl LinearProgram {
    pub fn of(problem: &Problem, guess: f64) -> Self {
        let mut ends = lengths(problem, guess);
        ends.extend(ends.last().map(|last| 2.0 * last));
        let machine = f64::from(problem.processors);
        let mut program = Self {
            intervals: ends.len(),
            costs: Vec::new(),
            areas: Vec::new(),
            capacities: ends.iter().map(|end| machine * end).collect(),
        };
        for task in &problem.tasks {
            let mut earliest = task.fastest().time;
            for end in &ends {
                let area = task.cheapest(*end).map(|allotment| allotment.area());
                program.areas.push(area.unwrap_or(f64::INFINITY));
                program.costs.push(task.weight() * earliest);
                earliest = *end;
            }
        }
        program
    }

    /// Number of tasks.
    pub fn tasks(&self) -> usize {
        self.areas.len().checked_div(self.intervals).unwrap_or(0)
    }

    /// Costs of a task in all intervals.
    pub fn costs(&self, task: usize) -> &[f64] {
        &self.costs[task * self.intervals..][..self.intervals]
    }

    /// Areas of a task in all intervals.
    pub fn areas(&self, task: usize) -> &[f64] {
        &self.areas[task * self.intervals..][..self.intervals]
    }

    /// What a task in an interval takes of each capacity, as a part of it, added with this sign.
    pub fn add(&self, task: usize, interval: usize, sign: f64, column: &mut [f64]) {
        let area = sign * self.areas(task)[interval];
        let capacities = &self.capacities[interval..];
        for (part, capacity) in column[interval..].iter_mut().zip(capacities) {
            *part += area / capacity;
        }
    }
}

/// The lengths of the batches up to C*max, for the intervals of the lower bound.
fn lengths(problem: &Problem, guess: f64) -> Vec<f64> {
    let mut length = first_length(problem, guess);
    let mut lengths = Vec::new();
    while !problem.tasks.is_empty() && length <= guess * (1.0 + 1e-15 * 8.0) {
        lengths.push(length);
        length *= 2.0;
    }
    lengths
}
