//! How long a job was paused, by its phases: so that a site can say for how long one may be.

use dfrs_core::{Pauses, Time};

use super::phase::LifePhase;
use super::traits::PauseEffect;

/// The job is in this phase from `now` on. A job that an operator suspends, or that restarts, has
/// not been paused.
pub(super) fn follow(pauses: &mut Pauses, phase: &LifePhase, now: Time) {
    match phase.rules().traits().pause {
        PauseEffect::Paused => pauses.begin(now),
        PauseEffect::Over => pauses.end(now),
        PauseEffect::None => *pauses = Pauses::default(),
        PauseEffect::AsBefore => {}
    }
}

#[cfg(test)]
mod tests {
    use dfrs_core::Span;

    use super::*;
    use crate::job::life::samples;

    const LONGEST: Span = Span::from_seconds(100);

    fn at(seconds: i64) -> Time {
        Time::from_seconds(seconds)
    }

    fn parked_from(begin: i64, end: i64) -> Pauses {
        let mut pauses = Pauses::default();
        follow(&mut pauses, &LifePhase::Running, at(0));
        follow(&mut pauses, &samples::parked().phase, at(begin));
        follow(&mut pauses, &LifePhase::Running, at(end));
        pauses
    }

    #[test]
    fn never_paused_job_is_not_starved() {
        let mut pauses = Pauses::default();
        follow(&mut pauses, &LifePhase::Running, at(5));
        assert!(pauses.are_none());
        assert!(!pauses.were_too_long(LONGEST, at(1000)));
        assert_eq!(pauses.next_change(LONGEST, at(1000)), None);
    }

    #[test]
    fn pause_counts_from_its_beginning_when_a_resume_failed() {
        let mut pauses = Pauses::default();
        follow(&mut pauses, &samples::parked().phase, at(10));
        follow(&mut pauses, &samples::unparking().phase, at(50));
        follow(&mut pauses, &samples::parked().phase, at(60));
        assert!(!pauses.were_too_long(LONGEST, at(109)));
        assert_eq!(pauses.next_change(LONGEST, at(109)), Some(at(110)));
        assert!(pauses.were_too_long(LONGEST, at(110)));
        assert_eq!(pauses.next_change(LONGEST, at(110)), None);
    }

    #[test]
    fn job_back_after_the_longest_pause_keeps_its_place_for_an_eighth_of_it() {
        let pauses = parked_from(10, 120);
        assert!(pauses.were_too_long(LONGEST, at(132)));
        assert_eq!(
            pauses.next_change(LONGEST, at(132)),
            Some(at(120) + Span(12_500_000))
        );
        assert!(!pauses.were_too_long(LONGEST, at(133)));
        assert!(!parked_from(10, 109).were_too_long(LONGEST, at(110)));
    }

    #[test]
    fn job_suspended_by_operator_is_not_paused() {
        let mut pauses = parked_from(10, 120);
        follow(&mut pauses, &LifePhase::Foreign, at(130));
        assert!(pauses.are_none());
    }
}
