//! Max-min fair yields by progressive filling.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use crate::constraints::Constraints;

/// The yields of all jobs rise together, each in proportion to its weight, which is above 0, until
/// the job has all it needs or a constraint of its binds (Bertsekas and Gallager, Data Networks,
/// Section 6.5; TPDS, Section 4.6, "OPT=MIN"). O((constraints + runs) log constraints).
pub(super) fn max_min(constraints: &Constraints, weights: Vec<u32>) -> Vec<f64> {
    if constraints.rows() == 0 {
        return vec![1.0; weights.len()];
    }
    let mut filling = Filling::new(constraints, weights);
    filling.run();
    filling
        .yields
        .into_iter()
        .map(|share| share.unwrap_or(1.0))
        .collect()
}

/// State of progressive filling. The level is the yield of jobs of weight 1.
struct Filling<'a> {
    constraints: &'a Constraints,
    /// Weights in thousandths.
    weights: Vec<u32>,
    /// Capacity of each constraint less what jobs whose yield is settled take.
    left: Vec<f64>,
    /// Sum over the other jobs of each constraint of weight, in thousandths, times need: whole
    /// numbers, so that jobs can be taken off exactly.
    rising: Vec<u128>,
    /// The settled yields.
    yields: Vec<Option<f64>>,
    /// How many of the jobs that are in some constraint are not settled.
    unsettled: usize,
}

/// What happens at a level of the filling, which is not negative; the lowest level is the greatest
/// event, so that it is the first in a heap.
///
/// The level comes first, then what happens, in one number, because most of the time is spent
/// comparing: bits of real numbers that are not negative are in the order of the numbers.
type FillingEvent = Reverse<u128>;

#[derive(Clone, Copy)]
enum FillingStep {
    /// This constraint binds.
    Binds(u32),
    /// Jobs of the weight at this place have all they need.
    Full(u32),
}

/// Where an event's number says that it is a weight's.
const FULL: u128 = 1 << 32;

fn event(level: f64, what: FillingStep) -> FillingEvent {
    let what = match what {
        FillingStep::Binds(row) => u128::from(row),
        FillingStep::Full(place) => FULL | u128::from(place),
    };
    Reverse(u128::from(level.abs().to_bits()) << 64 | what)
}

/// The level of an event, and what happens.
#[expect(clippy::cast_possible_truncation, reason = "the parts of the number")]
fn parts(Reverse(event): FillingEvent) -> (f64, FillingStep) {
    let place = event as u32;
    let what = match event & FULL {
        0 => FillingStep::Binds(place),
        _ => FillingStep::Full(place),
    };
    (f64::from_bits((event >> 64) as u64), what)
}

impl<'a> Filling<'a> {
    fn new(constraints: &'a Constraints, weights: Vec<u32>) -> Self {
        let rise = |row| {
            let members = constraints.members(row).iter();
            members
                .map(|(job, need)| u128::from(weights[*job as usize]) * u128::from(*need))
                .sum()
        };
        Self {
            constraints,
            left: constraints.capacities().collect(),
            rising: (0..constraints.rows()).map(rise).collect(),
            yields: vec![None; weights.len()],
            unsettled: 0,
            weights,
        }
    }

    fn run(&mut self) {
        let by_weight = self.by_weight();
        self.unsettled = by_weight.len();
        let mut events = self.events(&by_weight);
        while self.unsettled > 0
            && let Some(mut first) = events.peek_mut()
        {
            let (level, what) = parts(*first);
            if let FillingStep::Binds(row) = what
                && self.rising[row as usize] > 0
                && self.level(row) > level
            {
                // Jobs that settled meanwhile took less than they would have: it binds later.
                *first = event(self.level(row), what);
                continue;
            }
            PeekMut::pop(first);
            match what {
                FillingStep::Full(place) => {
                    let jobs = &by_weight[place as usize..];
                    let alike = jobs.iter().take_while(|(weight, _)| *weight == jobs[0].0);
                    for (_, job) in alike {
                        self.settle(*job as usize, 1.0);
                    }
                }
                FillingStep::Binds(row) if self.rising[row as usize] == 0 => {}
                FillingStep::Binds(row) => {
                    for (job, _) in self.constraints.members(row as usize) {
                        let share = level * f64::from(self.weights[*job as usize]) / 1000.0;
                        self.settle(*job as usize, share.min(1.0));
                    }
                }
            }
        }
    }

    /// The jobs that are in some constraint, each after its weight, ascending.
    fn by_weight(&self) -> Vec<(u32, u32)> {
        let mut jobs = Vec::with_capacity(self.weights.len());
        for (job, weight) in (0u32..).zip(&self.weights) {
            if !self.constraints.places(job as usize).is_empty() {
                jobs.push((*weight, job));
            }
        }
        jobs.sort_unstable();
        jobs
    }

    /// All that may happen.
    fn events(&self, by_weight: &[(u32, u32)]) -> BinaryHeap<FillingEvent> {
        let mut events = Vec::with_capacity(self.left.len() + 1);
        for row in (0u32..).take(self.left.len()) {
            events.push(event(self.level(row), FillingStep::Binds(row)));
        }
        let mut before = 0;
        for (place, (weight, _)) in (0u32..).zip(by_weight) {
            if *weight != before {
                before = *weight;
                events.push(event(1000.0 / f64::from(*weight), FillingStep::Full(place)));
            }
        }
        BinaryHeap::from(events)
    }

    /// The level at which the constraint binds if no job settles before.
    fn level(&self, row: u32) -> f64 {
        let row = row as usize;
        (1000.0 * self.left[row] / real(self.rising[row])).max(0.0)
    }

    /// Fixes the job's yield, unless it is fixed already.
    // Precise enough: shares are real numbers.
    fn settle(&mut self, job: usize, share: f64) {
        if self.yields[job].is_some() {
            return;
        }
        self.yields[job] = Some(share);
        self.unsettled -= 1;
        let weight = u128::from(self.weights[job]);
        for (row, need) in self.constraints.places(job) {
            self.left[*row as usize] -= share * *need as f64;
            self.rising[*row as usize] -= weight * u128::from(*need);
        }
    }
}

/// The nearest real number; that of a number below 2^64 is found much faster.
#[inline]
// Precise enough: shares are real numbers.
fn real(number: u128) -> f64 {
    u64::try_from(number).map_or_else(|_| real_of_large(number), |small| small as f64)
}

/// Apart, or the compiler finds both and then chooses.
#[cold]
#[inline(never)]
// Precise enough: shares are real numbers.
fn real_of_large(number: u128) -> f64 {
    number as f64
}
