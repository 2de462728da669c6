//! Something that changes at known times: steps of ascending time.

use dfrs_core::{Mapping, Span, Time};

use crate::trace::TraceJob;

/// What is free of a machine, as conservative backfilling plans with it.
pub(super) trait ProfileRoom: Clone + PartialEq {
    /// What a job takes of the machine while it runs.
    type Place: Default;

    /// The first time from `now` on at which the job finds a place for so long, and this place. The empty
    /// machine must hold it.
    fn earliest(
        steps: &Steps<Self>,
        now: Time,
        job: &TraceJob,
        duration: Span,
    ) -> (Time, Self::Place);

    /// Takes the place, which must be free.
    fn take(&mut self, place: &Self::Place);

    /// Frees the place again.
    fn give(&mut self, place: &Self::Place);

    /// On which nodes a job is that has this place; `None`: each task on a node of its own.
    fn mapping(place: &Self::Place) -> Option<Mapping>;
}

/// From this time to that of the next step, so much is free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProfileStep<R> {
    pub from: Time,
    pub free: R,
}

/// What is free over time. The last step goes on for ever; the first began before all times that
/// are looked up.
#[derive(Clone, Debug)]
pub(super) struct Steps<R>(Vec<ProfileStep<R>>);

impl<R: ProfileRoom> Steps<R> {
    /// Steps with so much free at all times.
    pub fn new(free: R) -> Self {
        let from = Time(i64::MIN);
        Self(vec![ProfileStep { from, free }])
    }

    /// All steps, ascending by time; there is always one.
    pub fn all(&self) -> &[ProfileStep<R>] {
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

    /// Takes the place from `start` to before `end`. It must be free. O(steps).
    pub fn take(&mut self, start: Time, end: Time, place: &R::Place) {
        self.change(start, end, |free| free.take(place));
    }

    /// Frees the place again from `start` to before `end`. O(steps).
    pub fn give(&mut self, start: Time, end: Time, place: &R::Place) {
        self.change(start, end, |free| free.give(place));
    }

    fn change(&mut self, start: Time, end: Time, change: impl Fn(&mut R)) {
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
