//! What of each node is free from now on.

use dfrs_core::{Mapping, Span, Time};

use super::plan::Plan;
use super::room::{Room, Tasks};
use crate::trace::TraceJob;

/// From this time to that of the next step, so much of each node is free.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    from: Time,
    free: Vec<Room>,
}

/// Free room over time, as steps of ascending time. From the last one on all of it is free.
#[derive(Clone, Debug)]
pub(super) struct RoomProfile {
    steps: Vec<Step>,
}

impl RoomProfile {
    /// All is free at all times.
    pub fn new(nodes: u32) -> Self {
        let first = Step {
            from: Time(i64::MIN),
            free: vec![Room::NODE; nodes as usize],
        };
        Self { steps: vec![first] }
    }

    fn change(&mut self, start: Time, end: Time, change: impl Fn(&mut [Room])) {
        if start >= end {
            return;
        }
        let first = self.split(start);
        let last = self.split(end);
        for step in &mut self.steps[first..last] {
            change(&mut step.free);
        }
        self.join(last);
        self.join(first);
    }

    /// The place of the step that begins then; makes one if there is none.
    fn split(&mut self, at: Time) -> usize {
        let place = self.steps.partition_point(|step| step.from < at);
        if self.steps.get(place).is_none_or(|step| step.from != at) {
            let free = self.steps[place.saturating_sub(1)].free.clone();
            self.steps.insert(place, Step { from: at, free });
        }
        place
    }

    /// Joins the step with the one before if both have the same room.
    fn join(&mut self, place: usize) {
        if place > 0
            && place < self.steps.len()
            && self.steps[place].free == self.steps[place - 1].free
        {
            self.steps.remove(place);
        }
    }

    /// How many tasks the nodes hold in this step.
    fn held(&self, place: usize, task: Room) -> u64 {
        let rooms = self.steps[place].free.iter();
        rooms.map(|room| u64::from(room.holds(task))).sum()
    }
}

impl Plan for RoomProfile {
    type Place = Tasks;

    fn clear(&mut self) {
        let nodes = self.steps[0].free.len();
        *self = Self::new(u32::try_from(nodes).unwrap_or(u32::MAX));
    }

    /// O(steps).
    fn forget_before(&mut self, now: Time) {
        let past = self.steps.partition_point(|step| step.from <= now);
        self.steps.drain(..past.saturating_sub(1));
    }

    /// O(steps × nodes), and O(nodes × steps while it would run) for each step at which it might start.
    fn earliest(&self, now: Time, job: &TraceJob, duration: Span) -> (Time, Tasks) {
        let task = Room::of_task(job);
        let wanted = u64::from(job.tasks);
        let first = self.steps.partition_point(|step| step.from <= now);
        let mut first = first.saturating_sub(1);
        let mut start = now;
        // Steps up to this one are known to hold it, each for itself.
        let mut known = first;
        'start: loop {
            let end = start + duration;
            let within = |place: usize| {
                place == first || self.steps.get(place).is_some_and(|step| step.from < end)
            };
            while within(known) {
                if self.held(known, task) < wanted && known + 1 < self.steps.len() {
                    known += 1;
                    first = known;
                    start = self.steps[first].from;
                    continue 'start;
                }
                known += 1;
            }
            let mut room = self.steps[first].free.clone();
            for place in (first + 1..).take_while(|place| within(*place)) {
                for (least, room) in room.iter_mut().zip(&self.steps[place].free) {
                    *least = least.least(*room);
                }
            }
            let all = |node: usize| room[node].holds(task);
            if let Some(tasks) = Tasks::find(job, room.len(), |node| (all(node), all(node))) {
                return (start, tasks);
            }
            first += 1;
            let Some(step) = self.steps.get(first) else {
                return (start, Tasks::default());
            };
            start = step.from;
            known = known.max(first);
        }
    }

    fn take(&mut self, start: Time, end: Time, place: &Tasks) {
        self.change(start, end, |rooms| place.take_from(rooms));
    }

    fn give(&mut self, start: Time, end: Time, place: &Tasks) {
        self.change(start, end, |rooms| place.give_to(rooms));
    }

    fn mapping(place: &Tasks) -> Option<Mapping> {
        Some(place.mapping())
    }
}
