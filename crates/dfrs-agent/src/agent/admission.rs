//! Which waiting jobs may start as far as everything but resources is concerned.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::{Span, Time};

use super::SECOND;

/// Slurm is asked again about a job that it refused after this time, doubled each time up to the last:
/// a dependency ends, a begin time passes, a limit has room.
const FIRST: Span = Span(SECOND);
const LAST: Span = Span(8 * SECOND);
/// Jobs asked about again in one pass: each question takes slurmctld's locks for some microseconds.
pub(super) const AT_ONCE: usize = 500;
/// The same where their records are only read, for a fraction of a microsecond each: a pass costs more.
pub(super) const READ_AT_ONCE: usize = 20_000;

/// What Slurm answered about the jobs that wait.
#[derive(Debug, Default)]
pub(super) struct Admission {
    ready: BTreeSet<u32>,
    /// When each job that was refused, or admitted for a while, is asked about again, and how long it waits
    /// for that.
    again: BTreeMap<u32, (Time, Span)>,
    due: BTreeSet<(Time, u32)>,
    /// Jobs about which Slurm was asked at this time.
    asked: (Time, BTreeSet<u32>),
    /// Jobs that became ready or no longer are.
    changed: BTreeSet<u32>,
    /// Jobs of which Slurm says something else, and the journal has not told it yet.
    unwritten: BTreeSet<u32>,
}

impl Admission {
    /// The jobs that may start.
    pub(super) fn ready(&self) -> &BTreeSet<u32> {
        &self.ready
    }

    /// The jobs to ask about now, if any: those of `fresh` that Slurm was not asked about yet, and some
    /// of those whose answers are too old: `most` at most.
    pub(super) fn questions(&self, fresh: &BTreeSet<u32>, most: usize, now: Time) -> BTreeSet<u32> {
        let again = self.due.iter().take_while(|(at, _)| *at <= now);
        let again = again.take(most).map(|(_, id)| *id);
        let unknown = fresh.iter().filter(|id| !self.ready.contains(id));
        again.chain(unknown.copied()).collect()
    }

    /// When the next job is to be asked about again.
    pub(super) fn next(&self) -> Option<Time> {
        self.due.first().map(|(at, _)| *at)
    }

    /// The jobs about which Slurm was asked at this time.
    pub(super) fn asked_at(&self, now: Time) -> BTreeSet<u32> {
        let (at, jobs) = &self.asked;
        if *at == now {
            jobs.clone()
        } else {
            BTreeSet::new()
        }
    }

    /// The jobs that became ready, or no longer are, since this was last asked.
    pub(super) fn take_changed(&mut self) -> BTreeSet<u32> {
        std::mem::take(&mut self.changed)
    }

    /// The jobs of which Slurm says something else since this was last asked.
    pub(super) fn take_unwritten(&mut self) -> BTreeSet<u32> {
        std::mem::take(&mut self.unwritten)
    }

    /// Whether this waiting job may start, by Slurm's last answer; `None`: it was not asked.
    pub(super) fn answer(&self, id: u32) -> Option<bool> {
        let is_ready = self.ready.contains(&id);
        (is_ready || self.again.contains_key(&id)).then_some(is_ready)
    }

    fn note_asked(&mut self, id: u32, now: Time) {
        if self.asked.0 != now {
            self.asked = (now, BTreeSet::new());
        }
        self.asked.1.insert(id);
    }

    /// Slurm would start this job.
    pub(super) fn admit(&mut self, id: u32, now: Time) {
        self.note_asked(id, now);
        if !self.ready.contains(&id) {
            self.forget(id);
            self.ready.insert(id);
            self.changed.insert(id);
            self.unwritten.insert(id);
        }
    }

    /// What Slurm said of this job, which may start, holds for a while only.
    pub(super) fn ask_again(&mut self, id: u32, now: Time) {
        self.ask_after(id, LAST, now);
    }

    /// Slurm would not start this job now.
    pub(super) fn refuse(&mut self, id: u32, now: Time) {
        self.note_asked(id, now);
        let before = self.again.get(&id).map(|(_, wait)| *wait);
        let before = before.filter(|_| !self.ready.contains(&id));
        if before.is_none() {
            self.unwritten.insert(id);
        }
        self.forget(id);
        let wait = before.map_or(FIRST, |wait| Span(wait.0 * 2).min(LAST));
        self.ask_after(id, wait, now);
    }

    /// Slurm would start this job, but not yet: it is asked about again after a while, as one that is new.
    pub(super) fn put_off(&mut self, id: u32, now: Time) {
        self.forget(id);
        self.ask_after(id, LAST, now);
    }

    fn ask_after(&mut self, id: u32, wait: Span, now: Time) {
        self.forget_when(id);
        let at = Time(now.0 + wait.0);
        self.again.insert(id, (at, wait));
        self.due.insert((at, id));
    }

    fn forget_when(&mut self, id: u32) {
        if let Some((at, _)) = self.again.remove(&id) {
            self.due.remove(&(at, id));
        }
    }

    /// The job no longer waits, or is another one than it was.
    pub(super) fn forget(&mut self, id: u32) {
        if self.ready.remove(&id) {
            self.changed.insert(id);
        }
        self.forget_when(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_job_is_asked_about_ever_more_rarely() {
        let mut admission = Admission::default();
        let mut asked = Vec::new();
        for second in 0..40 {
            let now = Time(second * SECOND);
            let fresh = BTreeSet::from_iter((second == 0).then_some(7));
            for id in admission.questions(&fresh, AT_ONCE, now) {
                asked.push(second);
                admission.refuse(id, now);
            }
        }
        assert_eq!(asked, [0, 1, 3, 7, 15, 23, 31, 39]);
        admission.admit(7, Time(0));
        assert_eq!(admission.next(), None);
        assert!(
            admission
                .questions(&BTreeSet::from([7]), AT_ONCE, Time(0))
                .is_empty()
        );
    }

    #[test]
    fn an_answer_that_holds_for_a_while_is_asked_for_again() {
        let mut admission = Admission::default();
        admission.admit(7, Time(0));
        admission.ask_again(7, Time(0));
        assert!(admission.ready().contains(&7));
        let asked_at = |admission: &Admission, second: i64| {
            let questions =
                admission.questions(&BTreeSet::from([7]), AT_ONCE, Time(second * SECOND));
            !questions.is_empty()
        };
        assert!(!asked_at(&admission, 7));
        assert!(asked_at(&admission, 8));
        admission.refuse(7, Time(8 * SECOND));
        assert!(!admission.ready().contains(&7));
        assert_eq!(admission.next(), Some(Time(9 * SECOND)), "soon again");
        admission.forget(7);
        assert_eq!(admission.next(), None);
    }

    #[test]
    fn thousands_of_refused_jobs_are_asked_about_in_turn() {
        let mut admission = Admission::default();
        let all: BTreeSet<u32> = (0..2000).collect();
        for id in admission.questions(&all, AT_ONCE, Time(0)) {
            admission.refuse(id, Time(0));
        }
        let mut again = BTreeSet::new();
        for pass in 0..4 {
            let now = Time(SECOND + pass);
            let questions = admission.questions(&BTreeSet::new(), AT_ONCE, now);
            assert_eq!(questions.len(), AT_ONCE);
            for id in questions {
                admission.refuse(id, now);
                again.insert(id);
            }
        }
        assert_eq!(again, all);
    }
}
