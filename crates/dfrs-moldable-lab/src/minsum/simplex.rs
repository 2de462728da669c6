//! The primal simplex method for the program: of its n + K constraints only those of the K
//! intervals are in the basis.
//!
//! That each task ends somewhere is kept by its *key*, an interval whose variable is what the
//! others leave (generalised upper bounds: G. Dantzig, R. Van Slyke, J. Computer and System
//! Sciences 1(3), 1967). A basis has a column for each interval, whatever the number of tasks.

use super::dense::Factors;
use super::program::LinearProgram;

/// Tasks that are looked at before the best so far enters the basis.
const BLOCK: usize = 512;

/// How much a variable must lower the objective, as a part of the largest cost.
const TOLERANCE: f64 = 1e-12;

/// A variable of the basis, or one that may enter it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum LpVariable {
    /// What an interval has left.
    Slack(usize),
    /// The part of a task that ends in an interval.
    Part { task: usize, interval: usize },
}

struct Simplex<'a> {
    program: &'a LinearProgram,
    /// For each task the interval of its key.
    keys: Vec<usize>,
    basis: Vec<LpVariable>,
    /// Where the search for the next variable goes on.
    cursor: usize,
    tolerance: f64,
}

/// What leaves when a variable enters.
enum Leaving {
    Basic(usize),
    Key(usize),
}

/// The optimum of the program. It is computed from the multipliers of the last basis, and so a
/// bound even if rounding has kept that from being the best one.
pub(super) fn optimum(program: &LinearProgram) -> f64 {
    let mut simplex = Simplex::new(program);
    let max_pivots = 50 * (program.tasks() + program.intervals) + 1000;
    let mut best = 0.0f64;
    for pivot in 0..=max_pivots {
        let Some(factors) = Factors::of(&simplex.columns()) else {
            break;
        };
        let multipliers = simplex.multipliers(&factors);
        let entering = simplex.entering(&multipliers);
        if entering.is_none() || pivot == max_pivots {
            best = best.max(simplex.dual(&multipliers));
        }
        let Some(entering) = entering else { break };
        simplex.pivot(&factors, entering);
    }
    best
}

impl<'a> Simplex<'a> {
    /// Begins with every task as early as there is room, those of most weight for their area first.
    fn new(program: &'a LinearProgram) -> Self {
        let last = program.intervals.saturating_sub(1);
        let tasks = 0..program.tasks();
        let mut order: Vec<usize> = tasks.clone().collect();
        let density = |task: &usize| program.costs(*task)[last] / program.areas(*task)[last];
        order.sort_by(|one, other| density(other).total_cmp(&density(one)));
        let mut keys = vec![last; program.tasks()];
        let mut room = vec![1.0; program.intervals];
        // All tasks are in the last interval, until they find another.
        let part = |task: usize, interval: usize| program.areas(task)[interval];
        if let Some(room) = room.last_mut() {
            *room -= tasks.map(|task| part(task, last)).sum::<f64>() / program.capacities[last];
        }
        for task in order {
            let fits = |interval: &usize| {
                (*interval..=last).all(|row| {
                    let own = if row == last { part(task, last) } else { 0.0 };
                    (part(task, *interval) - own) / program.capacities[row] <= room[row]
                })
            };
            let Some(interval) = (0..last).find(fits) else {
                continue;
            };
            let mut change = vec![0.0; program.intervals];
            program.add(task, interval, 1.0, &mut change);
            program.add(task, last, -1.0, &mut change);
            room.iter_mut()
                .zip(change)
                .for_each(|(room, change)| *room -= change);
            keys[task] = interval;
        }
        let costs = (0..program.tasks()).flat_map(|task| program.costs(task));
        Self {
            program,
            keys,
            basis: (0..program.intervals).map(LpVariable::Slack).collect(),
            cursor: 0,
            tolerance: TOLERANCE * costs.copied().fold(0.0, f64::max),
        }
    }

    /// The column of a variable: what it takes of each capacity, in place of the key of its task.
    fn column(&self, variable: LpVariable) -> Vec<f64> {
        let mut column = vec![0.0; self.program.intervals];
        match variable {
            LpVariable::Slack(row) => column[row] = 1.0,
            LpVariable::Part { task, interval } => {
                self.program.add(task, interval, 1.0, &mut column);
                self.program.add(task, self.keys[task], -1.0, &mut column);
            }
        }
        column
    }

    fn columns(&self) -> Vec<Vec<f64>> {
        let basis = self.basis.iter();
        basis.map(|variable| self.column(*variable)).collect()
    }

    fn cost(&self, variable: LpVariable) -> f64 {
        match variable {
            LpVariable::Slack(_) => 0.0,
            LpVariable::Part { task, interval } => {
                let costs = self.program.costs(task);
                costs[interval] - costs[self.keys[task]]
            }
        }
    }

    fn multipliers(&self, factors: &Factors) -> Vec<f64> {
        let costs: Vec<f64> = self
            .basis
            .iter()
            .map(|variable| self.cost(*variable))
            .collect();
        factors.solve_transposed(&costs)
    }

