//! What a decision was about that was ended, or whose plan was dropped: it is decided about again, ever more rarely.

use std::collections::BTreeSet;

use dfrs_core::{Events, Span, Stopped, Time};

use super::SECOND;

/// Time to the next try; it doubles from one to the next.
const FIRST_PAUSE: i64 = 10 * SECOND;
/// The longest.
const LONGEST_PAUSE: i64 = 600 * SECOND;

/// Why a decision has changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// It took too long.
    Ended,
    /// Its plan broke a rule, and there was no job to leave out for that.
    Dropped,
}

impl From<Stopped> for Failure {
    fn from(Stopped: Stopped) -> Self {
        Self::Ended
    }
}

/// Events that were to be decided about.
#[derive(Debug, Default)]
pub(super) struct Undecided {
    events: Events,
    /// When they are decided about again.
    next: Option<Time>,
    /// Decisions that were ended since the last one that was carried out.
    ended: u32,
    /// Those whose plans were dropped.
    dropped: u32,
}

impl Undecided {
    /// When there is something to decide about again.
    pub(super) fn next(&self) -> Option<Time> {
        self.next
    }

    /// How many decisions have failed so since the last one that was carried out.
    pub(super) fn in_a_row(&self, failure: Failure) -> u32 {
        match failure {
            Failure::Ended => self.ended,
            Failure::Dropped => self.dropped,
        }
    }

    /// What there is to decide about now, beside or with what happened since: nothing before its time.
    pub(super) fn join(&mut self, new: Events, now: Time) -> Events {
        let Some(next) = self.next else { return new };
        add(&mut self.events, new);
        // A clock may be set back.
        if (1..=LONGEST_PAUSE).contains(&next.since(now).0) {
            return Events::default();
        }
        self.next = None;
        std::mem::take(&mut self.events)
    }

    /// The decision about these has failed. Returns when they are decided about again.
    pub(super) fn put_off(&mut self, events: &Events, failure: Failure, now: Time) -> Span {
        let in_a_row = self.ended.saturating_add(self.dropped);
        let pause = FIRST_PAUSE.saturating_mul(1 << in_a_row.min(10));
        let pause = Span(pause.min(LONGEST_PAUSE));
        self.events = events.clone();
        self.next = Some(now + pause);
        *match failure {
            Failure::Ended => &mut self.ended,
            Failure::Dropped => &mut self.dropped,
        } += 1;
        pause
    }

    /// A decision is carried out.
    pub(super) fn settle(&mut self) {
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
    fn what_happens_meanwhile_is_decided_about_with_it() {
        let mut undecided = Undecided::default();
        let first = Events::submitted([1, 2].map(JobId));
        assert_eq!(undecided.join(first.clone(), at(0)), first);
        assert_eq!(
            undecided.put_off(&first, Failure::Ended, at(0)),
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
    fn it_is_tried_ever_more_rarely_until_one_is_found() {
        let mut undecided = Undecided::default();
        let mut pauses = Vec::new();
        for _ in 0..8 {
            let failure = [Failure::Ended, Failure::Dropped][pauses.len() % 2];
            pauses.push(undecided.put_off(&Events::period(), failure, at(0)).0 / SECOND);
        }
        assert_eq!(pauses, [10, 20, 40, 80, 160, 320, 600, 600]);
        assert_eq!(undecided.in_a_row(Failure::Ended), 4);
        assert_eq!(undecided.in_a_row(Failure::Dropped), 4);
        undecided.settle();
        assert_eq!(undecided.in_a_row(Failure::Dropped), 0);
        let pause = undecided.put_off(&Events::period(), Failure::Ended, at(0));
        assert_eq!(pause, Span::from_seconds(10));
    }

    #[test]
    fn a_clock_that_is_set_back_does_not_put_it_off_for_hours() {
        let mut undecided = Undecided::default();
        undecided.put_off(&Events::period(), Failure::Dropped, at(10_000));
        let again = undecided.join(Events::default(), at(5));
        assert_eq!(again, Events::period());
    }
}
