//! What is free from now on, as conservative backfilling plans with it.

use dfrs_core::{Mapping, Span, Time};

use crate::trace::TraceJob;

/// What running jobs and reservations leave from now on.
pub(super) trait ReservationPlan {
    /// What a job takes of the machine while it runs.
    type Place: Default;

    /// Nothing is taken any more.
    fn clear(&mut self);

    /// Forgets what was before `now`.
    fn forget_before(&mut self, now: Time);

    /// The first time from `now` on at which the job finds a place for so long, and this place. The empty
    /// machine must hold it.
    fn earliest(&self, now: Time, job: &TraceJob, duration: Span) -> (Time, Self::Place);

    /// The place is taken from `start` to before `end`. It must be free.
    fn take(&mut self, start: Time, end: Time, place: &Self::Place);

    /// The place is free again from `start` to before `end`.
    fn give(&mut self, start: Time, end: Time, place: &Self::Place);

    /// On which nodes a job is that has this place; `None`: each task on a node of its own.
    fn mapping(place: &Self::Place) -> Option<Mapping>;
}
