//! Two shelves, and what does not fit into them: a schedule of at most 3/2 of a guess at the
//! makespan that was accepted (G. Mounié, C. Rapine, D. Trystram: A 3/2-Approximation Algorithm for
//! Scheduling Independent Monotonic Malleable Tasks, SIAM J. Computing 37(2), 2007; what the paper
//! takes from its reference \[7\]).
//!
//! The first shelf has the time from 0 to the guess, the second that from the guess to 3/2 of it.
//! Where the second shelf has too many tasks, some are moved to processors of their own for the
//! whole 3/2, which leaves room.

use std::collections::BinaryHeap;

use dfrs_moldable::list::Due;
use dfrs_moldable::{
    Allotment, Estimate, ListEntry, Placement, Problem, ProcessorSet, Schedule, Task,
};

/// Where each task is.
#[derive(Clone, Debug, Default)]
pub struct Shelves {
    guess: f64,
    /// Tasks, or pairs of tasks one after the other, that have their processors to themselves.
    whole: Vec<Vec<ListEntry>>,
    first: Vec<ListEntry>,
    second: Vec<ListEntry>,
    /// Tasks that take at most half of the guess on one processor.
    small: Vec<ListEntry>,
}

impl Shelves {
    /// The shelves for the guess of an estimate, from its split of the tasks and rearranged until
    /// no rule applies. O(n m), and O(n^2) at worst for O(n) rearrangements.
    pub fn of(problem: &Problem, estimate: &Estimate) -> Self {
        let guess = estimate.guess;
        let mut shelves = Self {
            guess,
            ..Self::default()
        };
        for (task, is_first) in estimate.first_shelf(problem).iter().enumerate() {
            let times = problem.tasks[task];
            let deadline = if *is_first { guess } else { guess / 2.0 };
            // A task of the second shelf has a time within half of the guess: the split ensured it.
            let found = match is_first {
                true => times.fewest(deadline),
                false => times.cheapest(deadline),
            };
            let allotment = found.unwrap_or_else(|| times.fastest());
            let entry = ListEntry { task, allotment };
            match (is_first, allotment.processors) {
                (true, _) => shelves.first.push(entry),
                (false, 1) => shelves.small.push(entry),
                (false, _) => shelves.second.push(entry),
            }
        }
        shelves.narrow(&problem.tasks);
        shelves.stack();
        shelves.lift(problem);
        shelves
    }

    /// Every task with its allotment: those of the large shelf, those of the small shelf, then the
    /// small tasks (the order of Section 4.1's first list algorithm).
    pub fn entries(&self) -> Vec<ListEntry> {
        let whole = self.whole.iter().flatten();
        let shelves = whole.chain(&self.first).chain(&self.second);
        shelves.chain(&self.small).copied().collect()
    }

    /// A task of the first shelf that leaves a quarter of it empty can do with one processor less,
    /// for at most 3/2.
    fn narrow(&mut self, tasks: &[&Task]) {
        let (short, limit) = (self.is_short(), 1.5 * self.guess);
        let whole = &mut self.whole;
        self.first.retain(|entry| {
            let processors = entry.allotment.processors - 1;
            let time = tasks[entry.task].time_on(processors);
            match time.filter(|time| *time <= limit && short(entry)) {
                None => true,
                Some(time) => {
                    let allotment = Allotment { processors, time };
                    let entry = ListEntry {
                        allotment,
                        ..*entry
                    };
                    whole.push(vec![entry]);
                    false
                }
            }
        });
    }

    /// Two such tasks of one processor each can share one; the last one may find a longer partner.
    fn stack(&mut self) {
        let short = self.is_short();
        let is_single = |entry: &ListEntry| entry.allotment.processors == 1 && short(entry);
        let singles: Vec<ListEntry> = self.first.iter().copied().filter(is_single).collect();
        self.first.retain(|entry| !is_single(entry));
        let pairs = singles.chunks_exact(2);
        let left = pairs.remainder().first().copied();
        self.whole.extend(pairs.map(<[ListEntry]>::to_vec));
        let Some(single) = left else { return };
        let room = 1.5 * self.guess - single.allotment.time;
        let partner = self
            .first
            .iter()
            .position(|entry| entry.allotment.time <= room);
        match partner {
            Some(place) => self.whole.push(vec![self.first.remove(place), single]),
            None => self.first.push(single),
        }
    }

