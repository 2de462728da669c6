//! The reasons of events about jobs, for readers of the journal.

use std::collections::BTreeMap;

use dfrs_proto::journal::EventKind;

use super::change::takes_a_place;

/// Why an event is in the journal that DFRS has not brought about: users, operators, backfill, or a
/// failure.
pub const BY_OTHERS: &str = "not by DFRS";

const BEFORE: &str = "decided before DFRS was restarted";

/// What is going to happen to a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Expected {
    /// It gives up its place.
    NoPlace,
    /// It gets a place, or another one.
    Place,
}

/// What is going to happen to jobs, and why: kept until the journal says that it has happened.
#[derive(Debug, Default)]
pub(super) struct EventReasons(BTreeMap<(u32, Expected), String>);

impl EventReasons {
    /// Of what was under way with these jobs when DFRS began. O(jobs).
    pub(super) fn before(jobs: impl Iterator<Item = u32>) -> Self {
        let mut reasons = Self::default();
        for job in jobs {
            reasons.expect(job, Expected::NoPlace, BEFORE.to_owned());
            reasons.expect(job, Expected::Place, BEFORE.to_owned());
        }
        reasons
    }

    /// O(log jobs).
    pub(super) fn expect(&mut self, job: u32, expected: Expected, why: String) {
        self.0.insert((job, expected), why);
    }

    /// Nothing of it will happen. O(log jobs).
    pub(super) fn forget(&mut self, job: u32) {
        self.0.remove(&(job, Expected::NoPlace));
        self.0.remove(&(job, Expected::Place));
    }

    /// Why this has happened to the job; `None`: an event that needs no reason. O(log jobs).
    pub(super) fn take(&mut self, job: u32, kind: &EventKind) -> Option<String> {
        let expected = match kind {
            EventKind::Pause { .. } => Expected::NoPlace,
            kind if takes_a_place(kind) => Expected::Place,
            _ => return None,
        };
        let why = self.0.remove(&(job, expected));
        if expected == Expected::Place {
            // What was to be done before was not, or is said by this.
            self.forget(job);
        }
        Some(why.unwrap_or_else(|| BY_OTHERS.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::job;
    use crate::slurm::observation::Observation;

    const PAUSE: EventKind = EventKind::Pause {
        job: String::new(),
        lost: false,
    };

    fn resume() -> EventKind {
        EventKind::Resume {
            job: "7".into(),
            nodes: Vec::new(),
            stall: None,
        }
    }

    fn taken(reasons: &mut EventReasons, kind: &EventKind) -> Option<String> {
        reasons.take(7, kind)
    }

    #[test]
    fn expected_event_has_its_reason_once_and_later_ones_are_by_others() {
        let mut reasons = EventReasons::default();
        let submit = super::super::submission(&job(7, 1), (1, 1), &Observation::default());
        assert_eq!(taken(&mut reasons, &submit), None);
        reasons.expect(7, Expected::NoPlace, "for 8".into());
        assert_eq!(taken(&mut reasons, &PAUSE).as_deref(), Some("for 8"));
        assert_eq!(taken(&mut reasons, &resume()).as_deref(), Some(BY_OTHERS));
        assert_eq!(taken(&mut reasons, &PAUSE).as_deref(), Some(BY_OTHERS));
    }

    #[test]
    fn both_halves_of_a_move_have_their_reasons() {
        let mut reasons = EventReasons::default();
        reasons.expect(7, Expected::NoPlace, "steps aside".into());
        reasons.expect(7, Expected::Place, "comes back".into());
        assert_eq!(taken(&mut reasons, &PAUSE).as_deref(), Some("steps aside"));
        assert_eq!(
            taken(&mut reasons, &resume()).as_deref(),
            Some("comes back")
        );
    }

    #[test]
    fn stale_expectation_is_no_reason_for_a_later_event() {
        let mut reasons = EventReasons::before([7].into_iter());
        reasons.forget(7);
        assert_eq!(taken(&mut reasons, &PAUSE).as_deref(), Some(BY_OTHERS));
        reasons.expect(7, Expected::NoPlace, "for 8".into());
        reasons.expect(7, Expected::Place, "fits".into());
        // It changed its place without having left one.
        taken(&mut reasons, &resume());
        assert_eq!(taken(&mut reasons, &PAUSE).as_deref(), Some(BY_OTHERS));
    }
}
