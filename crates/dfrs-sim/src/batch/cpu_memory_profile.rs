//! What of each node is free from now on.

use dfrs_core::{Mapping, Span, Time};

use super::cpu_memory::{CpuMemory, Tasks};
use super::plan::ReservationPlan;
use super::steps::Steps;
use crate::trace::TraceJob;

/// Free room of each node over time. From the last step on all of it is free.
#[derive(Clone, Debug)]
pub(super) struct CpuMemoryProfile {
    steps: Steps<Vec<CpuMemory>>,
}

impl CpuMemoryProfile {
    /// All is free at all times.
    pub fn new(nodes: u32) -> Self {
        Self {
            steps: Steps::new(vec![CpuMemory::NODE; nodes as usize]),
        }
    }

    /// How many tasks the nodes hold in this step.
    fn held(&self, place: usize, task: CpuMemory) -> u64 {
        let rooms = self.steps.all()[place].free.iter();
        rooms.map(|room| u64::from(room.holds(task))).sum()
    }
}

impl ReservationPlan for CpuMemoryProfile {
    type Place = Tasks;

    fn clear(&mut self) {
        let nodes = self.steps.all()[0].free.len();
        *self = Self::new(u32::try_from(nodes).unwrap_or(u32::MAX));
    }

    /// O(steps).
    fn forget_before(&mut self, now: Time) {
        self.steps.forget_before(now);
    }

    /// O(steps × nodes), and O(nodes × steps while it would run) for each step at which it might start.
    fn earliest(&self, now: Time, job: &TraceJob, duration: Span) -> (Time, Tasks) {
        let task = CpuMemory::of_task(job);
        let wanted = u64::from(job.tasks);
        let steps = self.steps.all();
        let mut first = self.steps.at(now);
        let mut start = now;
        // Steps up to this one are known to hold it, each for itself.
        let mut known = first;
        'start: loop {
            let end = start + duration;
            let within = |place: usize| {
                place == first || steps.get(place).is_some_and(|step| step.from < end)
            };
            while within(known) {
                if self.held(known, task) < wanted && known + 1 < steps.len() {
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

    fn take(&mut self, start: Time, end: Time, place: &Tasks) {
        self.steps
            .change(start, end, |rooms| place.take_from(rooms));
    }

    fn give(&mut self, start: Time, end: Time, place: &Tasks) {
        self.steps.change(start, end, |rooms| place.give_to(rooms));
    }

    fn mapping(place: &Tasks) -> Option<Mapping> {
        Some(place.mapping())
    }
}
