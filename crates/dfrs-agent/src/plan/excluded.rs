//! Jobs that decisions leave out for a while: a plan broke a rule by them. Decisions about all
//! others go on.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::{Span, Time};

use crate::due_times::DueTimes;

/// A job is left out for so long, and for twice as long each further time.
const FIRST_BACKOFF: Span = Span::from_seconds(60);
const MAX_BACKOFF: Span = Span::from_seconds(3600);

#[derive(Clone, Debug)]
struct Exclusion {
    times: u32,
    until: Time,
    /// The rule that was broken last.
    rule: &'static str,
}

/// These jobs, and those that were left out before.
#[derive(Clone, Debug, Default)]
pub struct Excluded {
    jobs: BTreeMap<u32, Exclusion>,
    due: DueTimes,
}

impl Excluded {
    /// A plan broke this rule by the job. Returns for how long it is left out from now on.
    pub fn add(&mut self, job: u32, rule: &'static str, now: Time) -> Span {
        let times = self.jobs.get(&job).map_or(1, |before| before.times + 1);
        let doublings = (times - 1).min(10);
        let pause = Span(FIRST_BACKOFF.0 << doublings).min(MAX_BACKOFF);
        let until = now + pause;
        self.forget(job);
        let exclusion = Exclusion { times, until, rule };
        self.jobs.insert(job, exclusion);
        self.due.add(job, until);
        pause
    }

    /// Until when the job is left out, if it is.
    pub fn until(&self, job: u32, now: Time) -> Option<Time> {
        let until = self.jobs.get(&job).map(|exclusion| exclusion.until);
        until.filter(|until| *until > now)
    }

    /// The rule for which the job is left out, if it is.
    pub fn rule(&self, job: u32, now: Time) -> Option<&'static str> {
        let exclusion = self.jobs.get(&job)?;
        (exclusion.until > now).then_some(exclusion.rule)
    }

    /// When the next job is decided about again.
    pub fn next(&self) -> Option<Time> {
        self.due.next()
    }

    /// The jobs that became due for a decision again since the last call.
    pub fn take_due(&mut self, now: Time) -> BTreeSet<u32> {
        self.due.take_due(now).into_iter().collect()
    }

    /// A plan with the job kept the rules, or the job is gone.
    pub fn forget(&mut self, job: u32) {
        if let Some(exclusion) = self.jobs.remove(&job) {
            self.due.cancel(job, exclusion.until);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Time {
        Time::from_seconds(seconds)
    }

    #[test]
    fn exclusion_doubles_until_a_plan_with_the_job_is_valid() {
        let mut excluded = Excluded::default();
        let mut pauses: Vec<i64> = Vec::new();
        for _ in 0..8 {
            pauses.push(excluded.add(7, "task count", at(0)).whole_seconds());
        }
        assert_eq!(pauses, [60, 120, 240, 480, 960, 1920, 3600, 3600]);
        assert_eq!(excluded.next(), Some(at(3600)), "once");
        excluded.forget(7);
        assert_eq!(excluded.next(), None);
        assert_eq!(excluded.add(7, "memory", at(0)), Span::from_seconds(60));
    }

    #[test]
    fn excluded_job_is_due_when_its_time_is_over() {
        let mut excluded = Excluded::default();
        excluded.add(7, "task count", at(0));
        assert_eq!(excluded.until(7, at(59)), Some(at(60)));
        assert_eq!(excluded.rule(7, at(59)), Some("task count"));
        assert!(excluded.take_due(at(59)).is_empty());
        assert_eq!(excluded.take_due(at(60)), BTreeSet::from([7]));
        assert_eq!(
            (excluded.until(7, at(60)), excluded.rule(7, at(60))),
            (None, None)
        );
        assert!(excluded.take_due(at(60)).is_empty(), "once");
    }
}
