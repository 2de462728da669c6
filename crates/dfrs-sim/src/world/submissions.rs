//! Which job is submitted next: those of the trace at their times, and those that follow on others when these end.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::Time;

use crate::trace::Trace;

/// The jobs that were not submitted yet, by their positions in the trace.
pub(super) struct Submissions {
    /// The next of those that have a time of their own, and where these end.
    next: usize,
    end: usize,
    /// The job that follows on each.
    followers: BTreeMap<usize, usize>,
    /// Followers whose time has come.
    due: BTreeSet<(Time, usize)>,
}

impl Submissions {
    /// O(jobs).
    pub(super) fn of(trace: &Trace) -> Self {
        let places = trace.jobs.iter().enumerate();
        let followers = places.filter_map(|(place, job)| Some((job.follows?, place)));
        let first = trace.jobs.iter().position(|job| job.follows.is_some());
        Self {
            next: 0,
            end: first.unwrap_or(trace.jobs.len()),
            followers: followers.collect(),
            due: BTreeSet::new(),
        }
    }

    /// When the next one is submitted, as far as that is known.
    pub(super) fn next(&self, trace: &Trace) -> Option<Time> {
        let own = (self.next < self.end).then(|| trace.jobs[self.next].submit);
        let due = self.due.first().map(|(time, _)| *time);
        own.into_iter().chain(due).min()
    }

    /// Takes a job that is submitted now.
    pub(super) fn take(&mut self, trace: &Trace, now: Time) -> Option<usize> {
        if self.next < self.end && trace.jobs[self.next].submit == now {
            self.next += 1;
            return Some(self.next - 1);
        }
        let (time, place) = self.due.first().copied()?;
        (time == now).then(|| {
            self.due.remove(&(time, place));
            place
        })
    }

    /// The job at this position has ended.
    pub(super) fn ended(&mut self, place: usize, now: Time) {
        let follower = self.followers.remove(&place);
        self.due.extend(follower.map(|place| (now, place)));
    }
}
