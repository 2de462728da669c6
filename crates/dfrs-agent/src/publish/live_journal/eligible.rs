//! Which waiting jobs the journal says wait for something else than room.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::{Span, Time};
use dfrs_proto::journal::EventKind;

use crate::job::ledger::LedgerRecord;
use crate::slurm::records::ObservedJob;

/// Slurm says to the second when a job was submitted, and passes come after it: less is no wait.
const MIN_WAIT: Span = Span(2_000_000);

/// What was said last.
#[derive(Debug, Default)]
pub(super) struct Eligible {
    held_back: BTreeSet<u32>,
    /// Since when the waiting rest of an array waits for nothing but room; `None`: it does not.
    arrays: BTreeMap<u32, Option<Time>>,
}

impl Eligible {
    /// The state that a journal has with these jobs held back.
    pub(super) fn of(held_back: &BTreeSet<String>) -> Self {
        let ids = held_back.iter().filter_map(|id| id.parse().ok());
        Self {
            held_back: ids.collect(),
            arrays: BTreeMap::new(),
        }
    }

    /// The arrays that wait, and whether each waits for nothing but room. Others are forgotten.
    /// O(arrays).
    pub(super) fn see_arrays(&mut self, arrays: impl Iterator<Item = (u32, bool)>, now: Time) {
        let mut before = std::mem::take(&mut self.arrays);
        for (id, value) in arrays {
            let since = match before.remove(&id) {
                _ if !value => None,
                None => Some(Time(0)),
                Some(None) => Some(now),
                Some(since) => since,
            };
            self.arrays.insert(id, since);
        }
    }

    /// What is to be said of a job that waits. O(log jobs).
    pub(super) fn changed(&mut self, id: u32, value: bool) -> Option<EventKind> {
        let is_news = if value {
            self.held_back.remove(&id)
        } else {
            self.held_back.insert(id)
        };
        is_news.then(|| eligible(id, value, None))
    }

    /// What is to be said of a job beside its submission. A task of an array has waited, until it
    /// has a record of its own, as what its array is. O(log jobs).
    pub(super) fn submitted(
        &mut self,
        job: &ObservedJob,
        record: &LedgerRecord,
        may_start: Option<bool>,
        now: Time,
    ) -> Option<EventKind> {
        let array = self.arrays.get(&job.array).filter(|_| job.array > 0);
        let as_array = array.is_none_or(Option::is_some);
        if !may_start.unwrap_or(as_array) {
            return self.changed(job.id, false);
        }
        let submitted = Time::from_seconds(record.submit_time);
        let since = array.copied().flatten();
        let since = since.map_or(submitted, |since| submitted.max(since));
        let waited = Span(now.0 - since.0);
        let is_noticed = as_array && waited >= MIN_WAIT;
        is_noticed.then(|| eligible(job.id, true, Some(waited)))
    }

    /// The job is over. O(log jobs).
    pub(super) fn forget(&mut self, id: u32) {
        self.held_back.remove(&id);
    }
}

fn eligible(id: u32, value: bool, waited: Option<Span>) -> EventKind {
    EventKind::Eligible {
        job: id.to_string(),
        value,
        waited,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::job;
    use crate::job::life::samples;

    fn submitted(
        eligible: &mut Eligible,
        job: &ObservedJob,
        may_start: Option<bool>,
    ) -> Option<EventKind> {
        let record = LedgerRecord::new(1000, Time(0), samples::running());
        eligible.submitted(job, &record, may_start, Time::from_seconds(1100))
    }

    #[test]
    fn eligible_event_is_written_only_when_it_says_something_new() {
        let mut tracker = Eligible::default();
        let waited = Some(Span(100_000_000));
        assert_eq!(
            submitted(&mut tracker, &job(1, 1), None),
            Some(eligible(1, true, waited))
        );
        let back = submitted(&mut tracker, &job(2, 1), Some(false));
        assert_eq!(back, Some(eligible(2, false, None)));
        assert_eq!(tracker.changed(2, false), None);
        assert_eq!(tracker.changed(2, true), Some(eligible(2, true, None)));
        assert_eq!(tracker.changed(2, true), None);
        let record = LedgerRecord::new(1000, Time(0), samples::running());
        let at_once = Time::from_seconds(1001);
        assert_eq!(tracker.submitted(&job(3, 1), &record, None, at_once), None);
    }

    #[test]
    fn array_task_has_the_wait_of_its_array() {
        let mut tracker = Eligible::default();
        let task = |id| ObservedJob {
            array: 5,
            ..job(id, 1)
        };
        let at = Time::from_seconds;
        tracker.see_arrays([(5, false)].into_iter(), at(1000));
        assert_eq!(
            submitted(&mut tracker, &task(6), None),
            Some(eligible(6, false, None)),
            "its array was held back until this task of it started"
        );
        tracker.see_arrays([(5, true)].into_iter(), at(1060));
        tracker.see_arrays([(5, true)].into_iter(), at(1070));
        assert_eq!(
            submitted(&mut tracker, &task(7), None),
            Some(eligible(7, true, Some(Span(40_000_000))))
        );
        tracker.see_arrays([].into_iter(), at(1080));
        tracker.see_arrays([(5, true)].into_iter(), at(1090));
        assert_eq!(
            submitted(&mut tracker, &task(8), None),
            Some(eligible(8, true, Some(Span(100_000_000)))),
            "nothing is known of it but when it was submitted"
        );
    }

    #[test]
    fn held_back_jobs_of_a_resumed_journal_are_known() {
        let mut tracker = Eligible::of(&BTreeSet::from(["7".to_owned(), "odd".to_owned()]));
        assert_eq!(tracker.changed(7, false), None);
        assert!(tracker.changed(7, true).is_some());
    }
}