    /// A task of the second shelf that can use the processors that are idle before it does so.
    fn lift(&mut self, problem: &Problem) {
        let in_whole = self.whole.iter().filter_map(|stack| stack.first());
        let used = in_whole.chain(&self.first);
        let used: u32 = used.map(|entry| entry.allotment.processors).sum();
        let mut idle = problem.processors.saturating_sub(used);
        let (guess, limit) = (self.guess, 1.5 * self.guess);
        let (whole, first) = (&mut self.whole, &mut self.first);
        let mut is_final = false;
        while !is_final {
            is_final = true;
            self.second.retain(|entry| {
                let found = problem.tasks[entry.task].fewest(limit);
                let Some(allotment) = found.filter(|found| found.processors <= idle) else {
                    return true;
                };
                idle -= allotment.processors;
                is_final = false;
                let entry = ListEntry {
                    allotment,
                    ..*entry
                };
                match allotment.time <= guess {
                    true => first.push(entry),
                    false => whole.push(vec![entry]),
                }
                false
            });
        }
    }

    /// Whether a task takes at most three quarters of the guess.
    fn is_short(&self) -> impl Fn(&ListEntry) -> bool + use<> {
        let limit = 0.75 * self.guess;
        move |entry| entry.allotment.time <= limit
    }

    /// The schedule on so many processors, those of the problem. If all tasks are monotonic (more
    /// processors are never slower and never do less work) there is one, and its makespan is at
    /// most 3/2 of the guess.
    pub fn schedule(&self, processors: u32) -> Option<Schedule> {
        let mut placements = Vec::new();
        // When each processor is free of the first shelf, and when the second begins on it.
        let limit = 1.5 * self.guess;
        let mut free = vec![(0.0, limit); processors as usize];
        let mut next = 0;
        for stack in &self.whole {
            let mut start = 0.0;
            for entry in stack {
                let place = put(entry, start, next, &mut placements);
                free.get_mut(place.start as usize..place.end as usize)?
                    .fill((start + entry.allotment.time, limit));
                start += entry.allotment.time;
            }
            next += stack.first()?.allotment.processors;
        }
        let shared = next;
        for entry in &self.first {
            let place = put(entry, 0.0, next, &mut placements);
            let places = place.start as usize..place.end as usize;
            free.get_mut(places)?.fill((entry.allotment.time, limit));
            next = place.end;
        }
        // The second shelf from the other side, so that it begins where the first has left the
        // most.
        let mut end = processors;
        for entry in &self.second {
            let start = limit - entry.allotment.time;
            end = end.checked_sub(entry.allotment.processors)?;
            if end < shared {
                return None;
            }
            for (first, second) in &mut free[end as usize..][..entry.allotment.processors as usize]
            {
                *second = start;
                if *first > start {
                    return None;
                }
            }
            put(entry, start, end, &mut placements);
        }
        self.fill(free, &mut placements)?;
        placements.sort_by_key(|placement| placement.task);
        Some(Schedule { placements })
    }

    /// The small tasks between the shelves, each where there is the most room.
    fn fill(&self, mut free: Vec<(f64, f64)>, placements: &mut Vec<Placement>) -> Option<()> {
        let loads = free
            .iter()
            .zip(0u32..)
            .map(|((first, second), processor)| Due {
                time: first - second,
                what: processor,
            });
        let mut loads: BinaryHeap<Due<u32>> = loads.collect();
        let mut small = self.small.clone();
        small.sort_by(|one, other| other.allotment.time.total_cmp(&one.allotment.time));
        for entry in small {
            let Due {
                what: processor, ..
            } = loads.pop()?;
            let (start, second) = &mut free[processor as usize];
            put(&entry, *start, processor, placements);
            *start += entry.allotment.time;
            // Rounding aside: it would start a hair into the second shelf, or past the end.
            if *start > *second {
                return None;
            }
            let time = *start - *second;
            loads.push(Due {
                time,
                what: processor,
            });
        }
        Some(())
    }
}

/// Places an entry on the processors from `first` on, and returns them.
fn put(
    entry: &ListEntry,
    start: f64,
    first: u32,
    placements: &mut Vec<Placement>,
) -> std::ops::Range<u32> {
    let range = first..first + entry.allotment.processors;
    placements.push(Placement {
        task: entry.task,
        start,
        end: start + entry.allotment.time,
        processors: ProcessorSet::of(range.clone()),
    });
    range
}
