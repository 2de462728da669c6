//! Whether all jobs can be finished in time, from the first release to the last deadline.
//!
//! Interval after interval, jobs first get what they would otherwise be late for, then what is left
//! by earliest deadline. Where that is not enough, augmenting paths change what was given before, so
//! that the answer is exact. It comes in pieces: where no job lags, i.e. all that are not complete
//! had their full rate since their release, what was before does not matter any more.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::augment::{Closed, Lack, Search};
use super::cut::{Cut, Edge};
use super::fill::Fill;
use super::flow::Flow;
use super::instance::{Instance, Level};

/// A moment at which no job lags.
#[derive(Clone, Debug, Default)]
pub(super) struct Split {
    pub at: i64,
    /// The first job that is not yet released, by its place in the instance.
    pub next: usize,
    /// The jobs that have work left.
    pub running: Vec<u32>,
}

/// What can be used again by the next sweep.
#[derive(Default)]
pub(super) struct Sweep {
    flow: Flow,
    fill: Fill,
    search: Search,
    /// What happens at the beginning of each interval.
    moments: Vec<Moment>,
    /// Members that are not complete, ascending.
    alive: Vec<u32>,
    dues: BinaryHeap<Reverse<(i64, u32)>>,
    lacks: Vec<Lack>,
    lowered: Vec<u32>,
}

/// What happens at a moment.
#[derive(Clone, Copy, Debug, Default)]
struct Moment {
    released: bool,
    due: Option<u32>,
}

impl Split {
    /// The moment from which on not all jobs can have their full rate. None: they always can.
    pub fn until_contention(mut self, instance: &Instance) -> Option<Self> {
        let jobs = &instance.jobs;
        let end = |job: u32| {
            let job = &jobs[job as usize];
            let length = job
                .work
                .unsigned_abs()
                .div_ceil(job.rate.unsigned_abs().into());
            Reverse(i128::from(job.release) + length.cast_signed())
        };
        let rate = |job: u32| i128::from(jobs[job as usize].rate);
        let capacity = i128::from(instance.capacity);
        let mut used: i128 = self.running.iter().map(|job| rate(*job)).sum();
        let mut ends: BinaryHeap<(Reverse<i128>, u32)> =
            self.running.drain(..).map(|job| (end(job), job)).collect();
        while used <= capacity {
            let first = jobs.get(self.next)?;
            self.at = first.release;
            while let Some((_, job)) = ends
                .peek()
                .filter(|(Reverse(end), _)| *end <= i128::from(self.at))
            {
                used -= rate(*job);
                ends.pop();
            }
            while jobs
                .get(self.next)
                .is_some_and(|job| job.release == self.at)
            {
                let job = u32::try_from(self.next).unwrap_or(u32::MAX);
                used += rate(job);
                ends.push((end(job), job));
                self.next += 1;
            }
        }
        self.running = ends.into_iter().map(|(_, job)| job).collect();
        self.running.sort_unstable();
        Some(self)
    }
}

impl Sweep {
    /// From one moment at which no job lags to the next.
    ///
    /// # Errors
    ///
    /// Not all jobs can be in time; the cut tells why.
    pub fn run(&mut self, instance: &Instance, level: Level, split: &Split) -> Result<Split, Cut> {
        self.flow.clear();
        self.moments.clear();
        self.alive.clear();
        self.dues.clear();
        self.lowered.clear();
        let mut at = split.at;
        let mut next = split.next;
        let mut moment = Moment {
            released: true,
            due: None,
        };
        for job in &split.running {
            self.release(instance, level, *job, at);
        }
        loop {
            while instance.jobs.get(next).is_some_and(|job| job.release == at) {
                let job = u32::try_from(next).unwrap_or(u32::MAX);
                self.release(instance, level, job, at);
                moment.released = true;
                next += 1;
            }
            self.moments.push(moment);
            let release = instance.jobs.get(next).map(|job| job.release);
            let due = self.dues.peek().map(|Reverse((due, _))| *due);
            let to = match (release, due) {
                (Some(release), Some(due)) => release.min(due),
                (release, due) => release.or(due).unwrap_or(at),
            };
            self.pass(instance.capacity, at, to)?;
            at = to;
            moment = self.expire(at);
            if !self.alive.iter().any(|member| self.lags(*member)) {
                let alive = self.alive.iter();
                return Ok(Split {
                    at,
                    next,
                    running: alive
                        .map(|member| self.flow.members[*member as usize].job)
                        .collect(),
                });
            }
        }
    }

