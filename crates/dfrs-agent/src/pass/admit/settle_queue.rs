//! Submissions that are decided about again: at their first decision, some jobs had not run for
//! long enough to be paused for them.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::{Span, Time};

/// Submitted jobs that may still wait, and a time: all that could not be paused at their submission
/// can be by then, unless they began another step. The first look after it is the last.
#[derive(Debug, Default)]
pub(in crate::pass) struct SettleQueue {
    until: BTreeMap<u32, Time>,
    /// When the next job can be paused.
    next: Option<Time>,
}

impl SettleQueue {
    /// When the next job can be paused, if that is known.
    pub(in crate::pass) fn next(&self) -> Option<Time> {
        self.next
    }

    /// Whether there are no such jobs.
    pub(in crate::pass) fn is_empty(&self) -> bool {
        self.until.is_empty()
    }

    /// Whether a job can be paused since the last look.
    fn is_due(&self, now: Time) -> bool {
        self.next.is_some_and(|next| next <= now)
    }

    /// The jobs to decide about again now, of those that are `ready` to start.
    pub(in crate::pass) fn take_due(&mut self, ready: &BTreeSet<u32>, now: Time) -> Vec<u32> {
        self.until.retain(|id, _| ready.contains(id));
        if !self.is_due(now) {
            return Vec::new();
        }
        let again = self.until.keys().copied().collect();
        self.until.retain(|_, until| *until > now);
        again
    }

    /// Takes in new jobs that are about to be decided about. `settles` is when the first of the
    /// jobs that cannot be paused yet can be, if there are any.
    pub(in crate::pass) fn add(
        &mut self,
        new: &[u32],
        settles: Option<Time>,
        within: Span,
        now: Time,
    ) {
        if settles.is_some() {
            let until = Time(now.0 + within.0);
            self.until.extend(new.iter().map(|id| (*id, until)));
        }
        self.next = settles.filter(|_| !self.until.is_empty());
    }
}
