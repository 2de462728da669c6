//! Whether all jobs can be finished in time, from the first release to the last deadline.
//!
//! Interval after interval, jobs first get what they would otherwise be late for, then what is left
//! by least laxity. Where that is not enough, augmenting paths change what was given before, so
//! that the answer is exact; they are looked for after some such intervals together. The answer comes
//! in pieces: where no job lags, i.e. all that are not complete had their full rate since their
//! release, what was before does not matter any more.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::augment::{Closed, Lack, PathSearch};
use super::cut::{Cut, Edge};
use super::fill::Fill;
use super::flow::Flow;
use super::instance::{Instance, StretchLevel};
use super::split::Split;

/// What can be used again by the next sweep.
#[derive(Default)]
pub(super) struct Sweep {
    flow: Flow,
    fill: Fill,
    search: PathSearch,
    /// What happens at the beginning of each interval.
    moments: Vec<Moment>,
    /// Members that are not complete, ascending.
    alive: Vec<u32>,
    /// Members that lack something and are due.
    late: Vec<u32>,
    /// Intervals since the last repair in which a member lacked something.
    short: u32,
    /// At how many of them they are repaired.
    max_short_intervals: u32,
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

impl Sweep {
    /// What is lacking is looked for after so many intervals that are too short, or when no later one
    /// matters to those that lack it.
    pub fn new(max_short_intervals: u32) -> Self {
        Self {
            max_short_intervals,
            ..Self::default()
        }
    }

    /// From one moment at which no job lags to the next.
    ///
    /// # Errors
    ///
    /// Not all jobs can be in time; the cut says why.
    pub fn run(
        &mut self,
        instance: &Instance,
        level: StretchLevel,
        split: &Split,
    ) -> Result<Split, Cut> {
        self.flow.clear();
        self.moments.clear();
        self.alive.clear();
        self.late.clear();
        self.short = 0;
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
            if self.short == 0 && !self.lags() {
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

    /// Whether the intervals so far matter to a job that is not complete.
    fn lags(&self) -> bool {
        let members = &self.flow.members;
        self.alive
            .iter()
            .any(|member| members[*member as usize].lags)
    }

    fn release(&mut self, instance: &Instance, level: StretchLevel, job: u32, now: i64) {
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
        self.short += u32::from(self.fill.give(&mut self.flow, interval, &self.alive));
        self.leave();
        if self.short > 0 && (self.short >= self.max_short_intervals || !self.goes_on(to)) {
            self.repair(to)?;
            self.leave();
        }
        Ok(())
    }

    /// Removes complete members from those that are alive.
    fn leave(&mut self) {
        let members = &self.flow.members;
        self.alive
            .retain(|member| !members[*member as usize].is_complete());
    }

    /// Whether there will be an interval after `now` to which these matter.
    fn goes_on(&self, now: i64) -> bool {
        let members = &self.flow.members;
        let mut alive = self.alive.iter().map(|member| &members[*member as usize]);
        alive.any(|member| member.lags && member.due > now)
    }

    /// Changes what was given before until no member lacks anything at `now`.
    fn repair(&mut self, now: i64) -> Result<(), Cut> {
        self.short = 0;
        self.lacks.clear();
        for member in self.alive.iter().chain(&self.late) {
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
        self.late.clear();
        while let Some(member) = self.lowered.pop() {
            self.flow.members[member as usize].lags = true;
            self.revive(member);
        }
        Ok(())
    }

    /// How many jobs the last sweep has met.
    pub fn jobs(&self) -> usize {
        self.flow.members.len()
    }

    /// What the search reached before it failed, in terms that are valid at another level.
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
            let state = &mut self.flow.members[member as usize];
            state.end = end;
            moment.due = Some(state.job);
            if let Ok(place) = self.alive.binary_search(&member) {
                self.alive.remove(place);
                self.late.push(member);
            }
        }
        moment
    }
}
