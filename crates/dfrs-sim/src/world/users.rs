//! The users of jobs, and what jobs inherit of what their users had before.

use std::collections::BTreeMap;

use dfrs_core::{Histories, JobId, Span, Time};

use crate::journal::position;
use crate::trace::Trace;

/// The users of a trace.
pub(super) struct Users<'a> {
    trace: &'a Trace,
    /// Whether jobs inherit.
    are_counted: bool,
    histories: Histories,
    /// What jobs in the system have inherited, if anything.
    inherited: BTreeMap<JobId, Span>,
}

impl<'a> Users<'a> {
    pub(super) fn new(trace: &'a Trace, are_counted: bool) -> Self {
        Self {
            trace,
            are_counted,
            histories: Histories::default(),
            inherited: BTreeMap::new(),
        }
    }

    fn of(&self, id: JobId) -> Option<u32> {
        self.trace.jobs[position(id)]
            .user
            .filter(|_| self.are_counted)
    }

    /// The job begins to wait. Returns what it inherits.
    pub(super) fn submit(&mut self, id: JobId, now: Time) -> Span {
        let user = self.of(id);
        let inherited = user.map_or(Span::ZERO, |user| self.histories.inherited(user, now));
        if inherited > Span::ZERO {
            self.inherited.insert(id, inherited);
        }
        inherited
    }

    /// What it inherited.
    pub(super) fn inherited(&self, id: JobId) -> Span {
        self.inherited.get(&id).copied().unwrap_or(Span::ZERO)
    }

    /// The job has ended after so much virtual time of its own.
    pub(super) fn end(&mut self, id: JobId, virtual_time: Span, now: Time) {
        self.inherited.remove(&id);
        if let Some(user) = self.of(id) {
            self.histories.ended(user, virtual_time, now);
        }
    }
}
