//! Which waiting jobs may start as far as everything but resources is concerned.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::{Span, Time};

use crate::due_times::DueTimes;

/// Slurm is queried again about a job that it refused after this time, doubled each time up to the
/// maximum: a dependency ends, a begin time passes, a limit has room.
const MIN_BACKOFF: Span = Span::SECOND;
const MAX_BACKOFF: Span = Span::from_seconds(8);
/// Jobs queried again in one pass: each query takes slurmctld's locks for some microseconds.
pub(in crate::pass) const MAX_QUERIES: usize = 500;
/// Jobs queried again in one pass where their records are only read, for a fraction of a
/// microsecond each: a pass costs more.
pub(in crate::pass) const MAX_READS: usize = 20_000;

/// What Slurm answered about the jobs that wait.
#[derive(Debug, Default)]
pub(in crate::pass) struct Admission {
    ready: BTreeSet<u32>,
    /// When each job that was refused, or admitted for a while, is queried again, and the backoff
    /// until then.
    again: BTreeMap<u32, (Time, Span)>,
    due: DueTimes,
    /// Jobs about which Slurm was queried at this time.
    queried: (Time, BTreeSet<u32>),
    /// Jobs that became ready or no longer are.
    changed: BTreeSet<u32>,
    /// Jobs whose answer from Slurm changed, where the journal does not have the change yet.
    unwritten: BTreeSet<u32>,
}

impl Admission {
    /// The jobs that may start.
    pub(in crate::pass) fn ready(&self) -> &BTreeSet<u32> {
        &self.ready
    }

    /// The jobs to query now, if any: those of `fresh` about which Slurm was not queried yet, and
    /// some of those whose answers are too old; `max` at most.
    pub(in crate::pass) fn due_queries(
        &self,
        fresh: &BTreeSet<u32>,
        max: usize,
        now: Time,
    ) -> BTreeSet<u32> {
        let again = self.due.due(now).take(max);
        let unknown = fresh.iter().filter(|id| !self.ready.contains(id));
        again.chain(unknown.copied()).collect()
    }

    /// When the next job is to be queried again.
    pub(in crate::pass) fn next(&self) -> Option<Time> {
        self.due.next()
    }

    /// The jobs about which Slurm was queried at this time.
    pub(in crate::pass) fn queried_at(&self, now: Time) -> BTreeSet<u32> {
        let (at, jobs) = &self.queried;
        if *at == now {
            jobs.clone()
        } else {
            BTreeSet::new()
        }
    }

    /// The jobs that became ready, or no longer are, since the last call.
    pub(in crate::pass) fn take_changed(&mut self) -> BTreeSet<u32> {
        std::mem::take(&mut self.changed)
    }

    /// The jobs whose answer from Slurm changed since the last call.
    pub(in crate::pass) fn take_unwritten(&mut self) -> BTreeSet<u32> {
        std::mem::take(&mut self.unwritten)
    }

    /// Whether this pending job may start, by Slurm's last answer; `None`: Slurm was not queried.
    pub(in crate::pass) fn answer(&self, id: u32) -> Option<bool> {
        let is_ready = self.ready.contains(&id);
        (is_ready || self.again.contains_key(&id)).then_some(is_ready)
    }

    fn note_queried(&mut self, id: u32, now: Time) {
        if self.queried.0 != now {
            self.queried = (now, BTreeSet::new());
        }
        self.queried.1.insert(id);
    }

    /// Slurm would start this job.
    pub(in crate::pass) fn admit(&mut self, id: u32, now: Time) {
        self.note_queried(id, now);
        if !self.ready.contains(&id) {
            self.forget(id);
            self.ready.insert(id);
            self.changed.insert(id);
            self.unwritten.insert(id);
        }
    }

    /// What Slurm said of this job, which may start, holds for a while only.
    pub(in crate::pass) fn query_again(&mut self, id: u32, now: Time) {
        self.query_after(id, MAX_BACKOFF, now);
    }

    /// Slurm would not start this job now.
    pub(in crate::pass) fn refuse(&mut self, id: u32, now: Time) {
        self.note_queried(id, now);
        let before = self.again.get(&id).map(|(_, wait)| *wait);
        let before = before.filter(|_| !self.ready.contains(&id));
        if before.is_none() {
            self.unwritten.insert(id);
        }
        self.forget(id);
        let wait = before.map_or(MIN_BACKOFF, |wait| Span(wait.0 * 2).min(MAX_BACKOFF));
        self.query_after(id, wait, now);
    }

    /// Slurm would start this job, but not yet: it is queried again after a while, like a new job.
    pub(in crate::pass) fn defer(&mut self, id: u32, now: Time) {
        self.forget(id);
        self.query_after(id, MAX_BACKOFF, now);
    }

    fn query_after(&mut self, id: u32, wait: Span, now: Time) {
        self.unschedule(id);
        let at = Time(now.0 + wait.0);
        self.again.insert(id, (at, wait));
        self.due.add(id, at);
    }

    fn unschedule(&mut self, id: u32) {
        if let Some((at, _)) = self.again.remove(&id) {
            self.due.cancel(id, at);
        }
    }

    /// The job no longer waits, or is another one than it was.
    pub(in crate::pass) fn forget(&mut self, id: u32) {
        if self.ready.remove(&id) {
            self.changed.insert(id);
        }
        self.unschedule(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_job_is_queried_with_growing_backoff() {
        let mut admission = Admission::default();
        let mut asked = Vec::new();
        for second in 0..40 {
            let now = Time::from_seconds(second);
            let fresh = BTreeSet::from_iter((second == 0).then_some(7));
            for id in admission.due_queries(&fresh, MAX_QUERIES, now) {
                asked.push(second);
                admission.refuse(id, now);
            }
        }
        assert_eq!(asked, [0, 1, 3, 7, 15, 23, 31, 39]);
        admission.admit(7, Time(0));
        assert_eq!(admission.next(), None);
        assert!(
            admission
                .due_queries(&BTreeSet::from([7]), MAX_QUERIES, Time(0))
                .is_empty()
        );
    }

    #[test]
    fn temporary_answer_is_queried_again_when_it_expires() {
        let mut admission = Admission::default();
        admission.admit(7, Time(0));
        admission.query_again(7, Time(0));
        assert!(admission.ready().contains(&7));
        let asked_at = |admission: &Admission, second: i64| {
            let questions = admission.due_queries(
                &BTreeSet::from([7]),
                MAX_QUERIES,
                Time::from_seconds(second),
            );
            !questions.is_empty()
        };
        assert!(!asked_at(&admission, 7));
        assert!(asked_at(&admission, 8));
        admission.refuse(7, Time::from_seconds(8));
        assert!(!admission.ready().contains(&7));
        assert_eq!(admission.next(), Some(Time::from_seconds(9)), "soon again");
        admission.forget(7);
        assert_eq!(admission.next(), None);
    }

    #[test]
    fn refused_jobs_are_queried_in_turn_when_there_are_thousands() {
        let mut admission = Admission::default();
        let all: BTreeSet<u32> = (0..2000).collect();
        for id in admission.due_queries(&all, MAX_QUERIES, Time(0)) {
            admission.refuse(id, Time(0));
        }
        let mut again = BTreeSet::new();
        for pass in 0..4 {
            let now = Time(Span::SECOND.0 + pass);
            let questions = admission.due_queries(&BTreeSet::new(), MAX_QUERIES, now);
            assert_eq!(questions.len(), MAX_QUERIES);
            for id in questions {
                admission.refuse(id, now);
                again.insert(id);
            }
        }
        assert_eq!(again, all);
    }
}
