//! Ending a decision in the middle.

use std::cell::Cell;

/// So many small steps are taken between two questions whether a decision may go on: each takes
/// some microseconds on a large cluster, and so may the answer.
const STEPS: u32 = 64;

/// A decision might not go on, and was ended before it was found. It has changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the decision was ended before it was found")]
pub struct Stopped;

/// Whether a decision is to stop. From then on all that is found is of no use, and thrown away.
pub(crate) struct Stop<'a> {
    may_go_on: Option<&'a dyn Fn() -> bool>,
    was_due: Cell<bool>,
    /// Small steps since the last question.
    steps: Cell<u32>,
}

impl<'a> Stop<'a> {
    /// The decision is never to stop.
    pub(crate) const fn never() -> Self {
        Self {
            may_go_on: None,
            was_due: Cell::new(false),
            steps: Cell::new(0),
        }
    }

    /// The decision is to stop as soon as `may_go_on` returns no.
    pub(crate) const fn unless(may_go_on: &'a dyn Fn() -> bool) -> Self {
        Self {
            may_go_on: Some(may_go_on),
            ..Self::never()
        }
    }

    /// Whether it was found that it is to stop.
    #[inline]
    pub(crate) fn was_due(&self) -> bool {
        self.was_due.get()
    }

    /// Checks whether the decision is to stop; no more checks follow if so.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        if let Some(may_go_on) = self.may_go_on
            && !self.was_due.get()
        {
            self.steps.set(0);
            self.was_due.set(!may_go_on());
        }
        self.was_due.get()
    }

    /// As [`Self::is_due`] after a small step: checks now and then.
    #[inline]
    pub(crate) fn is_due_after_step(&self) -> bool {
        if self.may_go_on.is_none() || self.was_due.get() {
            return self.was_due.get();
        }
        let steps = self.steps.get() + 1;
        self.steps.set(steps);
        steps >= STEPS && self.is_due()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_is_polled_periodically_until_it_is_due() {
        let asked = Cell::new(0);
        let may_go_on = || {
            asked.set(asked.get() + 1);
            asked.get() < 3
        };
        let stop = Stop::unless(&may_go_on);
        assert!(!stop.is_due());
        assert!((1..STEPS).all(|_| !stop.is_due_after_step()));
        assert_eq!(asked.get(), 1);
        assert!(!stop.is_due_after_step());
        assert_eq!(asked.get(), 2);
        assert!(!stop.was_due());
        assert!(stop.is_due() && stop.was_due());
        assert!((0..3 * STEPS).all(|_| stop.is_due_after_step()) && stop.is_due());
        assert_eq!(asked.get(), 3);
        assert!(!Stop::never().is_due());
    }
}
