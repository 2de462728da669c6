//! Something that changes at known times: steps of ascending time.

use dfrs_core::Time;

/// From this time to that of the next step, so much is free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProfileStep<F> {
    pub from: Time,
    pub free: F,
}

/// What is free over time. The last step goes on for ever; the first began before all times that
/// are looked up.
#[derive(Clone, Debug)]
pub(super) struct Steps<F>(Vec<ProfileStep<F>>);

impl<F: Clone + PartialEq> Steps<F> {
    /// Steps with so much free at all times.
    pub fn new(free: F) -> Self {
        let from = Time(i64::MIN);
        Self(vec![ProfileStep { from, free }])
    }

    /// All steps, ascending by time; there is always one.
    pub fn all(&self) -> &[ProfileStep<F>] {
        &self.0
    }

    /// The place of the step in which this time is. O(log steps).
    pub fn at(&self, time: Time) -> usize {
        let past = self.0.partition_point(|step| step.from <= time);
        past.saturating_sub(1)
    }

    /// Forgets what was before `now`. O(steps).
    pub fn forget_before(&mut self, now: Time) {
        self.0.drain(..self.at(now));
    }

    /// Changes what is free from `start` to before `end`. O(steps).
    pub fn change(&mut self, start: Time, end: Time, change: impl Fn(&mut F)) {
        if start >= end {
            return;
        }
        let first = self.split(start);
        let last = self.split(end);
        for step in &mut self.0[first..last] {
            change(&mut step.free);
        }
        // What is equal now was so by chance, or because a reservation is gone.
        self.join(last);
        self.join(first);
    }

    /// The place of the step that begins then; makes one if there is none.
    fn split(&mut self, at: Time) -> usize {
        let place = self.0.partition_point(|step| step.from < at);
        if self.0.get(place).is_none_or(|step| step.from != at) {
            let free = self.0[place.saturating_sub(1)].free.clone();
            self.0.insert(place, ProfileStep { from: at, free });
        }
        place
    }

    /// Joins the step with the one before if as much is free in both.
    fn join(&mut self, place: usize) {
        let same =
            place > 0 && place < self.0.len() && self.0[place].free == self.0[place - 1].free;
        if same {
            self.0.remove(place);
        }
    }
}
