//! Which tasks are in the first shelf, where they may take as long as the guess; the others take at
//! most half of that.

use crate::knapsack::{Item, choose};
use crate::problem::{Problem, real};

/// A task that may be in either shelf, and does less work in the first.
struct Choice {
    task: usize,
    size: u32,
    saving: f64,
}

/// What a guess leaves to be chosen.
struct ShelfKnapsack {
    is_first: Vec<bool>,
    choices: Vec<Choice>,
    /// Processors that the first shelf has left.
    capacity: u32,
    /// What the choice has to save.
    needed: f64,
}

/// Whether the tasks can be split for this guess. If not, no schedule is that short: in any such
/// schedule the tasks that take more than half of the guess use no processor twice, and all work is
/// at most the guess times the processors. So it is for tasks of any kind, monotonic or not.
pub(super) fn is_accepted(problem: &Problem, guess: f64) -> bool {
    let Some(mut knapsack) = ShelfKnapsack::of(problem, guess) else {
        return false;
    };
    if knapsack.needed <= 0.0 {
        return true;
    }
    let density = |choice: &Choice| choice.saving / f64::from(choice.size);
    knapsack
        .choices
        .sort_by(|one, other| density(other).total_cmp(&density(one)));
    let (saved, limit) = knapsack.greedy();
    if saved >= knapsack.needed {
        return true;
    }
    if limit < knapsack.needed {
        return false;
    }
    knapsack.saved(&knapsack.best()) >= knapsack.needed
}

/// For each task whether the split of least work has it in the first shelf; none for a guess that
/// is not accepted. O(n m).
pub(super) fn first_shelf(problem: &Problem, guess: f64) -> Option<Vec<bool>> {
    let knapsack = ShelfKnapsack::of(problem, guess)?;
    let chosen = knapsack.best();
    let mut is_first = knapsack.is_first;
    for (choice, chosen) in knapsack.choices.iter().zip(chosen) {
        is_first[choice.task] = chosen;
    }
    Some(is_first)
}

impl ShelfKnapsack {
    /// None if a task cannot be so short, or the tasks of the first shelf do not fit.
    fn of(problem: &Problem, guess: f64) -> Option<Self> {
        let room = guess * f64::from(problem.processors);
        // A guess is refused for more than what rounding may be.
        let mut knapsack = Self {
            is_first: vec![false; problem.tasks.len()],
            choices: Vec::new(),
            capacity: problem.processors,
            needed: -room * (1.0 + 1e-15 * real(problem.tasks.len() + 8)),
        };
        for (place, task) in problem.tasks.iter().enumerate() {
            let size = task.fewest(guess)?.processors;
            let area = task.cheapest(guess)?.area();
            match task.cheapest(guess / 2.0) {
                None => {
                    knapsack.is_first[place] = true;
                    knapsack.capacity = knapsack.capacity.checked_sub(size)?;
                    knapsack.needed += area;
                }
                Some(short) => {
                    knapsack.needed += short.area();
                    if short.area() > area {
                        knapsack.choices.push(Choice {
                            task: place,
                            size,
                            saving: short.area() - area,
                        });
                    }
                }
            }
        }
        Some(knapsack)
    }

    /// Takes what fits, densest first: what that saves, and what no choice saves more than.
    fn greedy(&self) -> (f64, f64) {
        let (mut room, mut saved) = (self.capacity, 0.0);
        let mut limit = None;
        for choice in &self.choices {
            if choice.size <= room {
                room -= choice.size;
                saved += choice.saving;
            } else if limit.is_none() {
                // The first that does not fit, cut to fit, bounds every choice.
                limit = Some(saved + choice.saving * f64::from(room) / f64::from(choice.size));
            }
        }
        // Rounding must not refuse.
        (saved, limit.unwrap_or(saved) * (1.0 + 1e-12))
    }

    fn best(&self) -> Vec<bool> {
        let items = self.choices.iter().map(|choice| Item {
            size: choice.size,
            value: choice.saving,
        });
        choose(items, self.capacity)
    }

    fn saved(&self, chosen: &[bool]) -> f64 {
        let choices = self.choices.iter().zip(chosen);
        let saved = choices.filter(|(_, chosen)| **chosen);
        saved.map(|(choice, _)| choice.saving).sum::<f64>() * (1.0 + 1e-12)
    }
}
