//! Submissions that are raised again after growing delays, for policies that require it.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::{Policy, Span, Time};

use crate::due_times::DueTimes;

/// Jobs that were submitted and not placed ([`Policy::retry_after`]). Not kept over restarts:
/// delays begin at the first one then.
#[derive(Debug, Default)]
pub(in crate::pass) struct SubmitBackoff {
    /// How often each was tried without success, and when it is tried again: never, while it is
    /// being tried.
    waiting: BTreeMap<u32, (u32, Option<Time>)>,
    due: DueTimes,
}

impl SubmitBackoff {
    /// When the next job is tried again.
    pub(in crate::pass) fn next(&self) -> Option<Time> {
        self.due.next()
    }

    /// The jobs to try again now, of those that are `ready` to start. O(log n) for each.
    pub(in crate::pass) fn take_due(&mut self, ready: &BTreeSet<u32>, now: Time) -> Vec<u32> {
        let mut again = Vec::new();
        for id in self.due.take_due(now) {
            if !ready.contains(&id) {
                self.waiting.remove(&id);
                continue;
            }
            if let Some((_, due)) = self.waiting.get_mut(&id) {
                *due = None;
            }
            again.push(id);
        }
        again
    }

    /// A job was tried, and waits.
    pub(in crate::pass) fn failed(&mut self, id: u32, policy: &Policy, now: Time) {
        let (tries, due) = self.waiting.entry(id).or_insert((0, None));
        *tries += 1;
        let at = policy
            .retry_after(*tries)
            .map(|delay| retry_slot(now, delay));
        let before = std::mem::replace(due, at);
        if let Some(before) = before {
            self.due.cancel(id, before);
        }
        match at {
            Some(at) => self.due.add(id, at),
            None => drop(self.waiting.remove(&id)),
        }
    }

    /// A job has a place, or is gone.
    pub(in crate::pass) fn forget(&mut self, id: u32) {
        if let Some((_, Some(at))) = self.waiting.remove(&id) {
            self.due.cancel(id, at);
        }
    }
}

/// When a job is tried again after this delay: together with others, up to a quarter of it later,
/// as a decision is about all that wait.
fn retry_slot(now: Time, delay: Span) -> Time {
    let step = (delay.0 / 4).max(Span::SECOND.0);
    let at = now + delay;
    Time((at.0 + step - 1).div_euclid(step).saturating_mul(step))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried_at(policy: &str, placed_at: Option<i64>) -> Vec<i64> {
        let policy: Policy = policy.parse().expect("a policy");
        let ready = BTreeSet::from([7]);
        let mut retries = SubmitBackoff::default();
        let mut tried = Vec::new();
        retries.failed(7, &policy, Time(0));
        for second in 0..100 {
            let now = Time::from_seconds(second);
            for id in retries.take_due(&ready, now) {
                tried.push(second);
                if placed_at.is_some_and(|at| at <= second) {
                    retries.forget(id);
                } else {
                    retries.failed(id, &policy, now);
                }
            }
        }
        tried
    }

    #[test]
    fn job_is_retried_with_growing_backoff_until_it_is_placed() {
        assert_eq!(tried_at("default", None), [2, 6, 14, 32, 64]);
        assert_eq!(tried_at("default", Some(10)), [2, 6, 14]);
    }

    #[test]
    fn retries_of_long_waiting_jobs_are_batched() {
        let times: BTreeSet<Time> = (0..100)
            .map(|second| retry_slot(Time::from_seconds(second), Span::from_seconds(4096)))
            .collect();
        assert!(times.len() <= 2, "{times:?}");
    }

    #[test]
    fn policy_without_retries_gets_none() {
        assert!(tried_at("Greedy*", None).is_empty());
    }

    #[test]
    fn job_is_not_retried_when_it_may_not_start() {
        let policy: Policy = "default".parse().expect("a policy");
        let mut retries = SubmitBackoff::default();
        retries.failed(7, &policy, Time(0));
        let later = Time::from_seconds(3);
        assert!(retries.take_due(&BTreeSet::new(), later).is_empty());
        assert_eq!(retries.next(), None);
    }
}
