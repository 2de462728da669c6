//! The smallest makespan and weighted completion of small instances, by branch and bound.

use dfrs_moldable::{Criteria, Problem};

/// What is minimised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Criterion {
    Makespan,
    WeightedCompletion,
}

/// The optimum of either criterion, each of a schedule of its own; none if the search would look at
/// more than `max_steps` partial schedules for one of them.
///
/// Tasks are added in the order of their starts, each with one of its allotments on the processors
/// that are free first. Some optimal schedule is built so: moving a task to the processors that are
/// free first leaves those that are free last to later ones. O(n! m^n), less what bounds cut off.
pub fn optimum(problem: &Problem, max_steps: u64) -> Option<Criteria> {
    Some(Criteria {
        makespan: OptimumSearch::run(problem, Criterion::Makespan, max_steps)?,
        weighted_completion: OptimumSearch::run(problem, Criterion::WeightedCompletion, max_steps)?,
    })
}

struct OptimumSearch<'a> {
    problem: &'a Problem<'a>,
    criterion: Criterion,
    /// The tasks that are not scheduled yet.
    left: Vec<usize>,
    /// When each processor is free, ascending.
    free: Vec<f64>,
    /// What the best schedule so far costs.
    best: f64,
    /// Partial schedules that may still be looked at.
    budget: u64,
}

impl<'a> OptimumSearch<'a> {
    fn run(problem: &'a Problem<'a>, criterion: Criterion, max_steps: u64) -> Option<f64> {
        let mut search = Self {
            problem,
            criterion,
            left: (0..problem.tasks.len()).collect(),
            free: vec![0.0; problem.processors as usize],
            best: f64::INFINITY,
            budget: max_steps,
        };
        search.descend(0.0, 0.0).then_some(search.best)
    }

    /// Schedules the tasks that are left after one that started at `now`, at a cost of `cost` so
    /// far. False if the budget does not suffice.
    fn descend(&mut self, now: f64, cost: f64) -> bool {
        if self.left.is_empty() {
            self.best = self.best.min(cost);
            return true;
        }
        for place in 0..self.left.len() {
            let task = self.left.remove(place);
            let is_done = self.place(task, now, cost);
            self.left.insert(place, task);
            if !is_done {
                return false;
            }
        }
        true
    }

    fn place(&mut self, task: usize, now: f64, cost: f64) -> bool {
        let tasks = self.problem.tasks.clone();
        for allotment in tasks[task].allotments() {
            let Some(budget) = self.budget.checked_sub(1) else {
                return false;
            };
            self.budget = budget;
            let count = allotment.processors as usize;
            let start = self.free[count - 1].max(now);
            let end = start + allotment.time;
            let next = match self.criterion {
                Criterion::Makespan => cost.max(end),
                Criterion::WeightedCompletion => cost + tasks[task].weight() * end,
            };
            let mut free = self.free.clone();
            free[..count].fill(end);
            free.iter_mut().for_each(|time| *time = time.max(start));
            free.sort_by(f64::total_cmp);
            if self.bound(&free, start, next) < self.best {
                std::mem::swap(&mut self.free, &mut free);
                let is_done = self.descend(start, next);
                std::mem::swap(&mut self.free, &mut free);
                if !is_done {
                    return false;
                }
            }
        }
        true
    }

    /// What every completion of a partial schedule costs at least.
    fn bound(&self, free: &[f64], now: f64, cost: f64) -> f64 {
        let left = self.left.iter().map(|task| self.problem.tasks[*task]);
        let earliest = free.first().copied().unwrap_or(now).max(now);
        match self.criterion {
            Criterion::Makespan => {
                let area = left.clone().filter_map(|task| task.cheapest(f64::INFINITY));
                let area: f64 = area.map(|allotment| allotment.area()).sum();
                let used: f64 = free.iter().sum();
                let all = (area + used) / f64::from(self.problem.processors);
                let longest = left.map(|task| earliest + task.fastest().time);
                longest.fold(cost.max(all * (1.0 - 1e-12)), f64::max)
            }
            Criterion::WeightedCompletion => {
                let ends = left.map(|task| task.weight() * (earliest + task.fastest().time));
                cost + ends.sum::<f64>()
            }
        }
    }
}
