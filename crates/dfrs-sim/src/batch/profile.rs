//! How many nodes are free from now on.

use dfrs_core::{Mapping, Span, Time};

use super::plan::Plan;
use crate::trace::TraceJob;

/// From this time to that of the next step, so many nodes are free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    from: Time,
    free: u32,
}

/// Free nodes over time, as steps of ascending time. From the last one on all nodes are free.
#[derive(Clone, Debug)]
pub(super) struct Profile {
    nodes: u32,
    steps: Vec<Step>,
}

impl Profile {
    /// All nodes are free at all times.
    pub fn new(nodes: u32) -> Self {
        let first = Step {
            from: Time(i64::MIN),
            free: nodes,
        };
        let steps = vec![first];
        Self { nodes, steps }
    }

    /// Forgets what was before `now`. O(steps).
    pub fn forget_before(&mut self, now: Time) {
        let past = self.steps.partition_point(|step| step.from <= now);
        self.steps.drain(..past.saturating_sub(1));
    }

    /// The first time from `now` on at which so many nodes are free for so long. There must be as many
    /// nodes. O(steps).
    pub fn earliest(&self, now: Time, tasks: u32, duration: Span) -> Time {
        let first = self.steps.partition_point(|step| step.from <= now);
        let mut start = now;
        for place in first.saturating_sub(1)..self.steps.len() {
            let next = self.steps.get(place + 1).map(|step| step.from);
            if self.steps[place].free < tasks {
                start = next.unwrap_or(start);
            } else if next.is_none_or(|next| start + duration <= next) {
                break;
            }
        }
        start
    }

    /// So many nodes are taken from `start` to before `end`. They must be free. O(steps).
    pub fn take(&mut self, start: Time, end: Time, tasks: u32) {
        self.change(start, end, |free| free - tasks);
    }

    /// So many nodes are free again from `start` to before `end`. O(steps).
    pub fn give(&mut self, start: Time, end: Time, tasks: u32) {
        self.change(start, end, |free| free + tasks);
    }

    fn change(&mut self, start: Time, end: Time, change: impl Fn(u32) -> u32) {
        if start >= end {
            return;
        }
        let first = self.split(start);
        let last = self.split(end);
        for step in &mut self.steps[first..last] {
            step.free = change(step.free);
        }
        // What is equal now was so by chance, or because a reservation is gone.
        self.join(last);
        self.join(first);
    }

    /// The place of the step that begins then; makes one if there is none.
    fn split(&mut self, at: Time) -> usize {
        let place = self.steps.partition_point(|step| step.from < at);
        if self.steps.get(place).is_none_or(|step| step.from != at) {
            let free = self.steps[place.saturating_sub(1)].free;
            self.steps.insert(place, Step { from: at, free });
        }
        place
    }

    /// Joins the step with the one before if both have as many free nodes.
    fn join(&mut self, place: usize) {
        if place > 0
            && place < self.steps.len()
            && self.steps[place].free == self.steps[place - 1].free
        {
            self.steps.remove(place);
        }
    }
}

impl Plan for Profile {
    /// A number of nodes, no matter which.
    type Place = u32;

    fn clear(&mut self) {
        *self = Self::new(self.nodes);
    }

    fn forget_before(&mut self, now: Time) {
        self.forget_before(now);
    }

    fn earliest(&self, now: Time, job: &TraceJob, duration: Span) -> (Time, u32) {
        (self.earliest(now, job.tasks, duration), job.tasks)
    }

    fn take(&mut self, start: Time, end: Time, place: &u32) {
        self.take(start, end, *place);
    }

    fn give(&mut self, start: Time, end: Time, place: &u32) {
        self.give(start, end, *place);
    }

    fn mapping(_: &u32) -> Option<Mapping> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_taken_and_given_back() {
        let mut profile = Profile::new(4);
        profile.take(Time(0), Time(10), 3);
        profile.take(Time(10), Time(20), 4);
        let at =
            |profile: &Profile, tasks, duration| profile.earliest(Time(0), tasks, Span(duration)).0;
        assert_eq!(at(&profile, 1, 10), 0);
        assert_eq!(at(&profile, 1, 11), 20);
        assert_eq!(at(&profile, 2, 1), 20);
        profile.give(Time(15), Time(20), 4);
        assert_eq!(at(&profile, 4, 100), 15);
        assert_eq!(profile.earliest(Time(17), 4, Span(1)), Time(17));
        profile.give(Time(0), Time(10), 3);
        profile.give(Time(10), Time(15), 4);
        assert_eq!(profile.steps.len(), 1, "{profile:?}");
    }

    #[test]
    fn the_past_is_forgotten_and_nothing_else() {
        let mut profile = Profile::new(2);
        profile.take(Time(0), Time(10), 2);
        profile.take(Time(20), Time(30), 1);
        profile.forget_before(Time(15));
        assert_eq!(profile.steps.len(), 3, "{profile:?}");
        assert_eq!(profile.earliest(Time(15), 2, Span(5)), Time(15));
        assert_eq!(profile.earliest(Time(15), 2, Span(6)), Time(30));
    }
}
