//! Users whose limits bind: room is made for one of their jobs at a time.
//!
//! Slurm is queried about each pending job, and answers for that job alone: of ten jobs that each
//! fit the last place under a limit all may start. If others were paused for all ten, nine of the
//! pauses would be wasted.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::{Decision, Span, Time};

use crate::daemons::Daemons;
use crate::pass::Agent;
use crate::slurm::observation::Observation;
use crate::slurm::port::Slurm;

/// A limit that has kept a planned job from starting may do so again for so long.
const LIMIT_EXPIRY: Span = Span::from_seconds(600);

/// Users whose planned jobs Slurm did not let start after all, and until when that counts. At most
/// one entry for a user that has jobs.
#[derive(Debug, Default)]
pub(in crate::pass) struct LimitedUsers(BTreeMap<u32, Time>);

impl LimitedUsers {
    /// A limit kept a job of this user from its planned start.
    pub(in crate::pass) fn note(&mut self, user: u32, now: Time) {
        self.0.insert(user, Time(now.0 + LIMIT_EXPIRY.0));
    }

    fn users(&mut self, now: Time) -> BTreeSet<u32> {
        self.0.retain(|_, until| *until > now);
        self.0.keys().copied().collect()
    }
}

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Where a decision pauses any job: defers all but the first of the waiting jobs of each user
    /// whose limits bind, or all if one of them is on its way. Returns whether that changes
    /// anything; each time there are fewer. O(waiting jobs that may start), where there are such
    /// users.
    pub(in crate::pass) fn defer_excess_jobs(
        &mut self,
        decision: &Decision<'_>,
        starts: &[u32],
        seen: &Observation,
        now: Time,
    ) -> bool {
        let users = self.queue.limited_users.users(now);
        let pauses = || decision.changes().any(|(_, mapping)| mapping.is_none());
        if users.is_empty() || !pauses() {
            return false;
        }
        let user_of = |id: u32| seen.job(id).map(|job| job.user);
        let of_tight = |id: &u32| user_of(*id).is_some_and(|user| users.contains(&user));
        let mut served: BTreeSet<u32> = self
            .lists
            .steps()
            .into_iter()
            .filter(|id| seen.is_pending(*id))
            .filter_map(user_of)
            .collect();
        let submitted = |id: u32| {
            seen.job(id)
                .map(|job| (job.submit_seconds, job.array_task, id))
        };
        let mut planned: Vec<u32> = starts.iter().copied().filter(of_tight).collect();
        planned.sort_by_key(|id| submitted(*id));
        let count = planned.len();
        planned.retain(|id| user_of(*id).is_some_and(|user| served.insert(user)));
        if planned.len() == count {
            return false;
        }
        let kept: BTreeSet<u32> = planned.into_iter().collect();
        let is_under_way = |id: &u32| {
            let record = self.ledger.get(*id);
            record.is_some_and(|record| record.life.is_under_way())
        };
        let ready = self.queue.admission.ready().iter();
        let surplus = ready.filter(|id| of_tight(id) && !kept.contains(id) && !is_under_way(id));
        for id in surplus.copied().collect::<Vec<u32>>() {
            self.queue.admission.defer(id, now);
            if let Some(record) = self.ledger.get_mut(id) {
                record.admitted = false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_expires_when_it_defers_no_job_for_ten_minutes() {
        let mut limits = LimitedUsers::default();
        limits.note(7, Time(0));
        limits.note(8, Time::from_seconds(1));
        assert_eq!(
            limits.users(Time(Span::from_seconds(600).0 - 1)),
            BTreeSet::from([7, 8])
        );
        assert_eq!(limits.users(Time::from_seconds(600)), BTreeSet::from([8]));
    }
}