    /// For each interval what a unit of area costs that is used until there.
    fn prices(&self, multipliers: &[f64]) -> Vec<f64> {
        let mut prices: Vec<f64> = multipliers
            .iter()
            .zip(&self.program.capacities)
            .map(|(multiplier, capacity)| -multiplier / capacity)
            .collect();
        for interval in (1..prices.len()).rev() {
            prices[interval - 1] += prices[interval];
        }
        prices
    }

    /// A variable that lowers the objective, or none if none does.
    fn entering(&mut self, multipliers: &[f64]) -> Option<LpVariable> {
        let greatest = multipliers
            .iter()
            .enumerate()
            .max_by(|one, other| one.1.total_cmp(other.1));
        if let Some((row, multiplier)) = greatest
            && *multiplier > self.tolerance
        {
            return Some(LpVariable::Slack(row));
        }
        let prices = self.prices(multipliers);
        let mut best = (-self.tolerance, None);
        let count = self.keys.len();
        for step in 1..=count {
            let task = self.cursor;
            self.cursor = (self.cursor + 1) % count;
            let (costs, areas) = (self.program.costs(task), self.program.areas(task));
            let key = self.keys[task];
            let own = costs[key] + areas[key] * prices[key];
            let parts = costs.iter().zip(areas).zip(&prices);
            for (interval, ((cost, area), price)) in parts.enumerate() {
                let value = cost + area * price - own;
                if area.is_finite() && value < best.0 {
                    best = (value, Some(LpVariable::Part { task, interval }));
                }
            }
            if best.1.is_some() && step % BLOCK == 0 {
                break;
            }
        }
        best.1
    }

    /// The bound that multipliers prove (weak duality).
    fn dual(&self, multipliers: &[f64]) -> f64 {
        let multipliers: Vec<f64> = multipliers.iter().map(|value| value.min(0.0)).collect();
        let prices = self.prices(&multipliers);
        let tasks = 0..self.keys.len();
        let least = tasks.map(|task| {
            let costs = self.program.costs(task).iter();
            let parts = costs.zip(self.program.areas(task)).zip(&prices);
            let values = parts.filter(|((_, area), _)| area.is_finite());
            let values = values.map(|((cost, area), price)| cost + area * price);
            values.fold(f64::INFINITY, f64::min)
        });
        // Rounding must not lift it above what an exact sum would give.
        least.sum::<f64>() * (1.0 - 1e-12) + multipliers.iter().sum::<f64>()
    }

    /// Lets a variable enter, as far as all others stay at 0 or above.
    fn pivot(&mut self, factors: &Factors, entering: LpVariable) {
        let change = factors.solve(&self.column(entering));
        let values = factors.solve(&self.room());
        let mut least = (f64::INFINITY, None);
        let mut consider = |value: f64, rate: f64, leaving: Leaving| {
            let ratio = value.max(0.0) / rate;
            if rate > 1e-11 && ratio < least.0 {
                least = (ratio, Some(leaving));
            }
        };
        for (place, (value, rate)) in values.iter().zip(&change).enumerate() {
            consider(*value, *rate, Leaving::Basic(place));
        }
        for task in self.tasks_in_basis(entering) {
            let places = self.basis.iter().zip(values.iter().zip(&change));
            let parts = places.filter(|(variable, _)| is_of(variable, task));
            let (value, rate) = parts.fold((1.0, 0.0), |(value, rate), (_, (x, change))| {
                (value - x, rate - change)
            });
            let own = if is_of(&entering, task) { 1.0 } else { 0.0 };
            consider(value, rate + own, Leaving::Key(task));
        }
        match least.1 {
            None => {} // no variable is without a bound
            Some(Leaving::Basic(place)) => self.basis[place] = entering,
            Some(Leaving::Key(task)) => self.change_key(task, entering),
        }
    }

    /// Gives a task another key: one of its parts in the basis, whose place the entering variable
    /// takes.
    fn change_key(&mut self, task: usize, entering: LpVariable) {
        let place = self.basis.iter().position(|variable| is_of(variable, task));
        let successor = place.map_or(entering, |place| self.basis[place]);
        if let LpVariable::Part { interval, .. } = successor {
            self.keys[task] = interval;
        }
        if let Some(place) = place {
            self.basis[place] = entering;
        }
    }

    /// The tasks that have more than their key.
    fn tasks_in_basis(&self, entering: LpVariable) -> Vec<usize> {
        let variables = self.basis.iter().chain(std::iter::once(&entering));
        let mut tasks: Vec<usize> = variables
            .filter_map(|variable| match variable {
                LpVariable::Part { task, .. } => Some(*task),
                LpVariable::Slack(_) => None,
            })
            .collect();
        tasks.sort_unstable();
        tasks.dedup();
        tasks
    }

    /// What the keys leave of the capacities.
    fn room(&self) -> Vec<f64> {
        let mut room = vec![1.0; self.program.intervals];
        for (task, key) in self.keys.iter().enumerate() {
            self.program.add(task, *key, -1.0, &mut room);
        }
        room
    }
}

fn is_of(variable: &LpVariable, wanted: usize) -> bool {
    matches!(variable, LpVariable::Part { task, .. } if *task == wanted)
}
