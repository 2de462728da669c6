//! What of each node is free from now on.

use dfrs_core::{Mapping, Span, Time};

use super::node_amounts::{NodeAmounts, Tasks};
use super::steps::{ProfileRoom, Steps};
use crate::trace::TraceJob;

/// What is free of each node.
impl ProfileRoom for Vec<NodeAmounts> {
    type Place = Tasks;

    /// O(steps × nodes), and O(nodes × steps while it would run) for each step at which it might start.
    fn earliest(steps: &Steps<Self>, now: Time, job: &TraceJob, duration: Span) -> (Time, Tasks) {
        let task = NodeAmounts::of_task(job);
        let wanted = u64::from(job.tasks);
        let held =
            |rooms: &Self| -> u64 { rooms.iter().map(|room| u64::from(room.holds(task))).sum() };
        let mut first = steps.at(now);
        let steps = steps.all();
        let mut start = now;
        // Steps up to this one are known to hold it, each for itself.
        let mut known = first;
        'start: loop {
            let end = start + duration;
            let within = |place: usize| {
                place == first || steps.get(place).is_some_and(|step| step.from < end)
            };
            while within(known) {
                if held(&steps[known].free) < wanted && known + 1 < steps.len() {
                    known += 1;
                    first = known;
                    start = steps[first].from;
                    continue 'start;
                }
                known += 1;
            }
            let mut room = steps[first].free.clone();
            for place in (first + 1..).take_while(|place| within(*place)) {
                for (least, room) in room.iter_mut().zip(&steps[place].free) {
                    *least = least.least(*room);
                }
            }
            let all = |node: usize| room[node].holds(task);
            if let Some(tasks) = Tasks::find(job, room.len(), |node| (all(node), all(node))) {
                return (start, tasks);
            }
            first += 1;
            let Some(step) = steps.get(first) else {
                return (start, Tasks::default());
            };
            start = step.from;
            known = known.max(first);
        }
    }

    fn take(&mut self, place: &Tasks) {
        place.take_from(self);
    }

    fn give(&mut self, place: &Tasks) {
        place.give_to(self);
    }

    fn mapping(place: &Tasks) -> Option<Mapping> {
        Some(place.mapping())
    }
}
