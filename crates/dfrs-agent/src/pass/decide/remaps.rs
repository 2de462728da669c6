//! When to remap: every period, but not so often that jobs do little else than come and go.

use std::collections::BTreeSet;

use dfrs_core::{Action, Plan, Span, Time};

use crate::job::ledger::Ledger;

/// The shortest period in the TPDS paper is twice what a pause costs a job, lest jobs only come and
/// go (Section 5.3.2). About half of that cost is the way out, which Slurm and the nodes report.
const LEAVE_TIME_FACTOR: i64 = 4;
/// But a job that does not get out (its node does not answer) puts remaps off by no more periods.
const MAX_PERIODS: i64 = 10;

/// When the next remap is due.
#[derive(Debug)]
pub(in crate::pass) struct Remaps {
    next: Time,
    /// Then it is due in any case.
    latest: Time,
    last: Time,
    /// Jobs of the last one that are still giving up their places.
    leaving: BTreeSet<u32>,
}

impl Remaps {
    /// None before `next`.
    pub(in crate::pass) fn from(next: Time) -> Self {
        Self {
            next,
            latest: next,
            last: next,
            leaving: BTreeSet::new(),
        }
    }

    /// Whether a remap is due.
    pub(in crate::pass) fn is_due(&self, now: Time) -> bool {
        now >= self.due()
    }

    /// When that is next, unless the last one is carried out before.
    pub(in crate::pass) fn due(&self) -> Time {
        if self.leaving.is_empty() {
            self.next
        } else {
            self.latest
        }
    }

    /// It is being done; the next is due after `period`.
    pub(in crate::pass) fn begin(&mut self, now: Time, period: Span) {
        self.last = now;
        self.next = Time(now.0 + period.0);
        self.latest = Time(now.0 + MAX_PERIODS * period.0);
    }

    /// What it led to.
    pub(in crate::pass) fn carry_out(&mut self, plan: &Plan) {
        let leaving = plan
            .actions
            .iter()
            .filter(|planned| matches!(planned.action, Action::Pause(_) | Action::Migrate(..)));
        self.leaving = leaving
            .filter_map(|planned| u32::try_from(planned.action.job().0).ok())
            .collect();
    }

    /// Follows whether the jobs of the remap have given up their places. Returns how long they took
    /// if that puts off the next remap.
    pub(in crate::pass) fn follow(&mut self, ledger: &Ledger, now: Time) -> Option<Span> {
        if self.leaving.is_empty() {
            return None;
        }
        self.leaving.retain(|id| {
            let record = ledger.get(*id);
            record.is_some_and(|record| record.life.is_leaving())
        });
        let took = Span(now.0 - self.last.0);
        let earliest = Time(self.last.0 + took.0 * LEAVE_TIME_FACTOR).min(self.latest);
        let puts_off = self.leaving.is_empty() && earliest > self.next;
        puts_off.then(|| {
            self.next = earliest;
            took
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::ledger::LedgerRecord;
    use crate::job::life::samples;
    use dfrs_core::{JobId, PlannedAction, Reason};

    const PERIOD: Span = Span(100);

    /// A remap at 0 that parks job 1, and the ledger in which it is being parked.
    fn remapped() -> (Remaps, Ledger) {
        let mut remaps = Remaps::from(Time(0));
        assert!(remaps.is_due(Time(0)));
        remaps.begin(Time(0), PERIOD);
        let pause = PlannedAction {
            action: Action::Pause(JobId(1)),
            reason: Reason::Remap,
        };
        remaps.carry_out(&Plan {
            actions: vec![pause],
        });
        let mut ledger = Ledger::default();
        ledger.insert(1, LedgerRecord::new(0, Time(0), samples::parking()));
        (remaps, ledger)
    }

    /// When the next remap is due if job 1 has left at this time.
    fn next_after(left: i64) -> i64 {
        let (mut remaps, mut ledger) = remapped();
        assert_eq!(remaps.follow(&ledger, Time(left - 1)), None);
        ledger = Ledger::default();
        let _ = remaps.follow(&ledger, Time(left));
        (0..).find(|now| remaps.is_due(Time(*now))).unwrap_or(-1)
    }

    #[test]
    fn remaps_are_periodic_unless_jobs_leave_slowly() {
        assert_eq!(next_after(1), 100);
        assert_eq!(next_after(25), 100);
        assert_eq!(next_after(75), 300);
        assert_eq!(next_after(250), 1000);
        assert_eq!(next_after(400), 1000);
    }

    #[test]
    fn remaps_go_on_when_a_job_never_leaves() {
        let (mut remaps, ledger) = remapped();
        assert_eq!(remaps.follow(&ledger, Time(999)), None);
        assert!(!remaps.is_due(Time(999)));
        assert!(remaps.is_due(Time(1000)));
    }
}
