//! How long a job has been paused: so that a site can say for how long one may be.

use dfrs_core::{Span, Time};
use serde::{Deserialize, Serialize};

use super::phase::Phase;

/// The pause that a job is in, or its last one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pauses {
    /// Since when it has no place; `None`: it has one, or never had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since: Option<Time>,
    /// When it last came back, and after how long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    back: Option<(Time, Span)>,
}

impl Pauses {
    /// Whether there was none.
    pub(super) fn are_none(&self) -> bool {
        *self == Self::default()
    }

    /// The job is in this phase from `now` on. What an operator suspends, and what begins anew, has not been
    /// paused.
    pub(super) fn follow(&mut self, phase: &Phase, now: Time) {
        match phase {
            Phase::Parked(_) | Phase::Requeued(_) | Phase::Paused => {
                self.since.get_or_insert(now);
            }
            Phase::Running => {
                if let Some(since) = self.since.take() {
                    self.back = Some((now, now.since(since)));
                }
            }
            Phase::Foreign | Phase::Waiting => *self = Self::default(),
            Phase::Starting(_)
            | Phase::Parking(_)
            | Phase::Unparking(_)
            | Phase::Leaving(_)
            | Phase::Warned(_) => {}
        }
    }

    /// Whether it has been paused for `longest`, or was when it came back, less than `longest` ago.
    pub(super) fn were_too_long(&self, longest: Span, now: Time) -> bool {
        match (self.since, self.back) {
            (Some(since), _) => now.since(since) >= longest,
            (None, Some((back, lasted))) => lasted >= longest && now.since(back) < longest,
            (None, None) => false,
        }
    }

    /// When that is next otherwise, if nothing happens but that time passes.
    pub(super) fn next_change(&self, longest: Span, now: Time) -> Option<Time> {
        let at = match (self.since, self.back) {
            (Some(since), _) => since + longest,
            (None, Some((back, lasted))) if lasted >= longest => back + longest,
            (None, _) => return None,
        };
        Some(at).filter(|at| *at > now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::life::samples;

    const LONGEST: Span = Span::from_seconds(100);

    fn at(seconds: i64) -> Time {
        Time::from_seconds(seconds)
    }

    fn parked_from(begin: i64, end: i64) -> Pauses {
        let mut pauses = Pauses::default();
        pauses.follow(&Phase::Running, at(0));
        pauses.follow(&samples::parked().phase, at(begin));
        pauses.follow(&Phase::Running, at(end));
        pauses
    }

    #[test]
    fn who_was_never_paused_does_not_come_first() {
        let mut pauses = Pauses::default();
        pauses.follow(&Phase::Running, at(5));
        assert!(pauses.are_none());
        assert!(!pauses.were_too_long(LONGEST, at(1000)));
        assert_eq!(pauses.next_change(LONGEST, at(1000)), None);
    }

    #[test]
    fn a_long_pause_counts_from_its_beginning_whatever_is_tried_meanwhile() {
        let mut pauses = Pauses::default();
        pauses.follow(&samples::parked().phase, at(10));
        pauses.follow(&samples::unparking().phase, at(50));
        pauses.follow(&samples::parked().phase, at(60));
        assert!(!pauses.were_too_long(LONGEST, at(109)));
        assert_eq!(pauses.next_change(LONGEST, at(109)), Some(at(110)));
        assert!(pauses.were_too_long(LONGEST, at(110)));
        assert_eq!(pauses.next_change(LONGEST, at(110)), None);
    }

    #[test]
    fn who_came_back_late_keeps_its_place_for_as_long() {
        let pauses = parked_from(10, 120);
        assert!(pauses.were_too_long(LONGEST, at(219)));
        assert_eq!(pauses.next_change(LONGEST, at(219)), Some(at(220)));
        assert!(!pauses.were_too_long(LONGEST, at(220)));
        assert!(!parked_from(10, 109).were_too_long(LONGEST, at(110)));
    }

    #[test]
    fn what_an_operator_suspends_is_not_paused() {
        let mut pauses = parked_from(10, 120);
        pauses.follow(&Phase::Foreign, at(130));
        assert!(pauses.are_none());
    }
}
