//! Reservations of others: jobs leave before, get more CPU to end before, and come back after.

use std::collections::BTreeSet;

use dfrs_core::Time;
use dfrs_proto::conf::Mode;

use crate::changes::ChangeEntry;
use crate::daemons::Daemons;
use crate::job::limits::needed_share;
use crate::job::reservations::{is_reserved, must_vacate};
use crate::pass::Agent;
use crate::pass::look::vacate::Vacating;
use crate::slurm::observation::Observation;
use crate::slurm::port::{LogLevel, Slurm};
use crate::slurm::records::{ObservedJob, ObservedState};

const FOR_RESERVATION: Vacating = Vacating {
    log: "leaves its nodes: a Slurm reservation of them begins",
    journal: "a Slurm reservation of its nodes begins",
};

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Follows the reservations on the nodes of jobs. O(jobs with such nodes, or with deadlines).
    pub(in crate::pass) fn follow_reservations(&mut self, seen: &Observation, now: Time) {
        if self.config.mode != Mode::Full {
            return;
        }
        let mut kept_away = BTreeSet::new();
        let bounded: Vec<u32> = self.lists.bounded.iter().copied().collect();
        for job in bounded.into_iter().filter_map(|id| seen.job(id)) {
            if job.free_until_seconds > 0 && self.is_kept_away(job, now) {
                kept_away.insert(job.id);
            } else if job.state == ObservedState::Running {
                self.update_deadline_boost(job, now);
                if job.free_until_seconds > 0 && must_vacate(job, &self.config, now) {
                    self.vacate(job, &FOR_RESERVATION, seen, now);
                }
            }
        }
        // Jobs that may come back are looked at when capacity is freed.
        self.lists.capacity_freed |= self
            .planner
            .kept_away
            .iter()
            .any(|id| !kept_away.contains(id));
        let differ = kept_away.symmetric_difference(&self.planner.kept_away);
        let differ = differ.copied().map(ChangeEntry::JobReason);
        self.lists.changes.extend(differ);
        self.planner.kept_away = kept_away;
    }

    /// Whether it is parked on nodes that are reserved.
    pub(in crate::pass) fn is_kept_away(&self, job: &ObservedJob, now: Time) -> bool {
        self.is_parked(job.id) && is_reserved(job, &self.config, now)
    }

    /// Gives a job more weight that would be over too late with the share that it has.
    fn update_deadline_boost(&mut self, job: &ObservedJob, now: Time) {
        let Some(record) = self.ledger.get(job.id) else {
            return;
        };
        let needed = needed_share(record, job, now);
        let boosted = match needed {
            None => false,
            Some(needed) => record.deadline_boost || needed > record.share().0,
        };
        // Until it has a share, nothing is known.
        let is_known = record.life.is_running() && record.share().0 > 0.0;
        if boosted == record.deadline_boost || !is_known {
            return;
        }
        if let Some(record) = self.ledger.get_mut(job.id) {
            record.deadline_boost = boosted;
        }
        if let Some(needed) = needed {
            let outlook = if needed > 1.0 {
                "too late even with all CPU of its nodes"
            } else {
                "gets more CPU"
            };
            let text = format!(
                "must end before its time limit (Slurm reservation or --deadline): {outlook}"
            );
            self.log_about(LogLevel::Info, job, &text);
        }
    }
}
