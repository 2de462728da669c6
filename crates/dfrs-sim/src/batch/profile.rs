//! How many nodes are free from now on.

use dfrs_core::{Mapping, Span, Time};

use super::steps::{ProfileRoom, Steps};
use crate::trace::TraceJob;

/// A number of free nodes.
impl ProfileRoom for u32 {
    /// So many nodes, no matter which.
    type Place = Self;

    fn earliest(
        steps: &Steps<Self>,
        now: Time,
        job: &TraceJob,
        duration: Span,
    ) -> (Time, Self::Place) {
        (earliest(steps, now, job.tasks, duration), job.tasks)
    }

    fn take(&mut self, place: &Self::Place) {
        *self -= place;
    }

    fn give(&mut self, place: &Self::Place) {
        *self += place;
    }

    fn mapping(_: &Self::Place) -> Option<Mapping> {
        None
    }
}

/// The first time from `now` on at which so many nodes are free for so long. There must be as many
/// nodes. O(steps).
fn earliest(steps: &Steps<u32>, now: Time, tasks: u32, duration: Span) -> Time {
    let first = steps.at(now);
    let steps = steps.all();
    let mut start = now;
    for place in first..steps.len() {
        let next = steps.get(place + 1).map(|step| step.from);
        if steps[place].free < tasks {
            start = next.unwrap_or(start);
        } else if next.is_none_or(|next| start + duration <= next) {
            break;
        }
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_taken_and_given_back() {
        let mut profile = Steps::new(4);
        profile.take(Time(0), Time(10), &3);
        profile.take(Time(10), Time(20), &4);
        let at = |profile: &Steps<u32>, tasks, duration| {
            earliest(profile, Time(0), tasks, Span(duration)).0
        };
        assert_eq!(at(&profile, 1, 10), 0);
        assert_eq!(at(&profile, 1, 11), 20);
        assert_eq!(at(&profile, 2, 1), 20);
        profile.give(Time(15), Time(20), &4);
        assert_eq!(at(&profile, 4, 100), 15);
        assert_eq!(earliest(&profile, Time(17), 4, Span(1)), Time(17));
        profile.give(Time(0), Time(10), &3);
        profile.give(Time(10), Time(15), &4);
        assert_eq!(profile.all().len(), 1, "{profile:?}");
    }

    #[test]
    fn forget_before_removes_only_past_steps() {
        let mut profile = Steps::new(2);
        profile.take(Time(0), Time(10), &2);
        profile.take(Time(20), Time(30), &1);
        profile.forget_before(Time(15));
        assert_eq!(profile.all().len(), 3, "{profile:?}");
        assert_eq!(earliest(&profile, Time(15), 2, Span(5)), Time(15));
        assert_eq!(earliest(&profile, Time(15), 2, Span(6)), Time(30));
    }
}
