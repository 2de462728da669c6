//! The events of a decision that was ended, or whose plan was dropped: they are decided about again
//! with a growing backoff.

use std::collections::BTreeSet;

use dfrs_core::{Events, Span, Stopped, Time};

/// Time to the next try; it doubles from one to the next.
const MIN_BACKOFF: Span = Span::from_seconds(10);
/// The longest.
const MAX_BACKOFF: Span = Span::from_seconds(600);

/// Why a decision has changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pass) enum DecisionFailure {
    /// It took too long.
    Ended,
    /// Its plan broke a rule, and there was no job to leave out for that.
    Dropped,
}

impl From<Stopped> for DecisionFailure {
    fn from(Stopped: Stopped) -> Self {
        Self::Ended
    }
}

/// Events that were to be decided about.
#[derive(Debug, Default)]
pub(in crate::pass) struct DecisionBackoff {
    events: Events,
    /// When they are decided about again.
    next: Option<Time>,
    /// Decisions that were ended since the last one that was carried out.
    ended: u32,
    /// Decisions whose plans were dropped.
    dropped: u32,
}

impl DecisionBackoff {
    /// When there is something to decide about again.
    pub(in crate::pass) fn next(&self) -> Option<Time> {
        self.next
    }

    /// How many decisions have failed so since the last one that was carried out.
    pub(in crate::pass) fn consecutive(&self, failure: DecisionFailure) -> u32 {
        match failure {
            DecisionFailure::Ended => self.ended,
            DecisionFailure::Dropped => self.dropped,
        }
    }

    /// The events to decide about now, with the new ones: none before their time.
    pub(in crate::pass) fn join(&mut self, new: Events, now: Time) -> Events {
        let Some(next) = self.next else { return new };
        add(&mut self.events, new);
        // A clock may be set back.
        if (1..=MAX_BACKOFF.0).contains(&next.since(now).0) {
            return Events::default();
        }
        self.next = None;
        std::mem::take(&mut self.events)
    }

    /// The decision about these has failed. Returns when they are decided about again.
    pub(in crate::pass) fn back_off(
        &mut self,
        events: &Events,
        failure: DecisionFailure,
        now: Time,
    ) -> Span {
        let in_a_row = self.ended.saturating_add(self.dropped);
        let pause = MIN_BACKOFF.0.saturating_mul(1 << in_a_row.min(10));
        let pause = Span(pause).min(MAX_BACKOFF);
        self.events = events.clone();
        self.next = Some(now + pause);
        *match failure {
            DecisionFailure::Ended => &mut self.ended,
            DecisionFailure::Dropped => &mut self.dropped,
        } += 1;
        pause
    }

    /// A decision is carried out.
    pub(in crate::pass) fn settle(&mut self) {
        (self.ended, self.dropped) = (0, 0);
    }
}

/// Both, each submission once.
fn add(events: &mut Events, new: Events) {
    let known: BTreeSet<_> = events.submitted.iter().copied().collect();
    let fresh = new.submitted.into_iter().filter(|id| !known.contains(id));
    events.submitted.extend(fresh);
    events.ended |= new.ended;
    events.nodes_changed |= new.nodes_changed;
    events.period |= new.period;
}

#[cfg(test)]
mod tests {
    use super::*;
    use dfrs_core::JobId;

    fn at(seconds: i64) -> Time {
        Time::from_seconds(seconds)
    }

    #[test]
    fn events_during_backoff_join_the_retried_decision() {
        let mut undecided = DecisionBackoff::default();
        let first = Events::submitted([1, 2].map(JobId));
        assert_eq!(undecided.join(first.clone(), at(0)), first);
        assert_eq!(
            undecided.back_off(&first, DecisionFailure::Ended, at(0)),
            Span::from_seconds(10)
        );
        assert!(undecided.join(Events::ended(), at(3)).is_empty());
        let second = Events::submitted([3, 2].map(JobId));
        assert!(undecided.join(second, at(9)).is_empty());
        let all = undecided.join(Events::default(), at(10));
        let expected = Events {
            ended: true,
            ..Events::submitted([1, 2, 3].map(JobId))
        };
        assert_eq!(all, expected);
        assert_eq!(undecided.next(), None);
    }

    #[test]
    fn backoff_grows_until_a_decision_succeeds() {
        let mut undecided = DecisionBackoff::default();
        let mut pauses = Vec::new();
        for _ in 0..8 {
            let failure = [DecisionFailure::Ended, DecisionFailure::Dropped][pauses.len() % 2];
            let pause = undecided.back_off(&Events::period(), failure, at(0));
            pauses.push(pause.whole_seconds());
        }
        assert_eq!(pauses, [10, 20, 40, 80, 160, 320, 600, 600]);
        assert_eq!(undecided.consecutive(DecisionFailure::Ended), 4);
        assert_eq!(undecided.consecutive(DecisionFailure::Dropped), 4);
        undecided.settle();
        assert_eq!(undecided.consecutive(DecisionFailure::Dropped), 0);
        let pause = undecided.back_off(&Events::period(), DecisionFailure::Ended, at(0));
        assert_eq!(pause, Span::from_seconds(10));
    }

    #[test]
    fn backoff_ends_when_the_clock_is_set_back() {
        let mut undecided = DecisionBackoff::default();
        undecided.back_off(&Events::period(), DecisionFailure::Dropped, at(10_000));
        let again = undecided.join(Events::default(), at(5));
        assert_eq!(again, Events::period());
    }
}
