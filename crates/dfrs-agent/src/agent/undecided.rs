//! What a decision that was ended was about: it is decided about again, ever more rarely.

use std::collections::BTreeSet;

use dfrs_core::{Events, Span, Time};

use super::SECOND;

/// Time to the next try; it doubles from one to the next.
const FIRST_PAUSE: i64 = 10 * SECOND;
/// The longest.
const LONGEST_PAUSE: i64 = 600 * SECOND;

/// Events that were to be decided about.
#[derive(Debug, Default)]
pub(super) struct Undecided {
    events: Events,
    /// When they are decided about again.
    next: Option<Time>,
    /// Decisions that were ended since the last that was not.
    in_a_row: u32,
}

impl Undecided {
    /// When there is something to decide about again.
    pub(super) fn next(&self) -> Option<Time> {
        self.next
    }

    /// How many decisions in a row were ended.
    pub(super) fn in_a_row(&self) -> u32 {
        self.in_a_row
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

    /// The decision about these was ended. Returns when they are decided about again.
    pub(super) fn put_off(&mut self, events: &Events, now: Time) -> Span {
        let pause = FIRST_PAUSE.saturating_mul(1 << self.in_a_row.min(10));
        let pause = Span(pause.min(LONGEST_PAUSE));
        self.events = events.clone();
        self.next = Some(now + pause);
        self.in_a_row += 1;
        pause
    }

    /// A decision was found.
    pub(super) fn settle(&mut self) {
        self.in_a_row = 0;
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
        assert_eq!(undecided.put_off(&first, at(0)), Span::from_seconds(10));
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
            pauses.push(undecided.put_off(&Events::period(), at(0)).0 / SECOND);
        }
        assert_eq!(pauses, [10, 20, 40, 80, 160, 320, 600, 600]);
        undecided.settle();
        let pause = undecided.put_off(&Events::period(), at(0));
        assert_eq!(pause, Span::from_seconds(10));
    }

    #[test]
    fn a_clock_that_is_set_back_does_not_put_it_off_for_hours() {
        let mut undecided = Undecided::default();
        undecided.put_off(&Events::period(), at(10_000));
        let again = undecided.join(Events::default(), at(5));
        assert_eq!(again, Events::period());
    }
}
