//! For how long jobs have been paused, and which of them come first for that.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::{JobId, Pauses, Roster, Span, Time};

/// The pauses of jobs in the system, under a bound.
#[derive(Default)]
pub(super) struct LongPauses {
    longest: Option<Span>,
    /// The pauses of jobs that were ever paused.
    jobs: BTreeMap<JobId, Pauses>,
    /// When it may be otherwise whether a job comes first.
    changes: BTreeSet<(Time, JobId)>,
}

impl LongPauses {
    pub(super) fn new(longest: Option<Span>) -> Self {
        Self {
            longest,
            ..Self::default()
        }
    }

    /// The job gives up its place.
    pub(super) fn begin(&mut self, id: JobId, now: Time) {
        if self.longest.is_some() {
            self.jobs.entry(id).or_default().begin(now);
            self.changes.insert((now, id));
        }
    }

    /// The job has a place again.
    pub(super) fn end(&mut self, id: JobId, now: Time) {
        if let Some(pauses) = self.jobs.get_mut(&id) {
            pauses.end(now);
            self.changes.insert((now, id));
        }
    }

    /// The job is over.
    pub(super) fn forget(&mut self, id: JobId) {
        self.jobs.remove(&id);
    }

    /// Marks the jobs that come first because their pauses are too long. O(log jobs) for each that
    /// may change.
    pub(super) fn update(&mut self, system: &mut Roster, now: Time) {
        let Some(longest) = self.longest else {
            return;
        };
        while let Some((at, id)) = self.changes.first().copied().filter(|(at, _)| *at <= now) {
            self.changes.remove(&(at, id));
            let Some(pauses) = self.jobs.get(&id) else {
                continue;
            };
            system.set_starved(id, pauses.were_too_long(longest, now));
            let next = pauses.next_change(longest, now);
            self.changes.extend(next.map(|next| (next, id)));
        }
    }
}