    fn lags(&self, member: u32) -> bool {
        self.flow.members[member as usize].lags
    }

    fn release(&mut self, instance: &Instance, level: Level, job: u32, now: i64) {
        let demand = &instance.jobs[job as usize];
        let before = i128::from(now - demand.release) * i128::from(demand.rate);
        let due = demand.deadline(level);
        let work = demand.work - before;
        let member = self.flow.add_member(job, demand.rate, work, due);
        self.dues.push(Reverse((due, member)));
        self.revive(member);
    }

    /// Takes the member among those that are not complete.
    fn revive(&mut self, member: u32) {
        if let Err(place) = self.alive.binary_search(&member) {
            self.alive.insert(place, member);
        }
    }

    /// Makes the jobs do what they have to, and what more they can, between these times.
    fn pass(&mut self, capacity: i64, from: i64, to: i64) -> Result<(), Cut> {
        let interval = self.flow.add_interval(from, to, capacity);
        if self.fill.give(&mut self.flow, interval, &self.alive) {
            self.repair(to)?;
        }
        let members = &self.flow.members;
        self.alive
            .retain(|member| !members[*member as usize].is_complete());
        Ok(())
    }

    /// Changes what was given before until nobody lacks anything at `now`.
    fn repair(&mut self, now: i64) -> Result<(), Cut> {
        self.lacks.clear();
        for member in &self.alive {
            let state = &self.flow.members[*member as usize];
            let lack = state.owed(now) - state.done;
            if lack > 0 {
                self.lacks.push((*member, lack));
            }
        }
        let (lacks, lowered) = (&mut self.lacks, &mut self.lowered);
        let result = self.search.satisfy(&mut self.flow, lacks, now, lowered);
        if let Err(closed) = result {
            return Err(self.cut(&closed));
        }
        while let Some(member) = self.lowered.pop() {
            self.flow.members[member as usize].lags = true;
            self.revive(member);
        }
        Ok(())
    }

    /// What was searched in vain, in terms that make sense at another level.
    fn cut(&self, closed: &Closed) -> Cut {
        let job = |member: u32| self.flow.members[member as usize].job;
        let due_next = |time: i64| {
            let next = self.dues.peek().filter(|Reverse((due, _))| *due == time);
            next.map(|Reverse((_, member))| job(*member))
        };
        let ranges = closed.intervals.iter().map(|place| {
            let place = *place as usize;
            let interval = &self.flow.intervals[place];
            let from = match self.moments[place] {
                Moment {
                    released: false,
                    due: Some(job),
                } => Edge::Due(job),
                _ => Edge::At(interval.from),
            };
            let due = match self.moments.get(place + 1) {
                Some(moment) => moment.due,
                None => due_next(interval.to),
            };
            (from, due.map_or(Edge::At(interval.to), Edge::Due))
        });
        Cut::new(
            closed.members.iter().map(|member| job(*member)).collect(),
            ranges.collect(),
        )
    }

    /// The windows of jobs that are due end.
    fn expire(&mut self, now: i64) -> Moment {
        let mut moment = Moment::default();
        let end = u32::try_from(self.flow.intervals.len()).unwrap_or(u32::MAX);
        while let Some(Reverse((due, member))) = self.dues.peek().copied() {
            if due > now {
                break;
            }
            self.dues.pop();
            let member = &mut self.flow.members[member as usize];
            member.end = end;
            moment.due = Some(member.job);
        }
        moment
    }
}
