//! How many nodes are free from now on.

use dfrs_core::{Mapping, Span, Time};

use super::plan::ReservationPlan;
use super::steps::Steps;
use crate::trace::TraceJob;

/// Free nodes over time. From the last step on all nodes are free.
#[derive(Clone, Debug)]
pub(super) struct Profile {
    nodes: u32,
    steps: Steps<u32>,
}

impl Profile {
    /// All nodes are free at all times.
    pub fn new(nodes: u32) -> Self {
        let steps = Steps::new(nodes);
        Self { nodes, steps }
    }

    /// The first time from `now` on at which so many nodes are free for so long. There must be as many
    /// nodes. O(steps).
    pub fn earliest(&self, now: Time, tasks: u32, duration: Span) -> Time {
        let steps = self.steps.all();
        let mut start = now;
        for place in self.steps.at(now)..steps.len() {
            let next = steps.get(place + 1).map(|step| step.from);
            if steps[place].free < tasks {
                start = next.unwrap_or(start);
            } else if next.is_none_or(|next| start + duration <= next) {
                break;
            }
        }
        start
    }

    /// Takes so many nodes from `start` to before `end`. They must be free. O(steps).
    pub fn take(&mut self, start: Time, end: Time, tasks: u32) {
        self.steps.change(start, end, |free| *free -= tasks);
    }

    /// Frees so many nodes again from `start` to before `end`. O(steps).
    pub fn give(&mut self, start: Time, end: Time, tasks: u32) {
        self.steps.change(start, end, |free| *free += tasks);
    }
}

impl ReservationPlan for Profile {
    /// A number of nodes, no matter which.
    type Place = u32;

    fn clear(&mut self) {
        *self = Self::new(self.nodes);
    }

    fn forget_before(&mut self, now: Time) {
        self.steps.forget_before(now);
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
        assert_eq!(profile.steps.all().len(), 1, "{profile:?}");
    }

    #[test]
    fn forget_before_removes_only_past_steps() {
        let mut profile = Profile::new(2);
        profile.take(Time(0), Time(10), 2);
        profile.take(Time(20), Time(30), 1);
        profile.steps.forget_before(Time(15));
        assert_eq!(profile.steps.all().len(), 3, "{profile:?}");
        assert_eq!(profile.earliest(Time(15), 2, Span(5)), Time(15));
        assert_eq!(profile.earliest(Time(15), 2, Span(6)), Time(30));
    }
}
